package main

import (
	"bufio"
	"context"
	"errors"
	"iter"
	"time"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/console/render"
	"github.com/steno-io/steno/ingest/intervene"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// viewFlags are the flags of the readable view.
type viewFlags struct {
	json  bool
	raw   bool
	times bool
	full  bool
}

func (f *viewFlags) register(cmd *cobra.Command) {
	p := cmd.Flags()
	p.BoolVar(&f.json, "json", false, "print events as JSON lines")
	p.BoolVar(&f.raw, "raw", false, "show every protocol record, those that another event shows as well")
	p.BoolVar(&f.times, "times", false, "show when things happened, from the first event on")
	p.BoolVar(&f.full, "full", false, "do not shorten tools' inputs and outputs")
}

func (a *app) renderer(f viewFlags) *render.Renderer { return render.New(a.out, a.renderOptions(f)) }

func (a *app) renderOptions(f viewFlags) render.Options {
	o := render.Options{Colour: a.colour(), Width: a.width(), Times: f.times, Raw: f.raw}
	if f.full {
		o.Lines = -1
	}
	return o
}

const keyHelp = `KEY is a transcript's key, its session id, or any part of key, session id or title
that only one has: those that steno ls lists go first, the others (ls --all) come
where none of them has it. The id of a task of A2A, or how it begins, names its
conversation. Without KEY the newest transcript is taken: the one that
was recorded last, or a conversation of A2A that last said something.`

func (a *app) showCommand() *cobra.Command {
	var f viewFlags
	from := uint64(1)
	cmd := &cobra.Command{
		Use:   "show [KEY]",
		Short: "Print a transcript",
		Long: `show prints a transcript as people read it, each event where its first frame
stands; with --json its stored events, in the order of their numbers. With --from it
begins at a number, such as one that steno search gives.

Of a conversation that goes on its heading says what interventions its connection takes
now (steno cancel, inject, approve …), where the process that holds it can be asked.

` + keyHelp,
		Example: `  steno show
  steno show fix-the-mill --times
  steno show fix-the-mill --from 118
  steno show --json | jq -r 'select(.kind.kind=="ToolCall").kind.tool'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.show(cmd.Context(), args, f, from) },
	}
	f.register(cmd)
	cmd.Flags().Uint64Var(&from, "from", from, "leave out the events before the one of that number")
	a.ledgerFlag(cmd)
	a.archiveFlag(cmd)
	return cmd
}

func (a *app) show(ctx context.Context, args []string, f viewFlags, from uint64) error {
	return a.withTranscript(ctx, "show", args, func(ctx context.Context, s *session, t sink.Summary) error {
		after := max(from, 1) - 1
		if after > 0 && after >= t.Head {
			return usage("--from %d: the last event of %s has number %d", from, t.Key, t.Head)
		}
		if f.json {
			return a.writeEvents(ctx, s.ledger, t.Transcript, after)
		}
		times := s.frameTimes(ctx, t.Transcript.Identity)
		o := a.renderOptions(f)
		o.At = times.at
		if can := a.takes(ctx, s, t); len(can.Supported) > 0 {
			o.Takes = can.Labels()
		}
		err := render.New(a.out, o).Show(t, decoded(s.ledger.Events(ctx, t.Transcript, after, 0)))
		return errors.Join(err, times.err)
	})
}

// takesWithin bounds the question what a connection takes, which is worth no longer wait.
const takesWithin = time.Second

// takes asks what interventions the connection of a conversation takes now; none where it has ended, or nobody
// says.
func (a *app) takes(ctx context.Context, s *session, t sink.Summary) (can schema.Capabilities) {
	if t.Status != schema.StatusOpen {
		return can
	}
	ctx, done := context.WithTimeout(ctx, takesWithin)
	defer done()
	by, err := a.intervener(ctx, s)
	if err == nil {
		can, err = intervene.Ask(ctx, s.conn, t.Transcript.Identity, by)
	}
	if err != nil {
		a.log.Debug().Err(err).Msg("ask what interventions it takes")
		return schema.Capabilities{}
	}
	return can
}

func (a *app) writeEvents(ctx context.Context, r sink.Reader, key schema.Transcript, after uint64) error {
	out := bufio.NewWriterSize(a.out, 1<<16)
	for e, err := range r.Events(ctx, key, after, 0) {
		if err != nil {
			return errors.Join(err, out.Flush())
		}
		if _, err := out.Write(append(e.Bytes, '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}

// decoded reads stored events.
func decoded(stored iter.Seq2[sink.Event, error]) iter.Seq2[schema.Event, error] {
	return func(yield func(schema.Event, error) bool) {
		for e, err := range stored {
			var event schema.Event
			if err == nil {
				event, err = schema.DecodeEvent(e.Bytes)
			}
			if !yield(event, err) || err != nil {
				return
			}
		}
	}
}
