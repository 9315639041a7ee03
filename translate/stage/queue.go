package stage

import "sync"

// queue holds the captures that have something to store, each at most once (capture.queued).
type queue struct {
	mu     sync.Mutex
	some   sync.Cond
	items  []*capture
	closed bool
}

func newQueue() *queue {
	q := &queue{}
	q.some.L = &q.mu
	return q
}

func (q *queue) push(c *capture) {
	q.mu.Lock()
	q.items = append(q.items, c)
	q.mu.Unlock()
	q.some.Signal()
}

// pop waits for a capture; ok is false when the queue is closed.
func (q *queue) pop() (c *capture, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 && !q.closed {
		q.some.Wait()
	}
	if q.closed {
		return nil, false
	}
	c = q.items[0]
	q.items[0] = nil
	q.items = q.items[1:]
	return c, true
}

func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.some.Broadcast()
}
