package sink

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// ErrStopped: the sink ended before what was waited for was stored.
var ErrStopped = errors.New("sink stopped")

// progress tells waiters how far each partition is stored.
type progress struct {
	mu     sync.Mutex // guards what follows
	stored map[uint32]uint64
	moved  chan struct{} // closed and made anew at each change
	done   bool
	err    error // why it is done
}

func newProgress() *progress {
	return &progress{stored: map[uint32]uint64{}, moved: make(chan struct{})}
}

func (p *progress) set(partition uint32, seq uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stored[partition] = seq
	close(p.moved)
	p.moved = make(chan struct{})
}

func (p *progress) stop(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.err = true, err
	close(p.moved)
	p.moved = make(chan struct{})
}

func (p *progress) wait(ctx context.Context, partition uint32, seq uint64) error {
	for {
		p.mu.Lock()
		reached, moved, done, err := p.stored[partition] >= seq, p.moved, p.done, p.err
		p.mu.Unlock()
		switch {
		case reached:
			return nil
		case done && err != nil:
			return fmt.Errorf("wait for sequence %d of partition %d: %w: %w", seq, partition, ErrStopped, err)
		case done:
			return fmt.Errorf("wait for sequence %d of partition %d: %w", seq, partition, ErrStopped)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for sequence %d of partition %d: %w", seq, partition, ctx.Err())
		case <-moved:
		}
	}
}
