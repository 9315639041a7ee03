package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/capturefile"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/verify"
	"github.com/steno-io/steno/translate/trace"
)

// errNoEvent: the transcript has no event of that number.
var errNoEvent = errors.New("no such event")

// explaining is the explanation of one event in the making.
type explaining struct {
	library  *library
	archived bool // the library is an archive, which has every frame
	key      schema.Transcript
	number   uint64
	sealing  *archive.Sealing // nil: no archive is asked, or no seal covers the event

	info      sink.CaptureInfo
	stored    sink.Event
	is        schema.Event
	frames    []explainedFrame
	given     uint64 // events of the session that the fold gave
	again     []byte // what it gave in the event's place; nil: nothing
	unfolded  error  // the version is not in this build
	chain     string
	broken    error // of the chain
	inclusion *archive.Inclusion
	unproved  error // of the inclusion
}

// explainedFrame is a frame that an event is made of.
type explainedFrame struct {
	schema.Frame
	places []trace.Place
	leaf   [32]byte
}

// event reads the stored event.
func (e *explaining) event(ctx context.Context) (*schema.Event, error) {
	for stored, err := range e.library.Events(ctx, e.key, e.number-1, 1) {
		if err != nil {
			return nil, err
		}
		if stored.Seq == e.number {
			e.stored = stored
			if e.is, err = schema.DecodeEvent(stored.Bytes); err != nil {
				return nil, e.unfit("%w", err)
			}
			return &e.is, nil
		}
	}
	info, err := e.library.Capture(ctx, e.key.Identity)
	if err != nil {
		return nil, err
	}
	for _, session := range info.Sessions {
		if session.Session == e.key.Session && session.Head >= e.number {
			return nil, e.unfit("the event is missing, of %d", session.Head)
		}
	}
	return nil, fmt.Errorf("explain %s#%d: %w", e.key, e.number, errNoEvent)
}

// unfit is an error of what was read: it is not what it must be.
func (e *explaining) unfit(format string, args ...any) error {
	return fmt.Errorf("explain %s#%d: %w: %w", e.key, e.number, archive.ErrUnfit, fmt.Errorf(format, args...))
}

// short is the error of frames of which one is missing: a stream may have let go of it, an archive not.
func (e *explaining) short(format string, args ...any) error {
	if e.archived {
		return e.unfit(format, args...)
	}
	return fmt.Errorf("explain %s#%d: %w", e.key, e.number, fmt.Errorf(format, args...))
}

// run reads the frames from the first one on, folds them and checks their chain, up to the event's, or up to
// another behind it: then the proof of its inclusion is made.
func (e *explaining) run(ctx context.Context, upTo uint64) error {
	event, err := e.event(ctx)
	if err != nil {
		return err
	}
	if e.info, err = e.library.Capture(ctx, e.key.Identity); err != nil {
		return err
	}
	upTo = max(upTo, event.WorkerSeq)
	fold := newFold(e.key.Identity, e.info.Translator)
	finder := trace.NewFinder(event)
	var leaves archive.Leaves
	var leaf [32]byte // of the event's frame
	next := uint64(1)
	before := ""
	for f, err := range e.library.frames(ctx, e.key.Identity, 1) {
		if err != nil {
			return err
		}
		if f.Seq != next {
			return e.short("frame %d is wanted, and frame %d is the next that is left (with --archive they are read from there)", next, f.Seq)
		}
		next++
		e.link(&f, before)
		before = f.Chain
		is, err := schema.Leaf(f.Salt, f.Data)
		if err != nil {
			return e.unfit("frame %d: %w", f.Seq, err)
		}
		if err := leaves.Append(is); err != nil {
			return err
		}
		if f.Seq == event.WorkerSeq {
			leaf, e.chain = is, f.Chain
		}
		if f.Seq <= event.WorkerSeq {
			if err := e.fold(fold, &f); err != nil {
				return err
			}
		}
		if f.Seq == event.WorkerSeq || isOf(event, f.Seq) {
			e.frames = append(e.frames, explainedFrame{f, finder.In(&f), is})
		}
		if f.Seq == upTo {
			break
		}
	}
	if next <= upTo {
		return e.short("the frames end at %d, and frame %d is wanted", next-1, upTo)
	}
	if e.sealing != nil {
		p, err := leaves.Prove(event.WorkerSeq, e.sealing.Seal.Last, leaf, e.sealing.Seal.Root)
		e.inclusion, e.unproved = &p, err
	}
	return nil
}

// isOf reports whether the event accounts for a frame.
func isOf(e *schema.Event, frame uint64) bool {
	return slices.ContainsFunc(e.Frames, func(r schema.Range) bool { return r[0] <= frame && frame <= r[1] })
}

// link checks a frame's chain; the first that breaks is kept.
func (e *explaining) link(f *schema.Frame, before string) {
	want, err := schema.ChainHash(before, f)
	if err == nil && want != f.Chain {
		err = fmt.Errorf("frame %d has chain %s, its bytes, headers and predecessor give %s", f.Seq, f.Chain, want)
	}
	if e.broken == nil {
		e.broken = err
	}
}

// fold folds a frame, and keeps what it gives in the event's place.
func (e *explaining) fold(fold verify.Fold, f *schema.Frame) error {
	if e.unfolded != nil {
		return nil
	}
	events, err := fold.Step(f)
	if errors.Is(err, verify.ErrVersion) {
		e.unfolded = err
		return nil
	}
	if err != nil {
		return e.unfit("fold frame %d: %w", f.Seq, err)
	}
	for i := range events {
		if events[i].Ephemeral || events[i].Session != e.key.Session {
			continue
		}
		if e.given++; e.given == e.number {
			events[i].StoreSeq = e.number
			e.again = events[i].AppendJSON(nil)
		}
	}
	return nil
}

// follows reports whether the frames give the event as it is stored.
func (e *explaining) follows() bool { return e.unfolded == nil && bytes.Equal(e.again, e.stored.Bytes) }

// line is a frame as a line of an archive.
func (f *explainedFrame) line() ([]byte, error) {
	line, err := capturefile.AppendArchiveLine(nil, &f.Frame)
	return bytes.TrimSuffix(line, []byte{'\n'}), err
}

// code is the exit code.
func (e *explaining) code() int {
	switch {
	case e.broken != nil, e.unproved != nil, e.unfolded == nil && !e.follows():
		return exitChanged
	case e.unfolded != nil:
		return exitRuntime
	}
	return exitOK
}
