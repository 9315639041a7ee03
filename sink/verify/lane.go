package verify

import (
	"context"
	"fmt"
	"sync"

	"github.com/steno-io/steno/schema"
)

// Frames are handed to a lane in batches of so many, or fewer if they are large.
const (
	batchFrames = 256
	batchBytes  = 1 << 20
)

// lane proves some of the captures, the frames of each in their order, in stages that work side by side:
//
//	put ──▶ link: numbers, leaves, chain ──▶ prove: fold, compare ◀── load: stored events
type lane struct {
	batches chan []task
	linked  chan []task
	next    []task
	size    int
	buf     []byte // an event's encoding, while it is compared
	spare   []page
	loading sync.WaitGroup
}

// task is a capture's next frame, or, without one and without why, that no more come.
type task struct {
	proof *proof
	frame *schema.Frame
	bad   error // why the frame cannot be had; it may be nil then
	is    linked
}

func newLane() *lane { return &lane{batches: make(chan []task, 2), linked: make(chan []task, 2)} }

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

// link checks what holds the frames together, until no more come.
func (l *lane) link(ctx context.Context) {
	defer close(l.linked)
	for batch := range l.batches {
		for i := range batch {
			batch[i].link()
		}
		select {
		case <-ctx.Done():
			return
		case l.linked <- batch:
		}
	}
}

func (t *task) link() {
	switch {
	case t.bad != nil:
		t.is = t.proof.links.unreadable(t.frame)
	case t.frame != nil:
		t.is = t.proof.links.frame(t.frame)
	}
}

// prove folds and compares what was linked, until no more comes.
func (l *lane) prove(ctx context.Context) error {
	defer l.loading.Wait()
	for batch := range l.linked {
		for i := range batch {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := batch[i].prove(ctx); err != nil {
				return fmt.Errorf("verify %s: %w", batch[i].proof.id, err)
			}
		}
	}
	return nil
}

func (t *task) prove(ctx context.Context) error {
	t.proof.ctx = ctx
	switch {
	case t.bad != nil:
		t.proof.unreadable(t.frame, t.is, t.bad)
		return nil
	case t.frame == nil:
		return t.proof.end()
	}
	return t.proof.frame(t.frame, t.is)
}
