package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate/stage"
)

// redriveWait is how long redrive waits for all that it asks.
const redriveWait = time.Minute

func (a *app) redriveCommand() *cobra.Command {
	var asJSON, all bool
	wait := redriveWait
	cmd := &cobra.Command{
		Use:   "redrive KEY | --all",
		Short: "Fold parked recordings again, when what parked them is mended",
		Long: `redrive has captures that are parked folded again from their frames: after a build
with the missing translator was rolled out, or when bytes that were gone are back.
What is stored of them stays, and is compared. It says of each whether it came
through or is parked again, and why, and ends with 1 unless all came through. KEY is
a capture's key, or a part that only one parked capture has (steno doctor lists
them). A request that no worker has taken up in time stands until one does. What the
ledger has parked, since it had other bytes or the database refused a record, is
stored again, too; on a NATS of your own that takes --ledger.`,
		Example: `  steno redrive --all
  steno redrive default/support/run-7/0/1 --nats nats://127.0.0.1:4222`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case all && len(args) > 0:
				return errors.New("KEY and --all: want one of them")
			case !all && len(args) == 0:
				return errors.New("which capture? such as: steno redrive KEY, or --all (steno doctor lists them)")
			case len(args) > 1:
				return fmt.Errorf("want one KEY, got %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if wait <= 0 {
				return a.badValue(fmt.Errorf("--wait %s: want a time above 0", wait), "wait")
			}
			return a.redrive(cmd.Context(), strings.Join(args, ""), wait, asJSON)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "redrive every parked capture")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a capture")
	a.ledgerFlag(cmd)
	cmd.Flags().DurationVar(&wait, "wait", wait, "how long to wait for the answers")
	return cmd
}

// redriven is what redrive says of one capture.
type redriven struct {
	Capture string `json:"capture"`
	By      string `json:"by"`      // who had parked it: translator or ledger
	Outcome string `json:"outcome"` // through, parked or waiting
	Frame   uint64 `json:"frame,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Error   string `json:"error,omitempty"`
}

// Who parks a capture, and the outcomes of a redrive.
const (
	byTranslator = "translator"
	byLedger     = "ledger"

	cameThrough  = "through"
	parkedAgain  = "parked"
	stillWaiting = "waiting"
)

// redrive works on the NATS that the flags, the environment or the config file name, as all commands do that
// need no more, with a ledger's name on what that has parked, too; else on the data directory, and always
// on one that the command line names. part is empty for all.
func (a *app) redrive(ctx context.Context, part string, wait time.Duration, asJSON bool) error {
	if !a.clustered() && a.remote() && !a.given("data") {
		s, err := connectStreams(ctx, a.destination())
		if err != nil {
			return err
		}
		defer s.conn.Close()
		return a.redriveOn(ctx, &session{conn: s.conn, js: s.js, info: s.info}, part, wait, asJSON)
	}
	return a.inSession(ctx, "redrive", func(ctx context.Context, s *session) error {
		return a.redriveOn(ctx, s, part, wait, asJSON)
	})
}

func (a *app) redriveOn(ctx context.Context, s *session, part string, wait time.Duration, asJSON bool) error {
	folds, err := stage.ListParked(ctx, s.js)
	if err != nil {
		return err
	}
	rows, err := s.parkedInLedger(ctx)
	if err != nil {
		return err
	}
	keep, err := named(keysOf(folds, rows), part)
	if err != nil {
		return err
	}
	if len(keep) == 0 && !asJSON {
		_, err := fmt.Fprintln(a.out, "no capture is parked")
		return err
	}
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	through := true
	say := func(r redriven) error {
		through = through && r.Outcome == cameThrough
		return a.sayRedriven(r, asJSON)
	}
	folds = slices.DeleteFunc(folds, func(p stage.ParkedCapture) bool { return !keep[p.Identity] })
	if err := redriveFolds(limited, s, folds, say); err != nil {
		return errors.Join(ctx.Err(), err)
	}
	rows = slices.DeleteFunc(rows, func(id schema.Identity) bool { return !keep[id] })
	limited, cancel = context.WithTimeout(ctx, wait)
	defer cancel()
	if err := s.redriveRows(limited, rows, say); err != nil {
		return errors.Join(ctx.Err(), err)
	}
	if !through {
		return &exitError{code: exitRuntime}
	}
	return nil
}

// redriveFolds has captures folded again that a translator parked.
func redriveFolds(ctx context.Context, s *session, parked []stage.ParkedCapture, say func(redriven) error) error {
	revisions := make([]uint64, len(parked))
	for i, p := range parked { // all at once: each partition has its own worker
		var err error
		if revisions[i], err = stage.Redrive(ctx, s.js, p); err != nil {
			return err
		}
	}
	for i, p := range parked {
		result := redriven{Capture: p.Identity.String(), By: byTranslator, Outcome: cameThrough}
		again, err := stage.AwaitRedrive(ctx, s.js, p.Identity, revisions[i])
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			result.Outcome, result.Frame, result.Reason = stillWaiting, p.Frame, string(p.Reason)
		case err != nil:
			return err
		case again != nil:
			result.Outcome, result.Frame, result.Reason, result.Error = parkedAgain, again.Frame, string(again.Reason), again.FirstLine()
		}
		if err := say(result); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) sayRedriven(r redriven, asJSON bool) error {
	if asJSON {
		return a.out.json(r)
	}
	var err error
	switch r.Outcome {
	case cameThrough:
		_, err = fmt.Fprintf(a.out, "%s came through\n", r.Capture)
	case parkedAgain:
		at := fmt.Sprintf("at frame %d", r.Frame)
		if r.By == byLedger {
			at = "in the ledger"
		}
		_, err = fmt.Fprintf(a.out, "%s is parked again %s: %s (%s)\n", r.Capture, at, r.Reason, r.Error)
	default:
		waits := "no worker has folded it again yet; the request stands"
		if r.By == byLedger {
			waits = "no sink has stored it again yet; ask again when one runs"
		}
		_, err = fmt.Fprintf(a.out, "%s waits: %s\n", r.Capture, waits)
	}
	return err
}

// keysOf is every capture that is parked, once.
func keysOf(folds []stage.ParkedCapture, rows []schema.Identity) []schema.Identity {
	keys := slices.Clone(rows)
	for _, p := range folds {
		if !slices.Contains(keys, p.Identity) {
			keys = append(keys, p.Identity)
		}
	}
	return keys
}

// named gives the captures that a part of a key names: all for an empty one, else exactly one.
func named(parked []schema.Identity, part string) (map[schema.Identity]bool, error) {
	if key, err := schema.ParseTranscript(part); err == nil { // a session's: its capture
		part = key.Identity.String()
	}
	found := map[schema.Identity]bool{}
	for _, id := range parked {
		if id.String() == part {
			return map[schema.Identity]bool{id: true}, nil
		}
		if strings.Contains(id.String(), part) {
			found[id] = true
		}
	}
	switch {
	case part == "" || len(found) == 1:
		return found, nil
	case len(found) == 0:
		return nil, fmt.Errorf("redrive %q: no parked capture has that in its key (steno doctor lists them)", part)
	}
	return nil, usage("redrive %q: %d parked captures have it in their keys; give more of one, or --all", part, len(found))
}
