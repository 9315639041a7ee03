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
	var key string
	cmd := &cobra.Command{
		Use:   "verify [PATH]",
		Short: "Fold the frames again and hold the ledger, or an archive, against them",
		Long: `verify folds every capture's frames again, from the stream, and compares each
stored event with what the fold gives, byte for byte. It checks the numbers, the
chain over the frames, and that every frame is accounted for.

With PATH, an archive's directory or a bundle, as steno seal writes them, it needs
nothing else: no server and no ledger. Then it also checks that every file is the one
that its seal names, that seals follow one another and stand in the log of seals, and
their signatures: by the key that each names, or, with --key, by that public key.

It ends with 0 when all agrees, 10 when anything was changed, is missing or was
added, 12 when a signature is not good, and 11 when all agrees but frames were lost before they were stored: a
tap passed on what it could not keep, or its journal was damaged. It ends with 1
when what there is agrees, but a journal has not come through, or the workers of a
cluster do not get on with what was stored before it began.`,
		Example: `  steno verify
  steno verify --json | jq .findings
  steno verify /srv/archive --key mill.pub
  steno verify fix-the-mill.tar`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return a.verifyArchive(cmd.Context(), args[0], key, asJSON)
			}
			if key != "" {
				return usage("--key: it is for an archive: steno verify PATH --key KEY")
			}
			return a.verify(cmd.Context(), asJSON)
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "public key by which an archive must be signed, or a file with it")
	a.ledgerFlag(cmd)
	a.archiveFlag(cmd)
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
	stored, err := s.stored(ctx)
	if err != nil {
		return verify.Report{}, err
	}
	progress := a.progress()
	defer progress.done()
	frames := verify.Stream{JS: s.js, Blobs: stored.Stream.Blobs, Partitions: s.info.Partitions, Returned: stored.Between}
	settled, err := s.settleAll(ctx, frames)
	if err != nil {
		return verify.Report{}, err
	}
	options := verify.Options{
		Frames: frames, Ledger: s.ledger,
		Settled:  func(id schema.Identity) uint64 { return settled[id] },
		NewFold:  newFold,
		Progress: progress.verifying,
	}
	var report verify.Report
	err = s.patient(ctx, func() (err error) { // anew where the holder changed on the way
		report, err = verify.Run(ctx, options)
		return err
	})
	return report, err
}

// newFold starts the fold of a capture by a translator version, for a proof.
func newFold(id schema.Identity, version string) verify.Fold {
	capture := translate.NewCapture(id, protocols(), version)
	var events []schema.Event
	return verify.Fold{
		Step: func(f *schema.Frame) ([]schema.Event, error) {
			var err error
			events, err = capture.Step(events[:0], f)
			return events, err
		},
		Open: func() map[uint32]uint64 { return capture.Open().Frames },
	}
}

func (p *progress) verifying(v verify.Progress) {
	p.say("verifying: %d of %d captures, %d frames, %d events", v.Captures, v.Total, v.Frames, v.Events)
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

// sayReport prints a report of a ledger; its last line is the verdict. stalled says why not all is numbered that was
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
		a.sayFindings(&r)
		verdict := verdict(&r)
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

func (a *app) sayFindings(r *verify.Report) {
	for _, f := range r.Findings {
		fmt.Fprintln(a.out, f)
	}
	if r.More > 0 {
		fmt.Fprintf(a.out, "… and %s more\n", plural(r.More, "finding"))
	}
}

// verdict is a report in some words.
func verdict(r *verify.Report) string {
	switch r.ExitCode() {
	case exitChanged, exitSignature:
		return "not verified"
	case exitGap:
		return fmt.Sprintf("verified, with %s where frames were lost before they were stored", plural(r.Gaps, "gap"))
	}
	return "verified"
}
