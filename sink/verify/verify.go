// Package verify proves a ledger: it folds the frames again and holds the result against what is
// stored, byte for byte.
package verify

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// Frames is where the frames are read from.
type Frames interface {
	// Captures gives every capture that has frames, each once.
	Captures(ctx context.Context) iter.Seq2[schema.Identity, error]
	// Frames gives a capture's frames as they are stored, in their order, from the first. A frame
	// and its bytes are the caller's.
	Frames(ctx context.Context, id schema.Identity) iter.Seq2[*schema.Frame, error]
}

// Ledger is what is proved; see sink.Reader and sink.Auditor.
type Ledger interface {
	Captures(ctx context.Context, after string, limit int) ([]sink.CaptureInfo, error)
	Capture(ctx context.Context, id schema.Identity) (sink.CaptureInfo, error)
	Events(ctx context.Context, key schema.Transcript, after uint64, limit int) iter.Seq2[sink.Event, error]
}

// Fold is the fold of one capture.
type Fold struct {
	// Step folds the capture's next frame and gives its events, durable and ephemeral, which are
	// good until the next call. An error says that no fold can take the frame.
	Step func(f *schema.Frame) ([]schema.Event, error)
	// Open counts, by session, the frames that no event names yet.
	Open func() map[uint32]uint64
}

// Options of a run. All but the last three are needed.
type Options struct {
	Frames Frames
	Ledger Ledger
	// NewFold starts the fold of a capture by the translator version that its records name; empty
	// for a capture without records. It is called by several goroutines.
	NewFold func(id schema.Identity, version string) Fold

	// Settled gives the frame of a capture up to which everything was numbered before Run began: what
	// the fold gives up to there and the ledger does not have is missing, and beyond it lag, which is
	// only stated. nil: nothing is known to be settled.
	Settled func(id schema.Identity) uint64
	// Progress is called now and then, one call at a time.
	Progress func(Progress)
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

// Run proves every capture that has frames or stands in the ledger. An error means that something
// could not be read; what does not agree is a finding in the report.
func Run(ctx context.Context, o Options) (Report, error) {
	if o.MaxFindings <= 0 {
		o.MaxFindings = 100
	}
	ids, err := captures(ctx, o)
	if err != nil {
		return Report{}, err
	}
	r := &run{o: o, progress: Progress{Total: len(ids)}}
	results, err := r.all(ctx, ids)
	if err != nil {
		return Report{}, err
	}
	return summarise(results), nil
}

// captures lists those of both sides, in the order of their keys.
func captures(ctx context.Context, o Options) ([]schema.Identity, error) {
	ids := map[string]schema.Identity{}
	for id, err := range o.Frames.Captures(ctx) {
		if err != nil {
			return nil, fmt.Errorf("list captures with frames: %w", err)
		}
		ids[id.String()] = id
	}
	const page = 1000
	for after := ""; ; {
		infos, err := o.Ledger.Captures(ctx, after, page)
		if err != nil {
			return nil, err
		}
		if len(infos) == 0 {
			break
		}
		for _, c := range infos {
			after = c.Capture.Capture.String()
			ids[after] = c.Capture.Capture
		}
	}
	out := make([]schema.Identity, 0, len(ids))
	for _, key := range slices.Sorted(maps.Keys(ids)) {
		out = append(out, ids[key])
	}
	return out, nil
}

type run struct {
	o        Options
	mu       sync.Mutex // guards progress, and calls of o.Progress
	progress Progress
}

// all proves the captures, several at once. The first error ends it.
func (r *run) all(ctx context.Context, ids []schema.Identity) ([]result, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	results := make([]result, len(ids))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(len(ids), runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := range next {
				var err error
				if results[i], err = r.capture(ctx, ids[i]); err != nil {
					stop(fmt.Errorf("verify %s: %w", ids[i], err))
				}
			}
		})
	}
	for i := range ids {
		select {
		case next <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	wg.Wait()
	return results, context.Cause(ctx)
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
