// Package headless is an ACP client without a person: it starts an agent behind a tap, asks it one thing,
// and answers what the agent asks by a policy that was decided in advance.
package headless

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/steno-io/steno/ingest/tap"
	"github.com/steno-io/steno/schema/wire/acp"
)

// Sentinels of a run that brought no end of a turn.
var (
	// ErrOptions: what is asked for is not to be had together; no agent was started.
	ErrOptions = errors.New("check options")
	// ErrVersion: the agent answered with a version of the protocol that this client does not speak.
	ErrVersion = errors.New("protocol version mismatch")
	// ErrAnswer: the agent answered a request with an error, or with what cannot be read.
	ErrAnswer = errors.New("the agent's answer")
	// ErrStopReason: the turn ended for a reason that is none of the protocol's, or for none.
	ErrStopReason = errors.New("unknown stop reason")
	// ErrTurn: the agent says that its turn has failed, as version 2 can.
	ErrTurn = errors.New("the turn failed")
	// ErrGone: the agent closed its output before it had answered.
	ErrGone = errors.New("the agent ended")
	// ErrStopped: the run was asked to stop, and there was no turn to be cancelled, or it did not end.
	ErrStopped = errors.New("stopped")
	// ErrFlood: the agent sends a line, or leaves unread what it is sent, beyond the client's bounds.
	ErrFlood = errors.New("more than a client holds")
)

// Times of a run, where Options say nothing.
const (
	DefaultGrace  = 2 * time.Second // for an agent to end when it should
	DefaultCancel = 5 * time.Second // for an agent to end a turn that was cancelled
)

// Options of a run.
type Options struct {
	Command []string // the agent's; the first is looked up in PATH
	Cwd     string   // absolute, an existing directory: the agent's own, the session's, and all that is served
	Env     []string // the agent's environment; nil: this process's
	Stderr  *os.File // where the agent's stderr is passed on to; nil: this process's
	Version string   // of the client, as it introduces itself
	// ACP is the newest version of the protocol that is offered, 1 or 2; the agent may answer with an older
	// one. 0: 2, or 1 with FS or Terminal, which only that has; 2 with one of them is refused.
	ACP int

	Prompt      string // valid UTF-8, not empty
	Permissions Permissions
	FS          bool // offer the agent text files inside Cwd
	Terminal    bool // offer the agent commands, started inside Cwd

	Journal tap.Journal // nil: nothing is kept

	// Stop, once closed, cancels the turn: the agent has Cancel to end it. The end of Run's ctx ends
	// everything at once.
	Stop   <-chan struct{}
	Cancel time.Duration // 0: DefaultCancel
	Grace  time.Duration // 0: DefaultGrace
}

// Result is what a run has brought, whole or not.
type Result struct {
	Text         string // all that the agent answered in the turn
	FinalMessage string // the last message of it
	StopReason   string // as sent; empty: the turn was not ended
	SessionID    string // the agent's; empty: there was no session
	Session      uint32 // its ordinal in the capture; 0: there was none
}

// Completed reports whether the turn ended as it should.
func (r Result) Completed() bool { return r.StopReason == acp.EndTurn }

// Run has one turn with an agent and returns when the agent and all that it started have ended. The
// error is nil where the turn has ended for a reason that the protocol knows, whichever but a failure;
// otherwise it wraps one of the sentinels, tap.ErrStart, or is the tap's.
//
// Every byte goes through the tap, so that it is kept before it is passed on: a request before it is
// answered, and the answer before the agent has it.
func Run(ctx context.Context, o Options) (Result, error) {
	if err := o.check(); err != nil {
		return Result{}, err
	}
	if o.Cancel == 0 {
		o.Cancel = DefaultCancel
	}
	if o.Grace == 0 {
		o.Grace = DefaultGrace
	}
	host, err := openHost(o)
	if err != nil {
		return Result{}, err
	}
	p, err := start(ctx, o)
	if err != nil {
		return Result{}, errors.Join(err, host.close())
	}
	c := newClient(o, host, p.stdin)
	var both sync.WaitGroup
	both.Go(func() { c.listen(p.stdout) })
	both.Go(c.out.run)
	told := c.tell(ctx)
	c.serveNoMore()
	c.hush()
	c.out.close()
	kept := p.end(ctx, o.Grace)
	both.Wait()
	c.settle()
	return c.result(), errors.Join(explain(told, p.exit, kept), host.close())
}

// check refuses a version of the protocol that there is not, or that has not what is to be served.
func (o Options) check() error {
	switch {
	case o.ACP < 0 || o.ACP > acp.Version2:
		return fmt.Errorf("%w: version %d of the protocol: want 1 or 2", ErrOptions, o.ACP)
	case o.ACP == acp.Version2 && (o.FS || o.Terminal):
		return fmt.Errorf("%w: version 2 of the protocol has no files and no terminals of the client", ErrOptions)
	}
	return nil
}

// explain says why a turn was not ended, with what the tap knows about it.
func explain(told error, exit tap.Result, kept error) error {
	switch {
	case errors.Is(kept, tap.ErrStart):
		return kept
	case kept != nil && told != nil:
		return fmt.Errorf("%w: %w", told, kept)
	case kept != nil:
		return kept
	case !errors.Is(told, ErrGone):
		return told
	case exit.Signal != "":
		return fmt.Errorf("%w by %s", told, exit.Signal)
	}
	return fmt.Errorf("%w with status %d", told, exit.ExitCode)
}

// peer is the tap with the agent behind it.
type peer struct {
	stdin, stdout *os.File // our ends
	signals       chan os.Signal
	ended         chan struct{}
	exit          tap.Result // once ended
	err           error
}

func start(ctx context.Context, o Options) (*peer, error) {
	theirIn, stdin, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make pipe: %w", err)
	}
	stdout, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make pipe: %w", err), theirIn.Close(), stdin.Close())
	}
	p := &peer{stdin: stdin, stdout: stdout, signals: make(chan os.Signal), ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		p.exit, p.err = tap.Run(ctx, tap.Options{
			Command: o.Command, Dir: o.Cwd, Env: o.Env, Stdin: theirIn, Stdout: theirOut, Stderr: o.Stderr,
			Journal: o.Journal, Grace: o.Grace, Signals: p.signals, Group: true,
		})
		_, _ = theirIn.Close(), theirOut.Close() // the tap has, unless the agent was never started
	}()
	return p, nil
}

// end waits for an agent whose input is closed, and helps: with SIGTERM after one grace, with SIGKILL
// after another. What is sent behind that is for the tap, where a journal that is full holds it up.
func (p *peer) end(ctx context.Context, grace time.Duration) error {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	for n := 1; ; n++ {
		select {
		case <-p.ended:
			return p.err
		case <-ctx.Done(): // the tap ends it
			<-p.ended
			return p.err
		case <-timer.C:
		}
		s, wait := syscall.SIGTERM, grace
		if n == 2 {
			s = syscall.SIGKILL
		}
		if n >= 2 {
			wait = 3 * grace // for the last output of an agent that is gone
		}
		timer.Reset(wait)
		select {
		case p.signals <- s:
		case <-p.ended:
		}
	}
}
