package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/steno-io/steno/schema"
)

// file is what a writer needs of its file; a test stands in for the disk.
type file interface {
	WriteAt(b []byte, off int64) (int, error)
	ReadAt(b []byte, off int64) (int, error)
	Truncate(size int64) error
	Sync() error
	Close() error
}

// Writer appends to one journal. It is safe for concurrent use; entries stand in the order in which
// appends got their turn, with times that never run back.
type Writer struct {
	path   string
	head   Head
	policy WhenFull
	report func(Notice)
	file   file
	dirty  chan struct{} // one token: something is not synced yet
	turn   chan struct{} // one token: held by who uses what follows; waiters can leave with their context

	space  space
	end    int64 // of the last whole entry
	last   int64 // time of the last entry, Unix ns
	buf    []byte
	gap    gap
	held   int   // Block: appends that wait for room
	failed error // Block: every later append of data fails too
	broken error // a part of an entry could not be cut off: nothing can follow it
	closed bool
	ended  chan struct{} // closed by Close
}

// Path is the journal's file.
func (w *Writer) Path() string { return w.path }

// Ended is closed once the journal is closed, and its lock given back.
func (w *Writer) Ended() <-chan struct{} { return w.ended }

// Size is how long the journal is, in bytes: all that was appended stands before it.
func (w *Writer) Size() int64 {
	w.turn <- struct{}{}
	defer w.give()
	return w.end
}

// hasFailed reports whether appends of data fail for ever.
func (w *Writer) hasFailed() bool {
	w.turn <- struct{}{}
	defer w.give()
	return w.failed != nil || w.broken != nil
}

// Head is the journal's head, with the id that it got.
func (w *Writer) Head() Head { return w.head }

// Append writes a chunk as read; the bytes are in the page cache when it returns. At the bound and on
// a full disk Block waits until there is room or ctx ends (ErrFull, ErrDiskFull); when a write fails
// for another reason it fails, now and for every later chunk. Pass counts what it cannot write as a
// gap and returns nil.
func (w *Writer) Append(ctx context.Context, from schema.From, at time.Time, b []byte) error {
	return w.AppendTo(ctx, Lane{}, from, at, b)
}

// AppendTo is Append for a place in an exchange.
func (w *Writer) AppendTo(ctx context.Context, lane Lane, from schema.From, at time.Time, b []byte) error {
	for len(b) > 0 {
		n := min(len(b), lane.maxChunk())
		if err := w.append(ctx, lane, from, schema.TypeData, at, b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// Control writes a control entry with info as its JSON payload, at most MaxData bytes of it. Close
// and gap entries are written in a full directory too, and after a failure as far as the disk lets them.
func (w *Writer) Control(ctx context.Context, typ schema.FrameType, at time.Time, info any) error {
	return w.ControlTo(ctx, Lane{}, typ, at, info)
}

// ControlTo is Control for a place in an exchange.
func (w *Writer) ControlTo(ctx context.Context, lane Lane, typ schema.FrameType, at time.Time, info any) error {
	payload, err := json.Marshal(info)
	if err != nil {
		return fmt.Errorf("append %s to journal %s: %w", typ, w.path, err)
	}
	if typ != schema.TypeClose && typ != schema.TypeGap {
		return w.append(ctx, lane, schema.FromControl, typ, at, payload)
	}
	if err := w.take(ctx); err != nil {
		return err
	}
	defer w.give()
	if err := w.fillGap(at.UnixNano()); err != nil {
		return err
	}
	return w.write(lane, schema.FromControl, typ, at.UnixNano(), payload)
}

func (w *Writer) append(ctx context.Context, lane Lane, from schema.From, typ schema.FrameType, at time.Time, data []byte) error {
	waiting := false
	for {
		if err := w.take(ctx); err != nil {
			if waiting {
				w.leave(err)
			}
			return err
		}
		full, err := w.try(lane, from, typ, at.UnixNano(), data)
		switch {
		case full != nil && !waiting:
			waiting = true
			w.hold(full)
		case full == nil && waiting:
			w.release(err)
		}
		w.give()
		if full == nil {
			return err
		}
		if err := w.wait(ctx, full); err != nil {
			return err
		}
	}
}

// try appends if there is room. full is why the chunk has to wait; without it, it is dealt with or
// err says why not. The turn is held.
func (w *Writer) try(lane Lane, from schema.From, typ schema.FrameType, ns int64, data []byte) (full, err error) {
	if w.failed != nil {
		return nil, w.failed
	}
	room, half, err := w.space.take(int64(entryHead + laneBytes + len(data)))
	if half {
		w.say(HalfFull, nil)
	}
	if err == nil && !room && w.policy == Block {
		return ErrFull, nil
	}
	if err == nil && !room {
		err = ErrFull
	}
	if err == nil {
		err = w.fillGap(ns)
	}
	if err == nil {
		err = w.write(lane, from, typ, ns, data)
	}
	if diskFull(err) && w.broken == nil && w.space.free(int64(entryHead+len(data))) > 0 {
		err = w.write(lane, from, typ, ns, data)
	}
	switch {
	case err == nil:
		if w.gap.open() {
			w.gap.told = nil
			w.say(Resumed, nil)
		}
		return nil, nil
	case errors.Is(err, ErrEntry): // it says nothing about the disk
		return nil, fmt.Errorf("append to journal %s: %w", w.path, err)
	case w.policy == Pass:
		w.miss(lane, from, ns, len(data), err)
		return nil, nil
	case diskFull(err) && w.broken == nil:
		return fmt.Errorf("%w: %w", ErrDiskFull, err), nil
	}
	w.failed = err
	w.say(Failed, err)
	return nil, err
}

// write appends one entry. After any answer but a clean one it looks at what the file holds: the
// whole entry counts as written; of anything less the file is cut back. The turn is held.
func (w *Writer) write(lane Lane, from schema.From, typ schema.FrameType, ns int64, data []byte) error {
	if w.broken != nil {
		return w.broken
	}
	ns = max(ns, w.last)
	buf, err := appendEntry(w.buf[:0], lane, from, typ, ns, data)
	if err != nil {
		return err
	}
	w.buf = buf
	if _, err := w.file.WriteAt(buf, w.end); err != nil && !w.stands(buf) {
		err = fmt.Errorf("append %d bytes to journal %s at %d: %w", len(buf), w.path, w.end, err)
		if cut := w.file.Truncate(w.end); cut != nil {
			w.broken = errors.Join(err, fmt.Errorf("cut journal %s back to %d: %w", w.path, w.end, cut))
			return w.broken
		}
		return err
	}
	w.end += int64(len(buf))
	w.last = ns
	select {
	case w.dirty <- struct{}{}:
	default:
	}
	return nil
}

// stands reports whether the file holds buf at its end.
func (w *Writer) stands(buf []byte) bool {
	have := make([]byte, len(buf))
	n, _ := w.file.ReadAt(have, w.end) // what cannot be read does not stand
	return n == len(buf) && bytes.Equal(have, buf)
}

func (w *Writer) take(ctx context.Context) error {
	select {
	case w.turn <- struct{}{}:
	default:
		select {
		case w.turn <- struct{}{}:
		case <-ctx.Done():
			return fmt.Errorf("append to journal %s: %w", w.path, context.Cause(ctx))
		}
	}
	if w.closed {
		w.give()
		return fmt.Errorf("append to journal %s: %w", w.path, ErrClosed)
	}
	return nil
}

func (w *Writer) give() { <-w.turn }

func (w *Writer) say(what What, err error) {
	if w.report == nil {
		return
	}
	n := Notice{What: what, Path: w.path, Err: err}
	if what == HalfFull || errors.Is(err, ErrFull) {
		n.Used, n.Max = w.space.used, w.space.max
	}
	w.report(n)
}
