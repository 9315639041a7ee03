package tap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/steno-io/steno/schema"
)

// conversation is one run of the agent. One goroutine steers it; each direction has a pump.
//
//	client stdin  ──▶ pump ──▶ agent stdin
//	client stdout ◀── pump ◀── agent stdout
//	client stderr ◀── pump ◀── agent stderr
type conversation struct {
	grace   time.Duration
	agent   *agent
	ended   chan error // one of each pump
	outputs chan struct{}
	finish  bell            // the agent's output ends with what is in its pipes; its input ends
	abort   bell            // everything ends where it stands
	ctx     context.Context // of appends; ends with abort
	release context.CancelFunc
	input   context.Context // of appends of the client's input; ends with finish too
	refuse  context.CancelCauseFunc
	timer   *time.Timer
	cause   error // why it was stopped
	stopped bool
}

func converse(ctx context.Context, o Options) (r Result, err error) {
	c := &conversation{grace: o.Grace, ended: make(chan error, 3), outputs: make(chan struct{}, 2)}
	if c.finish, err = newBell(); err != nil {
		return Result{ExitCode: 126}, err
	}
	defer c.finish.close()
	if c.abort, err = newBell(); err != nil {
		return Result{ExitCode: 126}, err
	}
	defer c.abort.close()
	if c.agent, err = start(o); err != nil {
		return Result{ExitCode: startCode(err)}, err
	}
	c.ctx, c.release = context.WithCancel(context.WithoutCancel(ctx))
	defer c.release()
	c.input, c.refuse = context.WithCancelCause(c.ctx)
	defer c.refuse(nil)
	for _, p := range c.pumps(o) {
		go func() {
			err := p.run(o.Journal)
			if p.drains {
				c.outputs <- struct{}{}
			}
			c.ended <- err
		}()
	}
	exited := make(chan error, 1)
	go func() { exited <- c.agent.wait() }()
	err = errors.Join(c.steer(ctx, o.Signals, exited), c.agent.sweep())
	return c.agent.result(), err
}

func (c *conversation) pumps(o Options) []*pump {
	return []*pump{
		{ctx: c.input, from: schema.FromClient, src: o.Stdin, dst: c.agent.stdin, dstOwn: true, closeDst: true, finish: c.finish, abort: c.abort, watch: o.Watch, inlet: o.Inlet},
		{ctx: c.ctx, from: schema.FromAgent, src: c.agent.stdout, dst: o.Stdout, closeDst: true, drains: true, finish: c.finish, abort: c.abort, watch: o.Watch},
		// The client's stderr stays open to the end: the tap's caller speaks there too.
		{ctx: c.ctx, from: schema.FromStderr, src: c.agent.stderr, dst: o.Stderr, drains: true, finish: c.finish, abort: c.abort},
	}
}

// steer returns when the agent has exited and every pump has ended.
func (c *conversation) steer(ctx context.Context, signals <-chan os.Signal, exited <-chan error) error {
	c.timer = time.NewTimer(c.grace)
	c.timer.Stop()
	defer c.timer.Stop()
	var waitErr error
	gone := false
	done := ctx.Done()
	pumps, outputs := 3, 2
	for pumps > 0 || !gone {
		select {
		case s := <-signals:
			if !gone {
				c.passOn(s.(syscall.Signal))
			} else if ends(s) { // the agent is gone: the signal is for the tap, which somebody holds up
				c.stop(fmt.Errorf("pass on the agent's last output: %s", signalName(s.(syscall.Signal))), gone)
			}
		case <-done:
			done = nil
			c.stop(context.Cause(ctx), gone)
		case err := <-c.ended:
			pumps--
			if err != nil {
				c.stop(err, gone)
			}
		case <-c.outputs:
			if outputs--; outputs == 0 && gone {
				c.wrapUp()
			}
		case waitErr = <-exited:
			gone = true
			exited = nil
			if outputs == 0 {
				c.wrapUp()
			} else {
				c.timer.Reset(c.grace)
			}
		case <-c.timer.C:
			if gone {
				c.wrapUp()
			} else {
				c.agent.signal(syscall.SIGKILL)
			}
		}
	}
	return errors.Join(c.cause, waitErr)
}

// wrapUp ends what still goes on once the agent is gone. Input that a full journal holds back has
// nobody to go to.
func (c *conversation) wrapUp() {
	c.finish.ring()
	c.refuse(errors.New("the agent has exited"))
}

// stop ends the conversation where it stands. The first cause counts; what follows from it does not.
func (c *conversation) stop(cause error, gone bool) {
	if c.stopped {
		return
	}
	c.stopped = true
	c.cause = cause
	c.abort.ring()
	c.release()
	if !gone {
		c.agent.signal(syscall.SIGTERM)
		c.timer.Reset(c.grace)
	}
}
