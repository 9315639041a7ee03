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
	"github.com/steno-io/steno/schema/topology"
)

// Bounds of what waits to be appended in all lanes together. A frame larger than the bound passes alone.
const (
	waitingFrames = 4000
	waitingBytes  = 16 << 20
)

// idleLane is how long a lane without frames keeps what it knows of its subject.
const idleLane = 10 * time.Second

// lanes append the frames of many captures side by side, those of one in order.
type lanes struct {
	make  func(id schema.Identity, first *schema.Frame) (*publish.Appender, error)
	fail  func(error) // ends the publisher
	hurt  func(schema.Identity, error)
	group sync.WaitGroup

	mu      sync.Mutex
	by      map[schema.Identity]*lane
	frames  int // waiting or being appended
	bytes   int
	stored  map[schema.Identity]uint64 // the number of the last frame known, by capture
	failed  map[schema.Identity]error  // what no further try mends
	changed chan struct{}              // closed and made anew at each change
}

// lane is one capture's frames on their way.
type lane struct {
	waiting []schema.Frame
	first   uint64 // offset of the first one that is not stored
	came    chan struct{}
}

// put takes a frame; it waits while too much is on its way.
func (l *lanes) put(ctx context.Context, id schema.Identity, f schema.Frame) error {
	for {
		l.mu.Lock()
		if l.failed[id] != nil { // it stays in the journal
			l.mu.Unlock()
			return nil
		}
		if l.frames == 0 || l.frames < waitingFrames && l.bytes+len(f.Data) <= waitingBytes {
			l.add(ctx, id, f)
			l.mu.Unlock()
			return nil
		}
		changed := l.watch()
		l.mu.Unlock()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// add is put with room; l.mu is held.
func (l *lanes) add(ctx context.Context, id schema.Identity, f schema.Frame) {
	l.frames++
	l.bytes += len(f.Data)
	one := l.by[id]
	if one == nil {
		one = &lane{came: make(chan struct{}, 1)}
		l.by[id] = one
		l.group.Go(func() { l.run(ctx, id, one) })
	}
	if one.first == 0 {
		one.first = f.Writer.Offset
	}
	one.waiting = append(one.waiting, f)
	select {
	case one.came <- struct{}{}:
	default:
	}
}

// watch gives a channel that is closed at the next change; l.mu is held.
func (l *lanes) watch() <-chan struct{} {
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.changed
}

// change tells waiters; l.mu is held.
func (l *lanes) change() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// run appends one capture's frames until none come for a while.
func (l *lanes) run(ctx context.Context, id schema.Identity, one *lane) {
	var appender *publish.Appender
	idle := time.NewTimer(idleLane)
	defer idle.Stop()
	for {
		l.mu.Lock()
		frames := one.waiting
		one.waiting = nil
		l.mu.Unlock()
		if len(frames) == 0 {
			idle.Reset(idleLane)
			select {
			case <-ctx.Done():
				return
			case <-one.came:
			case <-idle.C:
				if l.leave(id, one) {
					return
				}
			}
			continue
		}
		var err error
		if appender == nil {
			appender, err = l.make(id, &frames[0])
		}
		if err == nil {
			err = appender.Append(ctx, frames)
		}
		if !l.done(ctx, id, one, appender, frames, err) {
			return
		}
	}
}

// leave ends a lane that is empty.
func (l *lanes) leave(id schema.Identity, one *lane) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(one.waiting) > 0 {
		return false
	}
	delete(l.by, id)
	return true
}

// done notes what became of frames, and reports whether the lane goes on.
func (l *lanes) done(ctx context.Context, id schema.Identity, one *lane, a *publish.Appender, frames []schema.Frame, err error) bool {
	if err != nil && (ctx.Err() != nil || !hopeless(err)) {
		l.fail(fmt.Errorf("append to capture %s: %w", id, err))
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.change()
	if err != nil { // the others go on
		l.failed[id] = err
		frames = append(frames, one.waiting...)
		one.waiting = nil
		delete(l.by, id)
		l.hurt(id, err)
	} else {
		l.stored[id] = a.Head().Frames
	}
	l.frames -= len(frames)
	for i := range frames {
		l.bytes -= len(frames[i].Data)
	}
	one.first = 0
	if len(one.waiting) > 0 {
		one.first = one.waiting[0].Writer.Offset
	}
	return err == nil
}

// hopeless tells errors of one capture that no other try mends.
func hopeless(err error) bool {
	return errors.Is(err, publish.ErrSubject) || errors.Is(err, publish.ErrUnstorable) || errors.Is(err, topology.ErrBlob)
}

// lowest is the offset of the first frame that is not stored; ok is false if all are. l.mu is held.
func (l *lanes) lowest() (offset uint64, ok bool) {
	for _, one := range l.by {
		if one.first != 0 && (!ok || one.first < offset) {
			offset, ok = one.first, true
		}
	}
	return offset, ok
}

// captures gives what is known of each capture: the number of its last frame.
func (l *lanes) captures() map[schema.Identity]uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.stored)
}

// failure is what was not stored for good, nil if nothing.
func (l *lanes) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for id, err := range l.failed {
		errs = append(errs, fmt.Errorf("capture %s: %w", id, err))
	}
	return errors.Join(errs...)
}
