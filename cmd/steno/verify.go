package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/cmd/steno/holder"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink/verify"
	"github.com/steno-io/steno/translate"
)

func (a *app) verifyCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Fold the frames again and hold the ledger against them",
		Long: `verify folds every capture's frames again, from the stream, and compares each
stored event with what the fold gives, byte for byte. It checks the numbers, the
chain over the frames, and that every frame is accounted for.

It ends with 0 when all agrees, 10 when anything was changed, is missing or was
added, and 11 when all agrees but frames were lost before they were stored: a
tap passed on what it could not keep, or its journal was damaged. It ends with 1
when what there is agrees, but a journal has not come through, or the workers of a
cluster do not get on with what was stored before it began.`,
		Example: `  steno verify
  steno verify --json | jq .findings`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.verify(cmd.Context(), asJSON) },
	}
	a.ledgerFlag(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return cmd
}

func (a *app) verify(ctx context.Context, asJSON bool) error {
	var report verify.Report
	var stalled error
	err := a.inSession(ctx, "verify", func(ctx context.Context, s *session) (err error) {
		report, err = a.prove(ctx, s)
		stalled = s.stalled
		if n := len(s.unstored); n > 0 {
			stalled = errors.Join(stalled, fmt.Errorf("verify: not all that was recorded is in it: %s above", plural(n, "warning")))
		}
		return err
	})
	if err != nil {
		return err
	}
	return errors.Join(a.sayReport(report, stalled, asJSON), stalled)
}

// prove verifies the session's ledger.
func (a *app) prove(ctx context.Context, s *session) (verify.Report, error) {
	blobs, err := s.blobs(ctx)
	if err != nil {
		return verify.Report{}, err
	}
	progress := a.progress()
	defer progress.done()
	catalogue := protocols()
	frames := verify.Stream{JS: s.js, Blobs: blobs, Partitions: s.info.Partitions}
	settled, err := s.settleAll(ctx, frames)
	if err != nil {
		return verify.Report{}, err
	}
	options := verify.Options{
		Frames: frames, Ledger: s.ledger,
		Settled: func(id schema.Identity) uint64 { return settled[id] },
		NewFold: func(id schema.Identity, version string) verify.Fold {
			capture := translate.NewCapture(id, catalogue, version)
			var events []schema.Event
			return verify.Fold{
				Step: func(f *schema.Frame) ([]schema.Event, error) {
					var err error
					events, err = capture.Step(events[:0], f)
					return events, err
				},
				Open: func() map[uint32]uint64 { return capture.Open().Frames },
			}
		},
		Progress: func(p verify.Progress) {
			progress.say("verifying: %d of %d captures, %d frames, %d events", p.Captures, p.Total, p.Frames, p.Events)
		},
	}
	var report verify.Report
	err = s.patient(ctx, func() (err error) { // anew where the holder changed on the way
		report, err = verify.Run(ctx, options)
		return err
	})
	return report, err
}

// settleAll waits until what the stream holds now is numbered, and gives each capture's last frame, but
// of those that do not get on. What is stored meanwhile may be on its way to the ledger; what was there
// before may not be missing from it.
func (s *session) settleAll(ctx context.Context, frames verify.Stream) (map[schema.Identity]uint64, error) {
	var heads map[schema.Identity]uint64
	if err := s.patient(ctx, func() (err error) {
		heads, err = s.heads(ctx, frames)
		return err
	}); err != nil {
		return nil, err
	}
	for id, head := range heads {
		err := s.settle(ctx, id, head)
		switch {
		case errors.Is(err, holder.ErrStalled): // what there is can be verified all the same
			s.stalled = errors.Join(s.stalled, err)
			delete(heads, id)
		case err != nil && !errors.Is(err, holder.ErrParked): // verify says what differs
			return nil, err
		}
	}
	return heads, nil
}

// heads gives each capture's last frame.
func (s *session) heads(ctx context.Context, frames verify.Stream) (map[schema.Identity]uint64, error) {
	heads := map[schema.Identity]uint64{}
	for held, err := range frames.Captures(ctx) {
		if err != nil {
			return nil, err
		}
		id := held.Capture
		m, _, err := topology.Last(ctx, s.js, topology.Raw, schema.RawSubject(id, s.info.Partitions))
		if err != nil {
			return nil, err
		}
		f, err := schema.FrameFromHeader(m.Header, nil)
		if err != nil {
			continue // verify says what is wrong with it
		}
		heads[id] = f.Seq
	}
	return heads, nil
}

// provedReport is a report, and why it is not of all that was recorded.
type provedReport struct {
	verify.Report
	Incomplete string `json:"incomplete,omitempty"`
}

// sayReport prints a report; its last line is the verdict. stalled says why not all is numbered that was
// recorded; nil: it is.
func (a *app) sayReport(r verify.Report, stalled error, asJSON bool) error {
	code := r.ExitCode()
	if asJSON {
		if r.Findings == nil {
			r.Findings = []verify.Finding{}
		}
		if r.Heads == nil {
			r.Heads = []verify.Heads{}
		}
		proved := provedReport{Report: r}
		if stalled != nil {
			proved.Incomplete = stalled.Error()
		}
		if err := a.out.json(proved); err != nil {
			return err
		}
	} else {
		for _, f := range r.Findings {
			fmt.Fprintln(a.out, f)
		}
		if r.More > 0 {
			fmt.Fprintf(a.out, "… and %s more\n", plural(r.More, "finding"))
		}
		verdict := "verified"
		switch code {
		case exitChanged:
			verdict = "not verified"
		case exitGap:
			verdict = fmt.Sprintf("verified, with %s where frames were lost before they were stored", plural(r.Gaps, "gap"))
		}
		if stalled != nil && code != exitChanged {
			verdict += " as far as it is numbered, which is not all"
		}
		open := ""
		if r.Open > 0 {
			open = fmt.Sprintf(", %d in open messages", r.Open)
		}
		fmt.Fprintf(a.out, "%s: %d frames, %d events, %d unaccounted%s\n", verdict, r.Frames, r.Events, r.Unaccounted, open)
	}
	if code != exitOK {
		return &exitError{code: code}
	}
	return nil
}
