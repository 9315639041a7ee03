package filing

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema"
)

// Bounds of what waits to be appended in all outboxes together. A frame larger than the bound passes
// alone.
const (
	waitingFrames = 4000
	waitingBytes  = 16 << 20
)

// idleOutbox is how long an outbox without frames stays.
const idleOutbox = 10 * time.Second

// outboxes append the frames of many captures side by side, those of one in order.
type outboxes struct {
	make  func(id schema.Identity, first *schema.Frame, at *publish.Head) (*publish.Appender, error)
	fail  func(error) // ends the publisher
	hurt  func(schema.Identity, error)
	group sync.WaitGroup

	mu      sync.Mutex
	by      map[schema.Identity]*outbox
	frames  int // waiting or being appended
	bytes   int
	past    map[schema.Identity]*sent
	changed chan struct{} // closed and made anew at each change
}

// outbox is one capture's frames on their way.
type outbox struct {
	waiting []schema.Frame
	came    chan struct{}
}

// sent is what is known of a capture that frames were given to.
type sent struct {
	given  uint64        // offset of the last frame
	first  uint64        // offset of the first one that is not stored; 0 if all are
	head   *publish.Head // as the last append left it
	failed error         // what no further try mends
}

func newOutboxes() *outboxes {
	return &outboxes{by: map[schema.Identity]*outbox{}, past: map[schema.Identity]*sent{}}
}

// put takes a frame; it waits while too much is on its way. Frames of one capture must rise by their
// offsets: one that does not would be taken for one that is stored.
func (o *outboxes) put(ctx context.Context, id schema.Identity, f schema.Frame) error {
	for {
		o.mu.Lock()
		ok, err := o.try(ctx, id, f)
		if ok || err != nil {
			o.mu.Unlock()
			return err
		}
		changed := o.watch()
		o.mu.Unlock()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// try is put where there is room; o.mu is held.
func (o *outboxes) try(ctx context.Context, id schema.Identity, f schema.Frame) (ok bool, err error) {
	if o.frames > 0 && (o.frames >= waitingFrames || o.bytes+len(f.Data) > waitingBytes) {
		return false, nil
	}
	past := o.past[id]
	if past == nil {
		past = &sent{}
		o.past[id] = past
	}
	if f.Writer.Offset <= past.given {
		return false, fmt.Errorf("file a frame of exchange %s in capture %s: it ends at %d, behind one that ends at %d",
			f.Exchange, id, f.Writer.Offset, past.given)
	}
	past.given = f.Writer.Offset
	if past.first == 0 {
		past.first = f.Writer.Offset
	}
	if past.failed != nil { // it stays in the journal
		return true, nil
	}
	o.frames++
	o.bytes += len(f.Data)
	one := o.by[id]
	if one == nil {
		one = &outbox{came: make(chan struct{}, 1)}
		o.by[id] = one
		o.group.Go(func() { o.run(ctx, id, one, past.head) })
	}
	one.waiting = append(one.waiting, f)
	select {
	case one.came <- struct{}{}:
	default:
	}
	return true, nil
}

// watch gives a channel that is closed at the next change; o.mu is held.
func (o *outboxes) watch() <-chan struct{} {
	if o.changed == nil {
		o.changed = make(chan struct{})
	}
	return o.changed
}

// change tells waiters; o.mu is held.
func (o *outboxes) change() {
	if o.changed != nil {
		close(o.changed)
		o.changed = nil
	}
}

// run appends one capture's frames until none come for a while.
func (o *outboxes) run(ctx context.Context, id schema.Identity, one *outbox, at *publish.Head) {
	var appender *publish.Appender
	defer func() { appender.Close() }()
	idle := time.NewTimer(idleOutbox)
	defer idle.Stop()
	for {
		o.mu.Lock()
		frames := one.waiting
		one.waiting = nil
		o.mu.Unlock()
		if len(frames) == 0 {
			idle.Reset(idleOutbox)
			select {
			case <-ctx.Done():
				return
			case <-one.came:
			case <-idle.C:
				if o.leave(id, one) {
					return
				}
			}
			continue
		}
		var err error
		if appender == nil {
			appender, err = o.make(id, &frames[0], at)
		}
		if err == nil {
			err = appender.Append(ctx, frames)
		}
		if err != nil && (ctx.Err() != nil || !publish.Hopeless(err)) {
			o.fail(fmt.Errorf("append to capture %s: %w", id, err))
			return
		}
		if err != nil {
			o.giveUp(id, one, frames, err)
			return
		}
		o.done(id, one, frames, appender.Head())
	}
}

// leave ends an outbox that is empty.
func (o *outboxes) leave(id schema.Identity, one *outbox) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(one.waiting) > 0 {
		return false
	}
	delete(o.by, id)
	return true
}

// done notes that frames are stored.
func (o *outboxes) done(id schema.Identity, one *outbox, frames []schema.Frame, head publish.Head) {
	o.mu.Lock()
	defer o.mu.Unlock()
	past := o.past[id]
	past.head, past.first = &head, 0
	if len(one.waiting) > 0 {
		past.first = one.waiting[0].Writer.Offset
	}
	o.less(frames)
}

// giveUp notes that a capture takes no more frames; the others go on.
func (o *outboxes) giveUp(id schema.Identity, one *outbox, frames []schema.Frame, err error) {
	o.mu.Lock()
	o.past[id].failed = err
	o.less(frames)
	o.less(one.waiting)
	one.waiting = nil
	delete(o.by, id)
	o.mu.Unlock()
	o.hurt(id, err)
}

// less takes frames off what is on its way; o.mu is held.
func (o *outboxes) less(frames []schema.Frame) {
	o.frames -= len(frames)
	for i := range frames {
		o.bytes -= len(frames[i].Data)
	}
	o.change()
}

// settle waits until nothing is on its way.
func (o *outboxes) settle(ctx context.Context) error {
	for {
		o.mu.Lock()
		empty, changed := o.frames == 0, o.watch()
		o.mu.Unlock()
		if empty {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// lowest is the offset of the first frame that is not stored; ok is false if all are. Those of captures
// that take no more count if asked for. o.mu is held.
func (o *outboxes) lowest(failed bool) (offset uint64, ok bool) {
	for _, s := range o.past {
		if s.first != 0 && (failed || s.failed == nil) && (!ok || s.first < offset) {
			offset, ok = s.first, true
		}
	}
	return offset, ok
}

// captures gives what is known of each capture: the number of its last frame.
func (o *outboxes) captures() map[schema.Identity]uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	captures := map[schema.Identity]uint64{}
	for id, s := range o.past {
		if s.head != nil {
			captures[id] = s.head.Frames
		}
	}
	return captures
}

// failure is what was not stored for good, nil if nothing.
func (o *outboxes) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	var errs []error
	for id, s := range maps.All(o.past) {
		if s.failed != nil {
			errs = append(errs, fmt.Errorf("capture %s: %w", id, s.failed))
		}
	}
	return errors.Join(errs...)
}
