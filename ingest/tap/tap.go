// Package tap stands between a client and its agent on stdio: it keeps every chunk that passes and
// passes it on at once, unchanged, and behaves to both sides as the other side would.
package tap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/steno-io/steno/schema"
)

// Journal keeps what passes. Append has kept b when it returns nil, or counted it as not kept, and
// does not hold on to it; it may hold the conversation back until ctx ends. Control keeps an event
// of the tap itself, with info as its JSON payload. Both are called by several goroutines.
type Journal interface {
	Append(ctx context.Context, from schema.From, at time.Time, b []byte) error
	Control(ctx context.Context, typ schema.FrameType, at time.Time, info any) error
}

// ErrStart marks an agent that could not be started.
var ErrStart = errors.New("start agent")

// DefaultGrace is how long a tap waits where somebody should go by himself.
const DefaultGrace = 2 * time.Second

// Options of a tap.
type Options struct {
	Command []string // the agent's; the first is looked up in PATH
	Dir     string   // its working directory; empty: the tap's
	Env     []string // its environment; nil: the tap's

	// The client's side; nil: the process's own. Run closes Stdin and Stdout where the other side
	// has closed them, so that the client sees it.
	Stdin, Stdout, Stderr *os.File

	Journal Journal // nil: nothing is kept

	// Watch gets what passes, when it is kept and before it is passed on; nil: nobody does. It is called by
	// several goroutines, one a side, holds the conversation up, and does not hold on to the bytes.
	Watch func(from schema.From, b []byte)
	// Inlet lets others than the client say something to the agent; nil: nobody does.
	Inlet *Inlet

	// Signals are passed on to the agent; nil: those that the process gets.
	Signals <-chan os.Signal
	// Group makes the agent the leader of a process group of its own: signals go to all of it, and what is
	// left of it is killed at the end.
	Group bool

	// Grace bounds two waits: for the agent's output to end once the agent has exited (a grandchild
	// may hold it open), and for an agent to obey SIGTERM. 0: DefaultGrace.
	Grace time.Duration
}

// Result is how the agent ended, as the tap's caller should end.
type Result struct {
	ExitCode int    // the agent's; 128 + n if signal n ended it; 126 or 127 if it could not be started
	Signal   string // that ended it, such as SIGTERM; empty if none
}

// Run starts the agent and returns when it has exited and its output was passed on. Signals that the
// process gets meanwhile, or those of Options.Signals, go to the agent. When ctx ends, or the journal
// fails, the agent is ended and the cause returned, with the agent's result.
//
// An agent whose tap is killed reads the end of its input, as when its client dies. It gets no
// signal for that (Linux's parent-death signal is bound to the thread that started the child, not to
// the process, and would cut off an agent that saves its session at the end of input).
func Run(ctx context.Context, o Options) (Result, error) {
	if len(o.Command) == 0 {
		return Result{ExitCode: 127}, fmt.Errorf("%w: no command", ErrStart)
	}
	o = withDefaults(o)
	if o.Signals == nil {
		signals := catchSignals()
		defer signals.stop()
		o.Signals = signals.c
	}
	result, err := converse(ctx, o)
	if o.Journal == nil {
		return result, err
	}
	// The end of ctx ends the conversation, not the record of it.
	kept := o.Journal.Control(context.WithoutCancel(ctx), schema.TypeClose, time.Now(), closeInfo(result, err))
	if kept != nil {
		err = errors.Join(err, fmt.Errorf("record the end of the conversation: %w", kept))
	}
	return result, err
}

func withDefaults(o Options) Options {
	if o.Stdin == nil {
		o.Stdin = os.Stdin
	}
	if o.Stdout == nil {
		o.Stdout = os.Stdout
	}
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	if o.Grace == 0 {
		o.Grace = DefaultGrace
	}
	return o
}

func closeInfo(r Result, err error) schema.CloseInfo {
	info := schema.CloseInfo{Reason: schema.ReasonEOF, Signal: r.Signal}
	if r.Signal == "" {
		info.ExitCode = &r.ExitCode
	}
	if err != nil {
		info.Error = err.Error()
	}
	return info
}
