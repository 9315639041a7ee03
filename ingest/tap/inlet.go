package tap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/steno-io/steno/schema"
)

var (
	// ErrNoInput: the agent is not there, or its input has ended.
	ErrNoInput = errors.New("the agent takes no input")
	// ErrInputHeld: there was no place for a line in time: the client is inside one of its own, or the agent
	// does not read.
	ErrInputHeld = errors.New("the agent's input is held up")
	// ErrUnwritten marks a line that was recorded, and then was not written: the agent went away.
	ErrUnwritten = errors.New("it was recorded, but not written")
)

// Inlet lets lines of others than the client into an agent's input: between the client's lines, never
// inside one. The zero value is ready for the one Run whose Options have it, and may be used before and
// behind it.
//
//	client ──▶ pump ──▶┐
//	                   ├─ one at a time ──▶ agent stdin
//	others ── Inlet ──▶┘
type Inlet struct {
	mu      sync.Mutex
	free    sync.Cond // busy has ended
	open    bool      // the agent takes input
	busy    bool      // somebody writes, or is about to
	between bool      // what was written ends where a line ends
	waiting []*insertion
	put     func(*insertion) error // writes what is composed
}

// insertion is a line that is to be written, by whoever comes by.
type insertion struct {
	ctx     context.Context
	compose func() (line []byte, info any, err error)
	done    chan error // of one
}

// Say writes a line to the agent. compose gives it, with its LF, and what is recorded of it as an
// intervention before it is written; it is called at most once, when the place between two lines is there
// and the agent reads, and nothing else is written until the line is: what it finds out still holds then.
// Its error is given as it is, and nothing was done.
//
// Else the error wraps ErrNoInput, or, where ctx ends before, ErrInputHeld: nothing was done then; or
// ErrUnwritten. Without an error the agent has the line, or will, as one piece.
func (i *Inlet) Say(ctx context.Context, compose func() (line []byte, info any, err error)) error {
	n := &insertion{ctx: ctx, compose: compose, done: make(chan error, 1)}
	i.mu.Lock()
	switch {
	case !i.open:
		i.mu.Unlock()
		return ErrNoInput
	case i.busy || !i.between:
		i.waiting = append(i.waiting, n)
		i.mu.Unlock()
		return i.wait(n)
	}
	i.busy = true
	i.mu.Unlock()
	err := i.put(n)
	i.give(!errors.Is(err, ErrUnwritten))
	return err
}

// Open reports whether the agent takes input.
func (i *Inlet) Open() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.open
}

// wait waits until somebody has written the line. While it is not begun, it can be withdrawn.
func (i *Inlet) wait(n *insertion) error {
	select {
	case err := <-n.done:
		return err
	case <-n.ctx.Done():
	}
	i.mu.Lock()
	for at, other := range i.waiting {
		if other == n {
			i.waiting = append(i.waiting[:at], i.waiting[at+1:]...)
			i.mu.Unlock()
			return ErrInputHeld
		}
	}
	i.mu.Unlock()
	return <-n.done
}

// begin opens the inlet.
func (i *Inlet) begin(put func(*insertion) error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.free.L = &i.mu
	i.put, i.open, i.between = put, true, true
}

// end closes the inlet, once nothing is written any more. Who still waits is told.
func (i *Inlet) end() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.open = false
	for i.busy {
		i.free.Wait()
	}
	for _, n := range i.waiting {
		n.done <- ErrNoInput
	}
	i.waiting = nil
}

// take waits for the turn to write some of the client's bytes, and says how many of them may be written
// now: where somebody waits for the end of a line, up to that.
func (i *Inlet) take(b []byte) []byte {
	i.mu.Lock()
	defer i.mu.Unlock()
	for i.busy {
		i.free.Wait()
	}
	i.busy = true
	if n := bytes.IndexByte(b, '\n'); len(i.waiting) > 0 && n >= 0 {
		return b[:n+1]
	}
	return b
}

// give ends a turn, behind which the next byte begins a line or does not; it then writes what waited for
// that.
func (i *Inlet) give(between bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for i.between = between; i.between && len(i.waiting) > 0; {
		n := i.waiting[0]
		i.waiting = i.waiting[1:]
		i.mu.Unlock()
		err := i.put(n)
		n.done <- err
		i.mu.Lock()
		i.between = !errors.Is(err, ErrUnwritten)
	}
	i.busy = false
	i.free.Broadcast()
}

// insert writes a line that others wish to say, while input has not ended. The caller has the turn.
func (p *pump) insert(input context.Context, dst end, journal Journal, n *insertion) error {
	if err := p.room(dst, n.ctx); err != nil {
		return err
	}
	line, info, err := n.compose()
	if err != nil {
		return err
	}
	if journal != nil {
		if err := recordOurs(n.ctx, input, journal, info); err != nil {
			return err
		}
	}
	if over, err := p.passOn(dst, line); err != nil {
		return fmt.Errorf("%w: %w", ErrUnwritten, err)
	} else if over {
		return ErrUnwritten
	}
	return nil
}

// recordOurs records a line before it is written. Who says it waits for room in the journal no longer than
// he would, and than the agent takes input.
func recordOurs(ctx, input context.Context, journal Journal, info any) error {
	both, end := context.WithCancel(ctx)
	defer end()
	defer context.AfterFunc(input, end)()
	err := journal.Control(both, schema.TypeIntervention, time.Now(), info)
	switch {
	case err == nil:
		return nil
	case input.Err() != nil:
		return ErrNoInput
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", ErrInputHeld, err)
	}
	return fmt.Errorf("record a line of our own: %w", err)
}

// room waits until the agent has room for a line: a pipe that can be written to takes at least
// atomicWrite bytes at once.
func (p *pump) room(dst end, ctx context.Context) error {
	wait := time.Duration(-1)
	if deadline, ok := ctx.Deadline(); ok {
		wait = max(time.Until(deadline), 0)
	}
	woken, err := dst.awaitFor(unix.POLLOUT, p.abort, p.finish, wait)
	switch {
	case err != nil:
		return fmt.Errorf("wait for the agent: %w", err)
	case woken == byTime:
		return fmt.Errorf("%w: it does not read", ErrInputHeld)
	case woken != byFile, dst.broken():
		return ErrNoInput
	}
	return nil
}
