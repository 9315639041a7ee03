package publish

import (
	"context"
	"errors"
	"fmt"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// Resume reads what the subject holds and gives the head. It tries again until ctx ends; an error
// wraps ErrSubject, or is the one that Stored returned.
func (a *Appender) Resume(ctx context.Context) (Head, error) {
	wait := firstWait
	for {
		a.head = Head{}
		err := a.start(ctx)
		if err == nil {
			a.resumed = true
			return a.head, nil
		}
		err = fmt.Errorf("resume %s: %w", a.o.Identity, err)
		if final(err) {
			return a.head, err
		}
		if err := a.pause(ctx, err, &wait); err != nil {
			return a.head, err
		}
	}
}

// start reads the subject; where an own frame is the last, that one says everything.
func (a *Appender) start(ctx context.Context) error {
	m, ok, err := topology.Last(ctx, a.o.JS, topology.Raw, a.subject)
	if err != nil || !ok {
		return err
	}
	f, err := schema.FrameFromHeader(m.Header, nil)
	if err != nil {
		return fmt.Errorf("read last frame at sequence %d: %w: %w", m.Seq, ErrSubject, err)
	}
	if f.Writer.Journal == a.o.Journal && a.o.Stored == nil {
		a.head = Head{Frames: f.Seq, Sequence: m.Seq, Chain: f.Chain, Own: true, Offset: f.Writer.Offset}
		return nil
	}
	return a.read(ctx)
}

// read takes what is stored behind the last known sequence.
func (a *Appender) read(ctx context.Context) error {
	for m, err := range topology.Read(ctx, a.o.JS, topology.Raw, a.subject, a.head.Sequence+1) {
		if err != nil {
			return err
		}
		if err := a.take(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// take moves the head over one stored message.
func (a *Appender) take(ctx context.Context, m topology.Message) error {
	f, err := schema.FrameFromHeader(m.Header, m.Data)
	if err != nil {
		return fmt.Errorf("read frame at sequence %d: %w: %w", m.Seq, ErrSubject, err)
	}
	if f.Seq != a.head.Frames+1 {
		if err := a.returned(ctx, m, f); err != nil {
			return err
		}
	}
	if f.Writer.Journal != a.o.Journal {
		a.head.Foreign = true
	} else if err := a.own(ctx, m, f); err != nil {
		return err
	}
	a.head.Frames, a.head.Sequence, a.head.Chain = f.Seq, m.Seq, f.Chain
	return nil
}

// returned takes the head over frames that are not there any more: what was given back says how far each
// journal had come by then. Where nothing says so the journal's own mark counts, which may say too little.
func (a *Appender) returned(ctx context.Context, m topology.Message, f schema.Frame) error {
	r, err := topology.ReadReturned(ctx, a.o.JS, a.o.Identity)
	if err != nil {
		return err
	}
	switch {
	case f.Seq > a.head.Frames+1 && f.Seq <= r.Frame+1:
		if offset, own := r.Writers[a.o.Journal]; own {
			a.head.Own, a.head.Offset = true, max(a.head.Offset, offset)
		}
		a.head.Foreign = a.head.Foreign || len(r.Writers) > 1 || !a.head.Own
	case a.head.Sequence == 0:
		a.head.Own, a.head.Offset = a.o.Mark > 0, a.o.Mark
	default:
		return fmt.Errorf("read frame at sequence %d: number %d behind number %d: %w", m.Seq, f.Seq, a.head.Frames, ErrSubject)
	}
	return nil
}

func (a *Appender) own(ctx context.Context, m topology.Message, f schema.Frame) error {
	if a.o.Stored != nil {
		f, _, err := a.o.Blobs.Frame(ctx, m)
		if err != nil {
			return err
		}
		if err := a.o.Stored(f); err != nil {
			return &storedError{fmt.Errorf("compare frame %d of %s: %w", f.Seq, a.o.Identity, err)}
		}
	}
	a.head.Own, a.head.Offset = true, max(a.head.Offset, f.Writer.Offset)
	return nil
}

// reconcile looks at the subject after an append that was not acknowledged cleanly.
func (a *Appender) reconcile(ctx context.Context, outcome topology.Outcome) error {
	wait := firstWait
	for {
		err := a.look(ctx, outcome)
		if err == nil || final(err) {
			return err
		}
		if err := a.pause(ctx, fmt.Errorf("look at %s after an append: %w", a.o.Identity, err), &wait); err != nil {
			return err
		}
	}
}

func (a *Appender) look(ctx context.Context, outcome topology.Outcome) error {
	before := a.head.Sequence
	if err := a.read(ctx); err != nil {
		return err
	}
	if outcome != topology.Refused || a.head.Sequence != before || before == 0 {
		return nil
	}
	// Refused, and nothing came: is our last message still the last?
	m, ok, err := topology.Last(ctx, a.o.JS, topology.Raw, a.subject)
	if err != nil {
		return err
	}
	if !ok || m.Seq < before {
		return fmt.Errorf("append to %s behind sequence %d: %w", a.o.Identity, before, ErrReplaced)
	}
	return nil
}

// storedError marks an error of the caller's Stored, which no further try mends.
type storedError struct{ error }

func (e *storedError) Unwrap() error { return e.error }

// final reports whether trying again cannot mend the error.
func final(err error) bool {
	var stored *storedError
	return errors.Is(err, ErrSubject) || errors.Is(err, ErrReplaced) || errors.Is(err, topology.ErrBlob) || errors.As(err, &stored)
}
