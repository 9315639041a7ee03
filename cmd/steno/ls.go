package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/console/parked"
	"github.com/steno-io/steno/console/render"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/search"
	"github.com/steno-io/steno/translate/stage"
)

func (a *app) lsCommand() *cobra.Command {
	var o lsOptions
	var f filterFlags
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List transcripts, the newest first",
		Long: `ls lists the transcripts of the data directory, or of a cluster (--nats and
--ledger). The readable list leaves out the connections themselves (session 0 of
ACP) and what has no message, unless --all is given; --json has all of them, one
object a line. Of several filters all must hold.`,
		Example: `  steno ls
  steno ls --peer mill --all
  steno ls --since 7d --status open --label team=mill
  steno ls --agent claude --text '"connection refused"'
  steno ls --nats nats://127.0.0.1:4222 --ledger postgres://steno@127.0.0.1/steno
  steno ls --json | jq -r 'select(.status=="open").key'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.query.Filter, err = f.filter(a, time.Now()); err != nil {
				return err
			}
			o.searches = cmd.Flags().Changed("text") || o.query.Text != ""
			return a.ls(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print one JSON object a transcript")
	cmd.Flags().BoolVar(&o.all, "all", false, "list connections and empty sessions too")
	a.ledgerFlag(cmd)
	cmd.Flags().StringVar(&o.peer, "peer", anyPeer, "list transcripts with the agent of that name only")
	f.register(cmd, "those that said something last")
	cmd.Flags().StringVar(&o.query.Text, "text", "", "only those in which steno search finds that text")
	return cmd
}

// lsOptions are what ls lists, and how.
type lsOptions struct {
	query       sink.Query
	searches    bool // --text is given
	peer        string
	asJSON, all bool
}

func (a *app) ls(ctx context.Context, o lsOptions) error {
	return a.inSession(ctx, "ls", func(ctx context.Context, s *session) error {
		parked, err := s.parked(ctx)
		if err != nil {
			return err
		}
		var now sink.Indexing
		if o.searches {
			if now, err = s.searched(ctx, o.query.Text); err != nil {
				return queryError(err)
			}
		}
		listed, err := s.listed(ctx, o, parked)
		if err != nil {
			return err
		}
		err = a.list(withPeer(listed, o.peer), len(parked), o.asJSON, o.all)
		if err == nil && !o.asJSON {
			a.sayParked(parked)
		}
		sayUnindexed(a.err, now)
		return err
	})
}

// searched waits for the index, and says how far it is. A text that has no word is refused.
func (s *session) searched(ctx context.Context, text string) (sink.Indexing, error) {
	if _, err := search.Parse(text); err != nil {
		return sink.Indexing{}, err
	}
	if err := s.indexed(ctx); err != nil {
		return sink.Indexing{}, err
	}
	return s.ledger.Indexing(ctx)
}

// listed gives the transcripts that are asked for, with a line for each parked capture of which the ledger
// has nothing.
func (s *session) listed(ctx context.Context, o lsOptions, parked []stage.ParkedCapture) (iter.Seq2[sink.Summary, error], error) {
	var unknown []stage.ParkedCapture // the ledger has nothing of them, and a text is not found in them
	for _, p := range parked {
		_, err := s.ledger.Capture(ctx, p.Identity)
		if err != nil && !errors.Is(err, sink.ErrNotFound) {
			return nil, err
		}
		if err != nil && !o.searches {
			unknown = append(unknown, p)
		}
	}
	return withUnknown(sink.Each(ctx, s.view(parked), o.query), unknown, o.query.Filter), nil
}

// withUnknown adds a line for each capture of which the ledger has nothing, if the filter leaves it.
func withUnknown(list iter.Seq2[sink.Summary, error], unknown []stage.ParkedCapture, f sink.Filter) iter.Seq2[sink.Summary, error] {
	return func(yield func(sink.Summary, error) bool) {
		for t, err := range list {
			if !yield(t, err) || err != nil {
				return
			}
		}
		for _, p := range unknown {
			key := schema.Transcript{Identity: p.Identity}
			line := sink.Summary{Key: key.String(), Transcript: key, Labels: map[string]string{}, Status: schema.StatusParked, Empty: true}
			if f.Match(line) && !yield(line, nil) {
				return
			}
		}
	}
}

// view is the ledger with these captures parked.
func (s *session) view(list []stage.ParkedCapture) parked.View {
	var ids []schema.Identity
	for _, p := range list {
		ids = append(ids, p.Identity)
	}
	return parked.Of(s.ledger, s.ledger, ids...)
}

// maxParkedSaid bounds the parked captures of which ls says why.
const maxParkedSaid = 5

// sayParked says why captures are parked.
func (a *app) sayParked(parked []stage.ParkedCapture) {
	for _, p := range parked[:min(len(parked), maxParkedSaid)] {
		fmt.Fprintf(a.err, "%s is parked at frame %d: %s\n", p.Identity, p.Frame, p.Reason)
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
