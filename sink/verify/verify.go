// Package verify proves a ledger: it folds the frames again and holds the result against what is
// stored, byte for byte.
package verify

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// Frames is where the frames are read from.
type Frames interface {
	// Captures gives every capture that has frames, each once.
	Captures(ctx context.Context) iter.Seq2[Held, error]
	// Frames gives the frames of all captures as they are stored, those of each in their order, from
	// its first: at least all that an earlier call of Captures counted. A frame and its bytes are the
	// caller's. An error ends the sequence, and names the capture if it is about one; a
	// frame that is stored and cannot be had says why instead.
	Frames(ctx context.Context) iter.Seq2[Frame, error]
}

// Apart is what Frames may be as well: its captures can be read by themselves, and then several are at a time.
type Apart interface {
	// FramesOf gives the frames of one capture, as Frames does. It is safe for concurrent use.
	FramesOf(ctx context.Context, id schema.Identity) iter.Seq2[Frame, error]
}

// Held is a capture that has frames.
type Held struct {
	Capture schema.Identity
	Frames  uint64 // how many are held
}

// Frame is a frame and whose it is.
type Frame struct {
	Capture schema.Identity
	*schema.Frame
	// Unreadable is why the frame cannot be had: its bytes are gone, or its headers cannot be read. Then of
	// Frame there is what can be told, nil or without its data.
	Unreadable error
}

// Ledger is what is proved; see sink.Reader and sink.Auditor.
type Ledger interface {
	Captures(ctx context.Context, after string, limit int) ([]sink.CaptureInfo, error)
	Capture(ctx context.Context, id schema.Identity) (sink.CaptureInfo, error)
	Events(ctx context.Context, key schema.Transcript, after uint64, limit int) iter.Seq2[sink.Event, error]
}

// Lender is what a Ledger may be as well: its events need not be copied one by one.
type Lender interface {
	// Lend is Ledger.Events, but that the bytes of an event are good only until the next one is asked for.
	Lend(ctx context.Context, key schema.Transcript, after uint64, limit int) iter.Seq2[sink.Event, error]
	// LetGo says that no more of a transcript is read, which may not have been read to its end.
	LetGo(key schema.Transcript)
}

// Fold is the fold of one capture.
type Fold struct {
	// Step folds the capture's next frame and gives its events, durable and ephemeral, which are
	// good until the next call. An error says that no fold can take the frame, or wraps ErrVersion.
	Step func(f *schema.Frame) ([]schema.Event, error)
	// Open counts, by session, the frames that no event names yet.
	Open func() map[uint32]uint64
	// About tells, behind each frame that gave durable events, what changed about sessions, as a record
	// says it. It is needed where Options.Proved is.
	About func(f *schema.Frame, events []schema.Event) map[uint32]schema.About
}

// Proved is a frame whose durable events are those that are stored.
type Proved struct {
	Capture    schema.Identity
	Translator string
	Frame      *schema.Frame
	Events     []schema.Event // its durable ones, at least one, each with its number; good until the call returns
	Open       map[uint32]uint64
	About      map[uint32]schema.About
}

// Options of a run. Frames, Ledger and NewFold are needed.
type Options struct {
	Frames Frames
	Ledger Ledger
	// NewFold starts the fold of a capture by the translator version that its records name; empty
	// for a capture without records. It is called by several goroutines.
	NewFold func(id schema.Identity, version string) Fold

	// Only says which captures are proved; nil: all.
	Only func(id schema.Identity) bool
	// Settled gives the frame of a capture up to which everything was numbered before Run began: what
	// the fold gives up to there and the ledger does not have is missing, and beyond it lag, which is
	// only stated. nil: nothing is known to be settled.
	Settled func(id schema.Identity) uint64
	// Progress is called now and then, one call at a time.
	Progress func(Progress)
	// Leaves gives what hears of the leaf (schema.Leaf) of each frame of a capture whose chain could be made, in
	// their order; of several captures at the same time. It may be nil, and give nil.
	Leaves func(id schema.Identity) func(frame uint64, leaf [32]byte)
	// Proved is called with every frame that gave durable events, as soon as they are found to be those that
	// are stored: of each capture in order, until something of it does not agree; of several captures at
	// once. Its error ends the run. nil: nobody wants to know.
	Proved func(Proved) error
	// MaxFindings bounds the findings kept of each capture; 0 = 100. The others are counted.
	MaxFindings int
}

// Progress is how far a run has come.
type Progress struct {
	Captures int // done
	Total    int
	Frames   uint64 // folded
	Events   uint64 // compared
}

// Run proves every capture that has frames or stands in the ledger, or those that are asked for, as of its beginning. An error means
// that the streams or the ledger could not be read; what does not agree is a finding in the report, and so
// is a frame that cannot be had: the rest goes on.
func Run(ctx context.Context, o Options) (Report, error) {
	if o.MaxFindings <= 0 {
		o.MaxFindings = 100
	}
	r := &run{o: o, proofs: map[schema.Identity]*proof{}}
	if err := r.list(ctx); err != nil {
		return Report{}, err
	}
	if err := r.prove(ctx); err != nil {
		return Report{}, err
	}
	results := make([]result, len(r.order))
	for i, p := range r.order {
		results[i] = p.result
	}
	return summarise(results), nil
}

// run reads all frames once, in the order in which they are stored, and deals them out to lanes by
// capture: reading each capture by itself makes a server go over the frames of all others again. Where they
// stand apart, a lane reads the captures that it proves.
type run struct {
	o        Options
	proofs   map[schema.Identity]*proof
	order    []*proof   // by key
	mu       sync.Mutex // guards progress, and calls of o.Progress
	progress Progress
}

// list begins a proof of every capture of both sides. The ledger is asked first: what it holds comes
// from frames that are there by then.
func (r *run) list(ctx context.Context) error {
	const page = 1000
	for after := ""; ; {
		infos, err := r.o.Ledger.Captures(ctx, after, page)
		if err != nil {
			return err
		}
		if len(infos) == 0 {
			break
		}
		for _, c := range infos {
			after = c.Capture.Capture.String()
			if r.wants(c.Capture.Capture) {
				r.proofs[c.Capture.Capture] = r.proof(c)
			}
		}
	}
	for held, err := range r.o.Frames.Captures(ctx) {
		if err != nil {
			return fmt.Errorf("list captures with frames: %w", err)
		}
		if !r.wants(held.Capture) {
			continue
		}
		p := r.proofs[held.Capture]
		if p == nil {
			p = r.proof(sink.CaptureInfo{Capture: sink.Capture{Capture: held.Capture}})
			r.proofs[held.Capture] = p
		}
		p.left = held.Frames
	}
	r.order = slices.SortedFunc(maps.Values(r.proofs), func(a, b *proof) int { return strings.Compare(a.heads.Capture, b.heads.Capture) })
	r.progress.Total = len(r.order)
	return nil
}

func (r *run) wants(id schema.Identity) bool { return r.o.Only == nil || r.o.Only(id) }

// prove deals the frames out. The first error ends it.
func (r *run) prove(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	lanes := make([]*lane, min(len(r.order), runtime.GOMAXPROCS(0)))
	var wg sync.WaitGroup
	for i := range lanes {
		lanes[i] = newLane()
		wg.Go(func() { lanes[i].link(ctx) })
		wg.Go(func() {
			if err := lanes[i].prove(ctx); err != nil {
				stop(err)
			}
		})
	}
	if apart, ok := r.o.Frames.(Apart); ok {
		next := r.largestFirst()
		for _, l := range lanes {
			wg.Go(func() {
				if err := r.feed(ctx, l, apart, next); err != nil {
					stop(err)
				}
				close(l.batches)
			})
		}
	} else {
		if err := r.deal(ctx, lanes); err != nil {
			stop(err)
		}
		for _, l := range lanes {
			close(l.batches)
		}
	}
	wg.Wait()
	return context.Cause(ctx)
}

// largestFirst gives the proofs one by one, to whoever asks; nil behind the last.
func (r *run) largestFirst() func() *proof {
	order := slices.Clone(r.order)
	slices.SortStableFunc(order, func(a, b *proof) int { return cmp.Compare(b.left, a.left) })
	var asked atomic.Int64
	return func() *proof {
		if n := int(asked.Add(1)); n <= len(order) {
			return order[n-1]
		}
		return nil
	}
}

// feed gives a lane one capture after the other.
func (r *run) feed(ctx context.Context, l *lane, frames Apart, next func() *proof) error {
	for p := next(); p != nil; p = next() {
		p.lane = l
		if p.left > 0 {
			for f, err := range frames.FramesOf(ctx, p.id) {
				if err != nil {
					return fmt.Errorf("verify %s: %w", p.id, err)
				}
				if err := l.put(ctx, task{proof: p, frame: f.Frame, bad: f.Unreadable}); err != nil {
					return err
				}
				if p.left--; p.left == 0 {
					break
				}
			}
		}
		if err := l.put(ctx, task{proof: p}); err != nil {
			return err
		}
	}
	return l.flush(ctx)
}

// deal reads as many frames of each capture as were counted, fewer if they are gone.
func (r *run) deal(ctx context.Context, lanes []*lane) error {
	for i, p := range r.order {
		p.lane = lanes[i%len(lanes)]
	}
	open := 0
	for _, p := range r.order {
		if p.left > 0 {
			open++
		} else if err := p.lane.put(ctx, task{proof: p}); err != nil {
			return err
		}
	}
	if err := r.read(ctx, open); err != nil {
		return err
	}
	for _, p := range r.order {
		if p.left > 0 {
			if err := p.lane.put(ctx, task{proof: p}); err != nil {
				return err
			}
		}
	}
	for _, l := range lanes {
		if err := l.flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

// read gives the lanes the frames of so many captures.
func (r *run) read(ctx context.Context, open int) error {
	if open == 0 {
		return nil
	}
	for f, err := range r.o.Frames.Frames(ctx) {
		if err != nil && f.Capture != (schema.Identity{}) {
			return fmt.Errorf("verify %s: %w", f.Capture, err)
		}
		if err != nil {
			return err
		}
		p := r.proofs[f.Capture]
		if p == nil || p.left == 0 { // stored meanwhile
			continue
		}
		if err := p.lane.put(ctx, task{proof: p, frame: f.Frame, bad: f.Unreadable}); err != nil {
			return err
		}
		if p.left--; p.left > 0 {
			continue
		}
		if err := p.lane.put(ctx, task{proof: p}); err != nil {
			return err
		}
		if open--; open == 0 {
			return nil
		}
	}
	return nil
}

func (r *run) tell(captures int, frames, events uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress.Captures += captures
	r.progress.Frames += frames
	r.progress.Events += events
	if r.o.Progress != nil {
		r.o.Progress(r.progress)
	}
}
