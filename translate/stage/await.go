package stage

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/steno-io/steno/schema"
)

var (
	// ErrNotOwned marks a capture in a partition that this worker does not own.
	ErrNotOwned = errors.New("partition is not owned by this worker")
	// ErrStopped marks a wait that the worker's end cut short.
	ErrStopped = errors.New("stage worker has stopped")
)

// Committed waits until every durable event of the capture's frames 1 to frame is acknowledged. It may
// be called before Run and before the frames are stored. An error wraps ErrParked if the capture is
// parked before that frame, ErrNotOwned, ErrStopped, or ctx's error.
func (w *Worker) Committed(ctx context.Context, id schema.Identity, frame uint64) error {
	err := w.committed(ctx, id, frame)
	if err != nil {
		return fmt.Errorf("wait for frame %d of %s: %w", frame, id, err)
	}
	return nil
}

func (w *Worker) committed(ctx context.Context, id schema.Identity, frame uint64) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-w.stopped:
		return ErrStopped
	case <-w.ready:
	}
	p := w.serving.get(id.Partition(w.info.Partitions))
	if p == nil {
		return ErrNotOwned
	}
	one := p.waiting.add(id, frame)
	defer p.waiting.remove(id, one)
	// A partition that is taken anew looks after those who wait by then; who comes later asks the new one.
	if now := w.serving.get(p.number); now != nil {
		now.errands.add(func(ctx context.Context) error { return now.wakeFor(ctx, id) })
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-w.stopped:
		return ErrStopped
	case err := <-one.done:
		return err
	}
}

// waiting holds who waits for a capture of a partition.
type waiting struct {
	count atomic.Int64
	mu    sync.Mutex
	by    map[schema.Identity][]*waiter
}

type waiter struct {
	frame uint64
	done  chan error // takes one answer
}

func (w *waiting) add(id schema.Identity, frame uint64) *waiter {
	one := &waiter{frame: frame, done: make(chan error, 1)}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.by == nil {
		w.by = map[schema.Identity][]*waiter{}
	}
	w.by[id] = append(w.by[id], one)
	w.count.Add(1)
	return one
}

// ids are the captures that somebody waits for.
func (w *waiting) ids() []schema.Identity {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.by))
}

func (w *waiting) remove(id schema.Identity, one *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.by[id] = slices.DeleteFunc(w.by[id], func(other *waiter) bool { return other == one })
	if len(w.by[id]) == 0 {
		delete(w.by, id)
	}
	w.count.Add(-1)
}

// settle answers who waits for what the capture has reached, or will never reach. c.mu is held.
func (w *waiting) settle(c *capture) {
	if w.count.Load() == 0 {
		return
	}
	through := c.through()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.by[c.id] {
		var answer error
		if one.frame > through {
			if !c.parkedStored {
				continue
			}
			answer = fmt.Errorf("%w: %s at frame %d: %s", ErrParked, c.parked.Reason, c.parked.Frame, c.parked.Error)
		}
		select {
		case one.done <- answer:
		default: // it has one
		}
	}
}
