package main

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/console/render"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/translate/stage"
)

func (a *app) lsCommand() *cobra.Command {
	var asJSON, all bool
	var peer string
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List transcripts, the newest first",
		Long: `ls lists the transcripts of the data directory, or of a cluster (--nats and
--ledger). The readable list leaves out the connections themselves (session 0 of
ACP) and what has no message, unless --all is given; --json has all of them, one
object a line.`,
		Example: `  steno ls
  steno ls --peer mill --all
  steno ls --nats nats://127.0.0.1:4222 --ledger postgres://steno@127.0.0.1/steno
  steno ls --json | jq -r 'select(.status=="open").key'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.ls(cmd.Context(), peer, asJSON, all) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a transcript")
	cmd.Flags().BoolVar(&all, "all", false, "list connections and empty sessions too")
	a.ledgerFlag(cmd)
	cmd.Flags().StringVar(&peer, "peer", anyPeer, "list transcripts with the agent of that name only")
	return cmd
}

func (a *app) ls(ctx context.Context, peer string, asJSON, all bool) error {
	return a.inSession(ctx, "ls", func(ctx context.Context, s *session) error {
		parked, err := s.parked(ctx)
		if err != nil {
			return err
		}
		err = a.list(withPeer(withParked(sink.All(ctx, s.ledger), parked), peer), len(parked), asJSON, all)
		if err == nil && !asJSON {
			a.sayParked(parked)
		}
		return err
	})
}

// maxParkedSaid bounds the parked captures of which ls says why.
const maxParkedSaid = 5

// sayParked says why captures are parked.
func (a *app) sayParked(parked []stage.ParkedCapture) {
	for _, p := range parked[:min(len(parked), maxParkedSaid)] {
		fmt.Fprintf(a.err, "%s is parked at frame %d: %s\n", p.Identity, p.Frame, p.Reason)
	}
}

// withParked marks the transcripts of captures that the stage has parked, which the ledger does not
// know, and adds a line for each of those of which it has nothing.
func withParked(list iter.Seq2[sink.Summary, error], parked []stage.ParkedCapture) iter.Seq2[sink.Summary, error] {
	return func(yield func(sink.Summary, error) bool) {
		unseen := map[schema.Identity]bool{}
		for _, p := range parked {
			unseen[p.Identity] = true
		}
		for t, err := range list {
			if _, ok := unseen[t.Transcript.Identity]; ok && err == nil {
				t.Status, t.IdleSince = schema.StatusParked, time.Time{}
				unseen[t.Transcript.Identity] = false
			}
			if !yield(t, err) {
				return
			}
		}
		for _, p := range parked {
			key := schema.Transcript{Identity: p.Identity}
			line := sink.Summary{Key: key.String(), Transcript: key, Labels: map[string]string{}, Status: schema.StatusParked, Empty: true}
			if unseen[p.Identity] && !yield(line, nil) {
				return
			}
		}
	}
}

// withPeer leaves out transcripts with other agents.
func withPeer(list iter.Seq2[sink.Summary, error], peer string) iter.Seq2[sink.Summary, error] {
	return func(yield func(sink.Summary, error) bool) {
		for t, err := range list {
			if (err != nil || isPeer(t, peer)) && !yield(t, err) {
				return
			}
		}
	}
}

func (a *app) list(transcripts iter.Seq2[sink.Summary, error], parked int, asJSON, all bool) error {
	var listed []sink.Summary
	left := 0
	for t, err := range transcripts {
		switch {
		case err != nil:
			return err
		case asJSON:
			if err := a.out.json(t); err != nil {
				return err
			}
		case all || isListed(t):
			listed = append(listed, t)
		default:
			left++
		}
	}
	if asJSON {
		return nil
	}
	if err := render.List(a.out, render.Options{Colour: a.colour(), Width: a.width()}, time.Now(), listed); err != nil {
		return err
	}
	if left > 0 {
		fmt.Fprintf(a.err, "%d without a message left out (--all lists them)\n", left)
	}
	if parked > 0 {
		fmt.Fprintf(a.err, "%s parked (steno doctor says more; steno redrive folds them again)\n", pluralIs(parked, "capture"))
	}
	return nil
}
