package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/console/follow"
	"github.com/steno-io/steno/console/render"
	"github.com/steno-io/steno/sink"
)

func (a *app) tailCommand() *cobra.Command {
	var f viewFlags
	var untilEnd bool
	var peer string
	cmd := &cobra.Command{
		Use:   "tail [KEY]",
		Short: "Follow a transcript: its history, then text as it is typed",
		Long: `tail prints a transcript's history and then follows it, text as it is typed,
until you stop it. Joining in the middle of a sentence shows all of it. Where
nothing is recorded yet it waits for the first transcript.

With KEY, or --until-end, it stays with that transcript. Otherwise it goes on: once
the transcript has ended, or has said nothing for some seconds, the next one that
says something, a new one or one that is resumed, takes its place under a heading
of its own. --peer NAME leaves out those with other agents.

With --json it prints a JSON object a line: stored events and deltas as they are,
the rest under a name of its own.
  {"snapshot":{"frame","ordinal","messages":[…],"tools":[…],"notes":[…]}}   what is open now, all of it
  {"lag":{"reason","events","detail"}}    what is shown may be behind, and why
  {"end":{"status","head"}}               the transcript has ended with event number head
  {"transcript":{"key",…}}                it goes on with this one, as ls --json has it

` + keyHelp,
		Example: `  steno tail
  steno tail --peer mill
  steno tail --until-end s-1 --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && peer != anyPeer {
				return usage("steno tail: want KEY or --peer, not both")
			}
			return a.tail(cmd.Context(), args, peer, f, untilEnd)
		},
	}
	f.register(cmd)
	a.ledgerFlag(cmd)
	a.archiveFlag(cmd)
	cmd.Flags().StringVar(&peer, "peer", anyPeer, "follow transcripts with the agent of that name only")
	cmd.Flags().BoolVar(&untilEnd, "until-end", false, "stop when the transcript's capture has ended")
	return cmd
}

func (a *app) tail(ctx context.Context, args []string, peer string, f viewFlags, untilEnd bool) error {
	return a.inSession(ctx, "tail", func(ctx context.Context, s *session) error {
		t, err := a.awaited(ctx, s.ledger, args, peer)
		if err != nil {
			return tailEnd(ctx, err)
		}
		o := follow.Options{Conn: s.conn, Reader: s.ledger, Partitions: s.info.Partitions, Transcript: t.Transcript}
		w := &watcher{a: a, f: f, untilEnd: untilEnd}
		if len(args) == 0 && !untilEnd {
			counts := func(t sink.Summary) bool { return isListed(t) && isPeer(t, peer) }
			return errors.Join(follow.Newest(ctx, follow.NewestOptions{Options: o, Counts: counts}, w.emit), w.close(), tailEnd(ctx, nil))
		}
		follower, err := follow.New(o)
		if err != nil {
			return err
		}
		if err := w.begin(t); err != nil {
			return err
		}
		return errors.Join(follower.Run(ctx, w.emit), w.close(), tailEnd(ctx, nil))
	})
}

// tailEnd tells the end that the user asked for, which is no error, from a directory without a holder:
// the follower takes any end of its context for a wish.
func tailEnd(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	switch {
	case cause == nil:
		return err
	case errors.Is(cause, context.Canceled):
		return nil
	}
	return cause
}

// awaited finds the transcript. Where none is recorded yet, and none is named, it waits for the first
// that a list shows.
func (a *app) awaited(ctx context.Context, r sink.Reader, args []string, peer string) (sink.Summary, error) {
	look := func() (sink.Summary, error) { return find(ctx, r, args) }
	if len(args) == 0 {
		look = func() (sink.Summary, error) { return newest(ctx, r, peer) }
	}
	said := false
	for {
		t, err := look()
		if !errors.Is(err, errNothing) && (err != nil || !said || isListed(t)) {
			return t, err
		}
		if !said {
			fmt.Fprintln(a.err, "waiting for the first transcript …")
			said = true
		}
		select {
		case <-ctx.Done():
			return t, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// renderItem shows what a follower tells.
func renderItem(r *render.Renderer, untilEnd bool) func(follow.Item) error {
	behind := false
	return func(item follow.Item) error {
		switch i := item.(type) {
		case *follow.Event:
			return r.Event(i.Event)
		case *follow.Delta:
			return r.Delta(i.Event)
		case *follow.Snapshot:
			return r.Snapshot(i.Messages, i.Tools, i.Notes...)
		case *follow.Lag:
			if i.Reason == follow.LagBehind && i.Events == 0 == !behind {
				return nil
			}
			behind = i.Reason == follow.LagBehind && i.Events > 0
			return r.Notice(lagText(i))
		case *follow.End:
			if err := r.Notice(fmt.Sprintf("%s: %d events", i.Status, i.Head)); err != nil || !untilEnd {
				return err
			}
			return follow.ErrStop
		}
		return nil
	}
}

func lagText(l *follow.Lag) string {
	switch l.Reason {
	case follow.LagBehind:
		if l.Events == 0 {
			return "caught up"
		}
		return fmt.Sprintf("lag %d: the ledger has not yet stored what was translated", l.Events)
	case follow.LagMissed:
		return "lag: pieces of text were lost on the way; asking again"
	case follow.LagSlow:
		return "lag: pieces of text were left out because this reader is slow"
	case follow.LagDisconnected:
		return "lag: the connection is lost; stored events only"
	case follow.LagReconnected:
		return "lag: connected again"
	case follow.LagNoOwner:
		return "lag: no translator answers; stored events only"
	case follow.LagParked:
		return "lag: the capture is parked: " + l.Detail
	}
	return "lag: " + string(l.Reason)
}

// jsonItem prints what a follower tells, one object a line: events and deltas as they are, the rest
// under its name.
func (a *app) jsonItem(untilEnd bool) func(follow.Item) error {
	line := func(data []byte) error {
		_, err := a.out.Write(append(slices.Clip(data), '\n'))
		return err
	}
	named := func(name string, of interface{ AppendJSON([]byte) []byte }) error {
		return line(append(of.AppendJSON([]byte(`{"`+name+`":`)), '}'))
	}
	return func(item follow.Item) error {
		switch i := item.(type) {
		case *follow.Event:
			return line(i.Bytes)
		case *follow.Delta:
			return line(i.Bytes)
		case *follow.End:
			if err := named("end", i); err != nil || !untilEnd {
				return err
			}
			return follow.ErrStop
		case *follow.Lag:
			return named("lag", i)
		case *follow.Snapshot:
			return named("snapshot", i)
		}
		return nil
	}
}
