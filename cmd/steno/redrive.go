package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
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
them). A request that no worker has taken up in time stands until one does.`,
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
	cmd.Flags().DurationVar(&wait, "wait", wait, "how long to wait for the answers")
	return cmd
}

// redriven is what redrive says of one capture.
type redriven struct {
	Capture string `json:"capture"`
	Outcome string `json:"outcome"` // through, parked or waiting
	Frame   uint64 `json:"frame,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Error   string `json:"error,omitempty"`
}

// Outcomes of a redrive.
const (
	cameThrough  = "through"
	parkedAgain  = "parked"
	stillWaiting = "waiting"
)

// redrive works on the streams of a NATS of its own, or of the data directory. part is empty for all.
func (a *app) redrive(ctx context.Context, part string, wait time.Duration, asJSON bool) error {
	if a.remote() {
		s, err := connectStreams(ctx, a.destination())
		if err != nil {
			return err
		}
		defer s.conn.Close()
		return a.redriveOn(ctx, s.js, part, wait, asJSON)
	}
	return a.inSession(ctx, "redrive", func(ctx context.Context, s *session) error {
		return a.redriveOn(ctx, s.js, part, wait, asJSON)
	})
}

func (a *app) redriveOn(ctx context.Context, js jetstream.JetStream, part string, wait time.Duration, asJSON bool) error {
	parked, err := stage.ListParked(ctx, js)
	if err == nil {
		parked, err = named(parked, part)
	}
	if err != nil {
		return err
	}
	if len(parked) == 0 && !asJSON {
		_, err := fmt.Fprintln(a.out, "no capture is parked")
		return err
	}
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	revisions := make([]uint64, len(parked))
	for i, p := range parked { // all at once: each partition has its own worker
		if revisions[i], err = stage.Redrive(limited, js, p); err != nil {
			return err
		}
	}
	through := true
	for i, p := range parked {
		result := redriven{Capture: p.Identity.String(), Outcome: cameThrough}
		again, err := stage.AwaitRedrive(limited, js, p.Identity, revisions[i])
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, context.DeadlineExceeded):
			result.Outcome, result.Frame, result.Reason = stillWaiting, p.Frame, string(p.Reason)
		case err != nil:
			return err
		case again != nil:
			result = redriven{result.Capture, parkedAgain, again.Frame, string(again.Reason), again.FirstLine()}
		}
		through = through && result.Outcome == cameThrough
		if err := a.sayRedriven(result, asJSON); err != nil {
			return err
		}
	}
	if !through {
		return &exitError{code: exitRuntime}
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
		_, err = fmt.Fprintf(a.out, "%s is parked again at frame %d: %s (%s)\n", r.Capture, r.Frame, r.Reason, r.Error)
	default:
		_, err = fmt.Fprintf(a.out, "%s waits: no worker has folded it again yet; the request stands\n", r.Capture)
	}
	return err
}

// named gives the parked captures that a part of a key names: all for an empty one, else exactly one.
func named(parked []stage.ParkedCapture, part string) ([]stage.ParkedCapture, error) {
	if part == "" {
		return parked, nil
	}
	if key, err := schema.ParseTranscript(part); err == nil { // a session's: its capture
		part = key.Identity.String()
	}
	var found []stage.ParkedCapture
	for _, p := range parked {
		if p.Identity.String() == part {
			return []stage.ParkedCapture{p}, nil
		}
		if strings.Contains(p.Identity.String(), part) {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("redrive %q: no parked capture has that in its key (steno doctor lists them)", part)
	case 1:
		return found, nil
	}
	return nil, usage("redrive %q: %d parked captures have it in their keys; give more of one, or --all", part, len(found))
}
