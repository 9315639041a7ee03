package tui

import (
	"context"
	"fmt"
	"iter"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/tui/tmuxtest"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// asConsole makes the test binary a console that panics: in its "loop", in a "command", or in a "replay".
const asConsole = "STENO_TEST_AS_CONSOLE"

func TestMain(m *testing.M) {
	where := os.Getenv(asConsole)
	if where == "" {
		os.Exit(m.Run())
	}
	s := newShelf("Sacks", "Bread")
	o := Options{Ledger: s, Follow: s.follow, Typed: s.replay, In: os.Stdin, Out: os.Stdout, Listed: func(r sink.Summary) bool {
		if where == "loop" && r.Status == schema.StatusOpen {
			panic("in the loop")
		}
		return true
	}}
	if where == "command" {
		o.Ledger = failing{s}
	}
	if where == "replay" {
		o.Typed = func(context.Context, schema.Transcript) iter.Seq2[schema.Event, error] {
			return func(func(schema.Event, error) bool) { panic("in a replay") }
		}
	}
	if where == "loop" {
		s.rows[1].Status = schema.StatusOpen
	}
	if err := Run(context.Background(), o); err != nil {
		fmt.Println("ended:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// failing panics when a transcript is opened.
type failing struct{ *shelf }

func (failing) Transcript(context.Context, schema.Transcript) (sink.Summary, error) {
	panic("in a command")
}

func TestAPanicLeavesTheTerminalAsItWas(t *testing.T) {
	for where, keys := range map[string][]string{"loop": nil, "command": {"Enter"}, "replay": {"R"}} {
		t.Run(where, func(t *testing.T) {
			x := tmuxtest.Start(t, 80, 24, asConsole+"="+where)
			x.Enter("clear; " + os.Args[0] + " 2>/dev/null; echo status $?")
			if keys != nil {
				x.Await("Sacks")
				x.Keys(keys...)
			}
			x.Await("ended: show console", "panic", "status 1")
			require.Equal(t, "0", x.Is("alternate_on"))
			require.Equal(t, "0", x.Is("mouse_any_flag"))
			require.Equal(t, "1", x.Is("cursor_flag"))
			x.Enter("clear; echo typed | tr a-z A-Z")
			x.Await("TYPED")
		})
	}
}
