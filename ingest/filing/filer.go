package filing

import (
	"context"
	"math"
	"time"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	wire "github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// answerWithin is how long an exchange that names no conversation waits for its first whole answer,
// from the first byte of one.
const answerWithin = 5 * time.Second

// keys is what a filer needs of topology.FiledKeys: a key is written once and never changed.
type keys interface {
	Get(ctx context.Context, key string) (topology.Filing, bool, error)
	Keep(ctx context.Context, key string, f topology.Filing) (topology.Filing, error)
}

// filer decides which capture each exchange belongs to, and holds its frames until that is decided.
// Decided frames go to out in the order of their offsets, those of one capture at least.
type filer struct {
	head  journal.Head
	again uint64 // what stands before was filed by an earlier run, most of it
	keys  keys
	out   func(ctx context.Context, id schema.Identity, f schema.Frame) error
	tree  jsontree.Reader
	open  map[string]*attribution
	held  []*attribution // undecided, or waiting for their place, by their first frame
	tasks map[string]schema.Identity

	at   uint64                     // first byte of the entry being filed
	last map[schema.Identity]uint64 // the last place given to a held frame there, by capture
}

// attribution is what is known of where an exchange belongs that has not ended.
type attribution struct {
	exchange string
	capture  schema.Identity
	decided  bool // frames go to the capture
	bound    bool // what it was asked with names its conversation
	looked   bool // for an earlier run's decision
	known    bool // an earlier run decided; the frames begin at place
	place    uint64
	asked    wire.Names // by its request
	frames   []schema.Frame
	answered time.Time // first byte of an answer
	kept     bool      // an answer's task is in the bucket
}

func newFiler(h journal.Head, again uint64, k keys, out func(context.Context, schema.Identity, schema.Frame) error) *filer {
	return &filer{
		head: h, again: again, keys: k, out: out, tree: jsontree.Reader{Depth: wire.Depth}, open: map[string]*attribution{},
		tasks: map[string]schema.Identity{}, last: map[schema.Identity]uint64{},
	}
}

// file files the frames that were cut from an entry.
func (f *filer) file(ctx context.Context, e journal.Entry, frames []schema.Frame) error {
	if err := f.come(ctx, e.Start(), e.At); err != nil {
		return err
	}
	if e.Type == schema.TypeHTTP && e.Chan != schema.ChanRequest && e.Chan != schema.ChanPush {
		if x := f.open[e.Exchange.String()]; x != nil && x.answered.IsZero() {
			x.answered = e.At
		}
	}
	return f.frames(ctx, frames)
}

// frames files frames one by one.
func (f *filer) frames(ctx context.Context, frames []schema.Frame) error {
	for i := range frames {
		if err := f.frame(ctx, &frames[i]); err != nil {
			return err
		}
	}
	return nil
}

// come goes to a place in the journal: what was held until there, or waited long enough by then, goes
// out before what stands there.
func (f *filer) come(ctx context.Context, place uint64, now time.Time) error {
	if place != f.at {
		f.at = place
		clear(f.last)
	}
	if err := f.releaseKnown(ctx, place+releaseSlots); err != nil {
		return err
	}
	var late []*attribution
	for _, x := range f.held {
		if !x.known && !x.answered.IsZero() && now.Sub(x.answered) >= answerWithin {
			late = append(late, x)
		}
	}
	for _, x := range late {
		if err := f.decide(ctx, x, f.own(x.exchange)); err != nil {
			return err
		}
	}
	return nil
}

// end releases what is held still at the journal's end: a journal that lost its end does not reach the
// places that an earlier reader decided on.
func (f *filer) end(ctx context.Context) error { return f.releaseKnown(ctx, math.MaxUint64) }

// due is when the next exchange has waited long enough; zero if none waits for a time.
func (f *filer) due() (at time.Time) {
	for _, x := range f.held {
		if x.known || x.answered.IsZero() {
			continue
		}
		if end := x.answered.Add(answerWithin); at.IsZero() || end.Before(at) {
			at = end
		}
	}
	return at
}

// waiting is the offset of the first frame that is held; ok is false if none is.
func (f *filer) waiting() (offset uint64, ok bool) {
	for _, x := range f.held {
		if len(x.frames) > 0 && (!ok || x.frames[0].Writer.Offset < offset) {
			offset, ok = x.frames[0].Writer.Offset, true
		}
	}
	return offset, ok
}

// frame files one frame: it goes out, or waits until its exchange is decided.
func (f *filer) frame(ctx context.Context, frame *schema.Frame) error {
	x := f.open[frame.Exchange]
	if x == nil {
		x = f.begin(frame.Exchange)
	}
	original := frame.Type == schema.TypeData && !isServed(frame)
	answers := original && frame.Chan != schema.ChanRequest
	switch {
	case x.decided:
		if answers && !x.kept {
			if err := f.keep(ctx, x, f.answerNames(frame).Task); err != nil {
				return err
			}
		}
		if err := f.out(ctx, x.capture, *frame); err != nil {
			return err
		}
	default:
		x.frames = append(x.frames, *frame)
		if err := f.consider(ctx, x, frame, original, answers); err != nil {
			return err
		}
	}
	if frame.Type == schema.TypeClose && x.decided {
		delete(f.open, x.exchange)
	}
	return nil
}

func (f *filer) begin(exchange string) *attribution {
	x := &attribution{exchange: exchange}
	if exchange == "" { // a gap of the journal that no exchange can be named for
		x.capture, x.decided = f.conversation("journal/"+f.head.ID), true
		return x
	}
	f.open[exchange] = x
	f.held = append(f.held, x)
	return x
}
