package stage

import (
	"context"
	"sync"
	"sync/atomic"
)

// gate holds frames and records while it is not known whether the streams are still what they were: the
// connection was lost, and the server may have come back with an older copy of its store. Else a frame of
// another past would be held against a capture, or a record be stored whose frames are not there.
type gate struct {
	shut   atomic.Bool
	mu     sync.Mutex
	opened chan struct{} // closed when it opens
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.shut.Load() {
		g.opened = make(chan struct{})
		g.shut.Store(true)
	}
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut.Load() {
		g.shut.Store(false)
		close(g.opened)
	}
}

// pass returns when the gate is open, or with ctx's error.
func (g *gate) pass(ctx context.Context) error {
	for g.shut.Load() {
		g.mu.Lock()
		opened := g.opened
		g.mu.Unlock()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-opened:
		}
	}
	return nil
}
