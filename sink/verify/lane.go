package verify

import (
	"context"
	"fmt"

	"github.com/steno-io/steno/schema"
)

// Frames are handed to a lane in batches of so many, or fewer if they are large.
const (
	batchFrames = 256
	batchBytes  = 1 << 20
)

// lane proves some of the captures, each of its frames in their order, on a goroutine of its own.
type lane struct {
	batches chan []task
	next    []task
	size    int
	buf     []byte // an event's encoding, while it is compared
}

// task is a capture's next frame, or, without one and without why, that no more come.
type task struct {
	proof *proof
	frame *schema.Frame
	bad   error // why the frame cannot be had; it may be nil then
}

func newLane() *lane { return &lane{batches: make(chan []task, 2)} }

// put hands a task over with some others.
func (l *lane) put(ctx context.Context, t task) error {
	l.next = append(l.next, t)
	if t.frame != nil {
		l.size += len(t.frame.Data)
	}
	if len(l.next) < batchFrames && l.size < batchBytes {
		return nil
	}
	return l.flush(ctx)
}

func (l *lane) flush(ctx context.Context) error {
	if len(l.next) == 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case l.batches <- l.next:
		l.next, l.size = make([]task, 0, batchFrames), 0
		return nil
	}
}

// run proves what comes until no more does.
func (l *lane) run(ctx context.Context) error {
	for batch := range l.batches {
		for _, t := range batch {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := l.task(ctx, t); err != nil {
				return fmt.Errorf("verify %s: %w", t.proof.id, err)
			}
		}
	}
	return nil
}

func (l *lane) task(ctx context.Context, t task) error {
	t.proof.ctx = ctx
	switch {
	case t.bad != nil:
		t.proof.unreadable(t.frame, t.bad)
		return nil
	case t.frame == nil:
		return t.proof.end()
	}
	return t.proof.frame(t.frame)
}
