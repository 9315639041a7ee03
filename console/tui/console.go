package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/steno-io/steno/console/follow"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

const (
	framesPerSecond = 30
	pollEvery       = 2 * time.Second
)

// Ledger is what lists, transcripts and searches are read from; its calls may come side by side, and end
// with their contexts. Errors are shown, and what failed is asked again at the next poll.
type Ledger interface {
	sink.Reader
	Search(ctx context.Context, q sink.SearchQuery) (sink.HitPage, error)
}

// Options are what a console shows, and where. All but Open and Poll are needed.
type Options struct {
	Ledger Ledger
	// Follow tells what of a transcript is behind a number, and then what is new, until ctx ends; as
	// follow.Follower.Run.
	Follow func(ctx context.Context, key schema.Transcript, after uint64, emit func(follow.Item) error) error
	// Typed gives a transcript's events again from its first frame on, those of typed text too, the durable
	// ones with their numbers.
	Typed func(ctx context.Context, key schema.Transcript) iter.Seq2[schema.Event, error]
	// Listed reports whether a list shows a transcript, unless all are asked for.
	Listed func(sink.Summary) bool
	Open   *sink.Summary // to be shown at once; nil = the list
	Poll   time.Duration // between looks at lists and statuses; 0 = 2 s
	In     io.Reader     // a terminal
	Out    io.Writer     // a terminal
}

// Run shows the console until the user leaves it, which is no error, or ctx ends: then the error is ctx's
// cause. However it ends, the terminal is as it was, and nothing that it started runs any more.
func Run(ctx context.Context, o Options) error {
	if o.Poll <= 0 {
		o.Poll = pollEvery
	}
	c := newCrew(ctx)
	m := newModel(o, c)
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithEnvironment(os.Environ()),
		tea.WithFPS(framesPerSecond), tea.WithoutSignalHandler()).Run()
	c.leave()
	switch {
	case ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled):
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("show console: %w", err)
	}
	return nil
}
