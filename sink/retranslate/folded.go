package retranslate

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/verify"
)

// Folded is a capture that is stored nowhere: what a fold makes of its frames, as a ledger would have it.
type Folded struct {
	Info   sink.CaptureInfo
	frames []schema.Frame
	events map[uint32][]sink.Event
}

var _ Ledger = (*Folded)(nil)

// Fold folds a capture's frames, which are kept in memory, and so are their events.
func Fold(id schema.Identity, frames iter.Seq2[schema.Frame, error], fold verify.Fold) (*Folded, error) {
	f := &Folded{Info: sink.CaptureInfo{Capture: sink.Capture{Capture: id}}, events: map[uint32][]sink.Event{}}
	for frame, err := range frames {
		if err != nil {
			return nil, err
		}
		events, err := fold.Step(&frame)
		if err != nil {
			return nil, err
		}
		f.frames = append(f.frames, frame)
		for i := range events {
			if e := &events[i]; !e.Ephemeral {
				f.take(e)
			}
		}
	}
	for session, events := range f.events {
		f.Info.Sessions = append(f.Info.Sessions, sink.SessionInfo{Session: session, Head: uint64(len(events))})
	}
	slices.SortFunc(f.Info.Sessions, func(a, b sink.SessionInfo) int { return cmp.Compare(a.Session, b.Session) })
	return f, nil
}

func (f *Folded) take(e *schema.Event) {
	e.StoreSeq = uint64(len(f.events[e.Session]) + 1)
	f.events[e.Session] = append(f.events[e.Session], sink.Event{Seq: e.StoreSeq, Bytes: e.AppendJSON(nil)})
	f.Info.Last, f.Info.Translator = e.Origin(), e.Source.Translator
}

// Frames gives the frames again.
func (f *Folded) Frames(context.Context, schema.Identity) iter.Seq2[schema.Frame, error] {
	return func(yield func(schema.Frame, error) bool) {
		for _, frame := range f.frames {
			if !yield(frame, nil) {
				return
			}
		}
	}
}

// Events implements Ledger.
func (f *Folded) Events(_ context.Context, key schema.Transcript, after uint64, limit int) iter.Seq2[sink.Event, error] {
	return func(yield func(sink.Event, error) bool) {
		events := f.events[key.Session]
		events = events[min(after, uint64(len(events))):]
		for i, e := range events {
			if limit > 0 && i == limit || !yield(e, nil) {
				return
			}
		}
	}
}
