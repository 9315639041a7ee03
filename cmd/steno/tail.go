package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/console/follow"
	"github.com/steno-io/steno/console/render"
	"github.com/steno-io/steno/schema"
)

func (a *app) tailCommand() *cobra.Command {
	var f viewFlags
	var untilEnd bool
	cmd := &cobra.Command{
		Use:   "tail [KEY]",
		Short: "Follow a transcript: its history, then text as it is typed",
		Long: `tail prints a transcript's history and then follows it, text as it is typed,
until you stop it. Joining in the middle of a sentence shows all of it. With
--json it prints stored events and deltas as JSON lines.

` + keyHelp,
		Example: `  steno tail
  steno tail --until-end s-1 --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.tail(cmd.Context(), args, f, untilEnd) },
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&untilEnd, "until-end", false, "stop when the transcript's capture has ended")
	return cmd
}

func (a *app) tail(ctx context.Context, args []string, f viewFlags, untilEnd bool) error {
	s, ctx, err := a.open(ctx, "tail")
	if err != nil {
		return err
	}
	err = func() error {
		summary, err := find(ctx, s.ledger, args)
		if err != nil {
			return err
		}
		key, err := schema.ParseTranscript(summary.Key)
		if err != nil {
			return err
		}
		follower, err := follow.New(follow.Options{
			Conn: s.client.Conn, Reader: s.ledger, Partitions: s.info.Partitions, Transcript: key,
		})
		if err != nil {
			return err
		}
		if f.json {
			return follower.Run(ctx, a.jsonItem(untilEnd))
		}
		r := a.renderer(f)
		if err := r.Transcript(summary); err != nil {
			return err
		}
		return errors.Join(follower.Run(ctx, renderItem(r, untilEnd)), r.Close())
	}()
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		err = errors.Join(err, cause) // the follower takes any end of its context for a wish
	}
	return errors.Join(err, s.close())
}

func (a *app) jsonLine(v any) error {
	data, err := json.Marshal(v)
	if err == nil {
		_, err = fmt.Fprintf(a.out, "%s\n", data)
	}
	return err
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
			return r.Snapshot(i.Messages, i.Tools)
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
		_, err := fmt.Fprintf(a.out, "%s\n", data)
		return err
	}
	return func(item follow.Item) error {
		switch i := item.(type) {
		case *follow.Event:
			return line(i.Bytes)
		case *follow.Delta:
			return line(i.Event.AppendJSON(nil))
		case *follow.End:
			if err := a.jsonLine(map[string]any{"end": map[string]any{"status": i.Status, "head": i.Head}}); err != nil || !untilEnd {
				return err
			}
			return follow.ErrStop
		case *follow.Lag:
			return a.jsonLine(map[string]any{"lag": map[string]any{"reason": i.Reason, "events": i.Events, "detail": i.Detail}})
		case *follow.Snapshot:
			return a.jsonLine(map[string]any{"snapshot": map[string]any{
				"frame": i.Frame, "ordinal": i.Ordinal, "messages": i.Messages, "tools": i.Tools,
			}})
		}
		return nil
	}
}
