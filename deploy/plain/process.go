package plain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Waits: between two looks, and for a process that was told to end.
const (
	look   = 100 * time.Millisecond
	ending = 10 * time.Second
)

// process is a service's process, and the next one when that has ended.
type process struct {
	name, restart, log, health string
	command, env               []string
	after                      time.Duration
	completed                  chan error    // gives the end of one that is not started again
	ended                      chan struct{} // closed when nothing runs any more

	begun bool

	mu      sync.Mutex
	current *os.Process // nil while none runs
}

// once reports whether the process is to end by itself.
func (p *process) once() bool { return p.restart == "" || p.restart == "on-failure" }

func (p *process) begin(ctx context.Context) {
	p.begun = true
	go p.supervise(ctx)
}

// supervise runs the process, and again as the file says, until ctx ends.
func (p *process) supervise(ctx context.Context) {
	runtime.LockOSThread() // the signal at the parent's end is that of the thread which started it
	defer close(p.ended)
	for {
		err := p.run(ctx)
		if ctx.Err() != nil {
			return
		}
		if p.restart == "" || p.restart == "on-failure" && err == nil {
			p.completed <- err
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(p.after):
		}
	}
}

func (p *process) run(ctx context.Context) error {
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // the process has its own
	cmd := exec.Command(p.command[0], p.command[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = p.env, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	EndWithParent(cmd.SysProcAttr)
	p.mu.Lock()
	if err = ctx.Err(); err == nil {
		err = cmd.Start()
	}
	if err == nil {
		p.current = cmd.Process
	}
	p.mu.Unlock()
	if err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	err = cmd.Wait()
	p.mu.Lock()
	p.current = nil
	p.mu.Unlock()
	return err
}

func (p *process) signal(s syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current == nil {
		return fmt.Errorf("signal %s: it does not run", p.name)
	}
	return p.current.Signal(s)
}

func (p *process) kill() error { return p.signal(syscall.SIGKILL) }

// end ends the process, whose supervisor was told before not to start another one.
func (p *process) end() error {
	if !p.begun {
		return nil
	}
	_ = p.signal(syscall.SIGTERM) // it may have ended
	select {
	case <-p.ended:
		return nil
	case <-time.After(ending):
	}
	_ = p.kill()
	<-p.ended
	return fmt.Errorf("end %s: it did not within %s and was killed", p.name, ending)
}

// healthy waits until the health check passes.
func (p *process) healthy(ctx context.Context) error {
	if p.health == "" {
		return errors.New("it has no health check over HTTP")
	}
	return Healthy(ctx, p.health, nil)
}

// done waits for the end of a process that runs once.
func (p *process) done(ctx context.Context) error {
	select {
	case err := <-p.completed:
		p.completed <- err
		return err
	case <-ctx.Done():
		return fmt.Errorf("wait for its end: %w", ctx.Err())
	}
}
