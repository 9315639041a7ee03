package tui

import (
	"context"
	"sync"

	tea "charm.land/bubbletea/v2"
)

// crew is what runs beside the screens, so that it can be ended and waited for.
type crew struct {
	ctx context.Context
	end context.CancelFunc

	mu     sync.Mutex
	closed bool
	busy   sync.WaitGroup
}

func newCrew(ctx context.Context) *crew {
	c := &crew{}
	c.ctx, c.end = context.WithCancel(ctx)
	return c
}

// command is a command that ends with ctx, and that leave waits for.
func (c *crew) command(ctx context.Context, do func(context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		if !c.enter() {
			return nil
		}
		defer c.busy.Done()
		return do(ctx)
	}
}

func (c *crew) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.busy.Add(1)
	}
	return !c.closed
}

// leave ends all that runs and waits for it. Nothing is begun any more.
func (c *crew) leave() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.end()
	c.busy.Wait()
}
