package stage

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go"
)

// errOtherStreams marks what was read before the connection was lost: the server may have come back with
// an older copy of its store, in which it is not. It is to be read again.
var errOtherStreams = errors.New("the connection was lost since it was read")

// gate holds frames and records while it is not known whether the streams are still what they were: the
// connection was lost, and the server may have come back with an older copy of its store. Else a frame of
// another past would be held against a capture, or a record be stored whose frames are not there.
type gate struct {
	conn   *nats.Conn
	seen   atomic.Uint64 // the connection whose streams were looked at
	shut   atomic.Bool
	mu     sync.Mutex
	opened chan struct{} // closed when it opens
}

// now numbers the connection. The client counts before anything can come over the new one.
func (g *gate) now() uint64 { return g.conn.Stats().Reconnects }

// same reports whether the connection is the one of that number, and the gate open: what was read over it
// stands.
func (g *gate) same(number uint64) bool {
	return !g.shut.Load() && g.seen.Load() == number && g.now() == number
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.shut.Load() {
		g.opened = make(chan struct{})
		g.shut.Store(true)
	}
}

// open opens it, once the streams were looked at over the connection of that number.
func (g *gate) open(number uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen.Store(number)
	if g.shut.Load() {
		g.shut.Store(false)
		close(g.opened)
	}
}

// pass returns the number of the connection when the gate is open, or ctx's error. A connection that
// nobody has looked at yet shuts it.
func (g *gate) pass(ctx context.Context) (number uint64, err error) {
	for {
		if number = g.seen.Load(); g.same(number) {
			return number, nil
		}
		g.close()
		g.mu.Lock()
		opened := g.opened
		g.mu.Unlock()
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-opened:
		}
	}
}
