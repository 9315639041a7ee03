package sink

import (
	"context"
	"sync"
)

// queue passes entries from a partition's reader to its writer, who takes all that is there. It is
// bounded in bytes: a slow ledger slows the reader down.
type queue struct {
	maxBytes int
	ready    chan struct{} // holds a token while entries wait
	room     chan struct{} // holds a token while there is room

	mu      sync.Mutex // guards what follows
	entries []Entry
	bytes   int
}

func newQueue(maxBytes int) *queue {
	return &queue{maxBytes: maxBytes, ready: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// entryBytes is what an entry takes beside its events, roughly.
const entryBytes = 512

// put waits for room, which an empty queue always has, and appends e.
func (q *queue) put(ctx context.Context, e Entry) error {
	size := e.bytes + entryBytes
	for {
		q.mu.Lock()
		if q.bytes == 0 || q.bytes+size <= q.maxBytes {
			q.entries, q.bytes = append(q.entries, e), q.bytes+size
			q.mu.Unlock()
			signal(q.ready)
			return nil
		}
		q.mu.Unlock()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-q.room:
		}
	}
}

// take waits for an entry and takes it with those behind it, at most maxEvents events of them all;
// one entry is taken whatever its size. It adds to dst.
func (q *queue) take(ctx context.Context, dst []Entry, maxEvents int) ([]Entry, error) {
	for {
		select {
		case <-ctx.Done():
			return dst, ctx.Err()
		case <-q.ready:
		}
		q.mu.Lock()
		n, events := 0, 0
		for n < len(q.entries) && (n == 0 || events+len(q.entries[n].facts) <= maxEvents) {
			events += len(q.entries[n].facts)
			q.bytes -= q.entries[n].bytes + entryBytes
			n++
		}
		dst = append(dst, q.entries[:n]...)
		left := copy(q.entries, q.entries[n:])
		clear(q.entries[left:])
		q.entries = q.entries[:left]
		q.mu.Unlock()
		signal(q.room)
		if left > 0 {
			signal(q.ready)
		}
		if n > 0 {
			return dst, nil
		}
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
