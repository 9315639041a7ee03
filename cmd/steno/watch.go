package main

import (
	"context"
	"errors"
	"iter"
	"os"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/console/follow"
	"github.com/steno-io/steno/console/tui"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

func (a *app) watchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "watch [KEY]",
		Short: "Watch transcripts in a terminal: a list, text as it is typed, replay, search",
		Long: `watch is a console for the terminal, made to be left running in a pane beside the
agent. It begins with the list of transcripts, or with KEY's. ? shows the keys of
each of its screens.

It only reads, and needs a terminal: steno tail writes to pipes and files.

` + keyHelp,
		Example: `  steno watch
  steno watch fix-the-mill
  steno watch --nats nats://127.0.0.1:4222 --ledger postgres://steno@127.0.0.1/steno`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.watch(cmd.Context(), args) },
	}
	a.ledgerFlag(cmd)
	a.archiveFlag(cmd)
	return cmd
}

func (a *app) watch(ctx context.Context, args []string) error {
	out, ok := a.stdio.out.(*os.File)
	if !ok || !a.isTerminal(out) || !a.isTerminal(a.in) || os.Getenv("TERM") == "dumb" {
		return usage("steno watch needs a terminal; steno tail follows on pipes and in files, steno ls lists")
	}
	said := &heldBack{to: a.err}
	if a.isTerminal(a.err) { // what is said meanwhile would spoil the screen
		a.err, a.log = said, a.log.Output(logWriter(said, true))
	}
	open := a.openDirectoryAtOnce
	if a.clustered() || len(args) > 0 { // KEY may be in what is to be numbered first
		open = a.open
	}
	s, ctx, err := open(ctx, "watch")
	if err != nil {
		return err
	}
	return errors.Join(tailEnd(ctx, why(ctx, a.watchSession(ctx, s, args, said, out))), s.close())
}

func (a *app) watchSession(ctx context.Context, s *session, args []string, said *heldBack, out *os.File) error {
	hub, err := follow.NewHub(s.conn, s.ledger, s.info.Partitions)
	if err != nil {
		return err
	}
	o := tui.Options{
		Ledger: &watched{session: s}, Listed: isListed, In: a.in, Out: out,
		Follow: func(ctx context.Context, key schema.Transcript, after uint64, emit func(follow.Item) error) error {
			f, err := follow.New(follow.Options{Hub: hub, Transcript: key, After: after})
			if err != nil {
				return err
			}
			return f.Run(ctx, emit)
		},
		Typed: s.typed,
	}
	if len(args) > 0 {
		t, err := find(ctx, s.ledger, args)
		if err != nil {
			return err
		}
		o.Open = &t
	}
	said.hold()
	err = tui.Run(ctx, o)
	return errors.Join(err, said.release())
}

// watched is what a console reads of a session, patiently.
type watched struct{ *session }

// Transcripts implements sink.Reader.
func (w *watched) Transcripts(ctx context.Context, q sink.Query) (page sink.Page, err error) {
	list, err := w.parked(ctx)
	if err != nil {
		return page, err
	}
	err = w.patient(ctx, func() (err error) {
		page, err = w.view(list).Transcripts(ctx, q)
		return err
	})
	return page, err
}

// Transcript implements sink.Reader.
func (w *watched) Transcript(ctx context.Context, key schema.Transcript) (t sink.Summary, err error) {
	list, err := w.parked(ctx)
	if err != nil {
		return t, err
	}
	err = w.patient(ctx, func() (err error) {
		t, err = w.view(list).Transcript(ctx, key)
		return err
	})
	return t, err
}

// Events implements sink.Reader.
func (w *watched) Events(ctx context.Context, key schema.Transcript, after uint64, limit int) iter.Seq2[sink.Event, error] {
	return w.ledger.Events(ctx, key, after, limit)
}

// Search implements tui.Ledger.
func (w *watched) Search(ctx context.Context, q sink.SearchQuery) (page sink.HitPage, err error) {
	list, err := w.parked(ctx)
	if err != nil {
		return page, err
	}
	err = w.patient(ctx, func() (err error) {
		page, err = w.view(list).Search(ctx, q)
		return err
	})
	return page, err
}

var _ tui.Ledger = (*watched)(nil)
