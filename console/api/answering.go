package api

import "sync"

// answering counts the requests that are being answered, until no more are let in.
type answering struct {
	mu     sync.Mutex
	closed bool
	count  sync.WaitGroup
}

// begin reports whether a request may be answered; done must follow then.
func (a *answering) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.count.Add(1)
	}
	return !a.closed
}

func (a *answering) done() { a.count.Done() }

// close lets no more in and waits for those that are.
func (a *answering) close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.count.Wait()
}
