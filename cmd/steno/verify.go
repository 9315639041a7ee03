package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/cmd/steno/holder"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/verify"
)

// verifyFlags say what is proved, and how it is said.
type verifyFlags struct {
	since string
	key   keyFlag
	json  bool
}

func (a *app) verifyCommand() *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify [KEY | PATH]",
		Short: "Fold the frames again and hold the ledger, or an archive, against them",
		Long: `verify folds every capture's frames again, from the stream, and compares each
stored event with what the fold gives, byte for byte. It checks the numbers, the
chain over the frames, and that every frame is accounted for.

KEY names a transcript: its capture is proved, with all its sessions. --since leaves
the captures that have a frame or an event since then; each is proved from its first
frame on, since nothing less proves its last one.

With PATH, an archive's directory or a bundle, as steno seal writes them, the https://
URL of a bundle, or s3://bucket/prefix (see steno seal --help), it needs nothing else:
no server and no ledger. Then it also checks that every file is the one that its seal
names, that seals follow one another and stand in the log of seals, their roots, and
their signatures: by the key that each names, or, with --key, by that public key. What
is there is a PATH, and so is what begins with / or a dot, has :// in it or ends in .tar.

Each finding is a line: a file, or a frame and an event with their capture. Behind them
stands which file, frame and event are the first, and the last line is the verdict. --json
prints one object: the counts, heads (each capture's last frame read, folded and stored),
findings (at most 100 of a capture; more counts the others; problem, capture, frame,
session, store_seq, event_id, file, detail), first, and selected where not all was
proved. On a terminal verify says on stderr how far it is. A finding begins with what
happened (problem): file, seal, log or signature of an archive; of an event changed,
missing or added; of a frame numbers, chain, unreadable, unfoldable or unaccounted; and
parked where the sink stopped at a record that does not fit.

It ends with 0 when all agrees, 10 when anything was changed, is missing or was
added, 12 when a signature is not good, and 11 when all agrees but frames were lost before they were stored: a
tap passed on what it could not keep, or its journal was damaged. It ends with 1
when what there is agrees, but a journal for these streams has not come through, the workers of a
cluster do not get on with what was stored before it began, or this build does not
have the translator version that a capture names: then all but its translation is
checked, and it says so of each.`,
		Example: `  steno verify
  steno verify fix-the-mill
  steno verify --since 7d --json | jq .findings
  steno verify /srv/archive --key mill.pub
  steno verify s3://records/steno --key mill.pub
  steno verify fix-the-mill.tar`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			since, err := sink.ParseMoment(f.since, time.Now())
			if err != nil {
				return a.badValue(fmt.Errorf("--since %w", err), "since")
			}
			if len(args) > 0 && !since.IsZero() {
				return usage("--since: it leaves a part of a ledger; an archive, or what KEY names, is verified whole")
			}
			if len(args) > 0 && isPath(args[0]) {
				return a.verifyArchive(cmd.Context(), args[0], f.key, f.json)
			}
			if f.key != "" {
				return usage("--key: it is for an archive: steno verify PATH --key KEY")
			}
			return a.verify(cmd.Context(), args, since, f.json)
		},
	}
	cmd.Flags().StringVar(&f.since, "since", "", "only captures with something since then: how long ago (2h, 7d), a day (2026-11-29) or a time (RFC 3339)")
	f.key.register(cmd)
	a.ledgerFlag(cmd)
	a.archiveFlag(cmd)
	cmd.Flags().BoolVar(&f.json, "json", false, "print the report as JSON")
	return cmd
}

// isPath tells an archive's path from a transcript's key.
func isPath(arg string) bool {
	if _, err := os.Lstat(arg); err == nil {
		return true
	}
	return strings.HasPrefix(arg, "/") || strings.HasPrefix(arg, ".") || strings.HasSuffix(arg, ".tar") || strings.Contains(arg, "://")
}

func (a *app) verify(ctx context.Context, args []string, since time.Time, asJSON bool) error {
	var report verify.Report
	var stalled error
	selected := ""
	err := a.inSession(ctx, "verify", func(ctx context.Context, s *session) (err error) {
		var part *part
		if len(args) > 0 || !since.IsZero() {
			if part, err = s.part(ctx, args, since); err != nil {
				return err
			}
			selected = part.name
		}
		report, err = a.prove(ctx, s, part)
		stalled = s.stalled
		if n := len(s.unstored); n > 0 {
			stalled = errors.Join(stalled, fmt.Errorf("verify: not all that was recorded is in it: %s above", plural(n, "warning")))
		}
		return err
	})
	if err != nil {
		return err
	}
	return errors.Join(a.sayReport(report, selected, stalled, asJSON), stalled)
}

// prove verifies the session's ledger, or a part of it; nil: all.
func (a *app) prove(ctx context.Context, s *session, part *part) (verify.Report, error) {
	stored, err := s.stored(ctx)
	if err != nil {
		return verify.Report{}, err
	}
	progress := a.progress()
	defer progress.done()
	frames := verify.Stream{
		JS: s.js, Blobs: stored.Stream.Blobs, Partitions: s.info.Partitions, Of: part.one(), Returned: stored.Between,
	}
	settled, err := s.settleAll(ctx, frames, part)
	if err != nil {
		return verify.Report{}, err
	}
	options := verify.Options{
		Frames: frames, Ledger: s.ledger,
		Only:     part.has,
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

func (p *progress) verifying(v verify.Progress) {
	p.say("verifying: %d of %d captures, %d frames, %d events", v.Captures, v.Total, v.Frames, v.Events)
}

// settleAll waits until what the stream holds of a part now is numbered, and gives each capture's last frame, but
// of those that do not get on. What is stored meanwhile may be on its way to the ledger; what was there
// before may not be missing from it.
func (s *session) settleAll(ctx context.Context, frames verify.Stream, part *part) (map[schema.Identity]uint64, error) {
	heads := map[schema.Identity]uint64{}
	if err := s.patient(ctx, func() error {
		return s.lasts(ctx, frames, func(id schema.Identity, f *schema.Frame) {
			if f != nil && part.has(id) { // else verify says what is wrong with it
				heads[id] = f.Seq
			}
		})
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

// lasts gives each capture's last frame without its bytes; nil where it cannot be read.
func (s *session) lasts(ctx context.Context, frames verify.Stream, last func(schema.Identity, *schema.Frame)) error {
	for held, err := range frames.Captures(ctx) {
		if err != nil {
			return err
		}
		id := held.Capture
		m, _, err := topology.Last(ctx, s.js, topology.Raw, schema.RawSubject(id, s.info.Partitions))
		if err != nil {
			return err
		}
		f, err := schema.FrameFromHeader(m.Header, nil)
		if err != nil {
			last(id, nil)
			continue
		}
		last(id, &f)
	}
	return nil
}

// provedReport is a report, and why it is not of all that was recorded.
type provedReport struct {
	verify.Report
	Incomplete string `json:"incomplete,omitempty"`
	// Selected says what of the ledger was proved; empty: all.
	Selected string        `json:"selected,omitempty"`
	First    *verify.First `json:"first,omitempty"`
}

// sayReport prints a report of a ledger; its last line is the verdict. stalled says why not all is numbered that was
// recorded; nil: it is.
func (a *app) sayReport(r verify.Report, selected string, stalled error, asJSON bool) error {
	code := r.ExitCode()
	if asJSON {
		if r.Findings == nil {
			r.Findings = []verify.Finding{}
		}
		if r.Heads == nil {
			r.Heads = []verify.Heads{}
		}
		proved := provedReport{Report: r, Selected: selected, First: r.First()}
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
		if selected != "" {
			verdict += ", " + selected
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
		a.out.line("%s", f)
	}
	if r.More > 0 {
		fmt.Fprintf(a.out, "… and %s more\n", plural(r.More, "finding"))
	}
	for _, u := range r.Unrepeated {
		a.out.line("%s", u)
	}
	if len(r.Findings) > 1 {
		a.out.line("the first: %s", r.First())
	}
}

// verdict is a report in some words.
func verdict(r *verify.Report) string {
	switch r.ExitCode() {
	case exitChanged, exitSignature:
		return "not verified"
	case exitRuntime:
		return fmt.Sprintf("verified but for the translation of %s", plural(len(r.Unrepeated), "capture"))
	case exitGap:
		return fmt.Sprintf("verified, with %s where frames were lost before they were stored", plural(r.Gaps, "gap"))
	}
	return "verified"
}
