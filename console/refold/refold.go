// Package refold folds a capture's stored frames again, as its translator did: so that what was never
// stored, the text as it was typed, is had again.
package refold

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/translate"
)

// ErrSealed: the capture's first frames are no longer in STENO_RAW, and not to be had from an archive, so that
// nothing can be folded.
var ErrSealed = errors.New("its first frames were sealed away")

// ErrLost: STENO_RAW has fewer of the capture's frames than the ledger covers: the streams were wiped, or are
// an older copy.
var ErrLost = errors.New("frames that the ledger has are gone")

// Versions tells by which translator version a capture's events were made; sink.ErrNotFound if there are
// none of it.
type Versions interface {
	Capture(ctx context.Context, id schema.Identity) (sink.CaptureInfo, error)
}

// Stored is where captures' frames are read from; see topology.Frames.
type Stored interface {
	// Frames gives a capture's frames from number first on, in order, each with its bytes.
	Frames(ctx context.Context, id schema.Identity, first uint64) iter.Seq2[schema.Frame, error]
}

// Source is where captures' frames are, and what folds them. All of it is needed.
type Source struct {
	Stored    Stored
	Versions  Versions
	Catalogue *translate.Catalogue
}

// Fold folds a capture's frames from the first one, by its own translator version, up to the last one
// that is stored as of the call, or until each says false. each is given every event of every session,
// the ephemeral ones too; durable ones have the number that the ledger gives them, which it may not have
// done yet. It gives the fold as it stands then. An error names the frame; it wraps ErrSealed,
// ErrLost, translate.ErrFrame or topology.ErrBlob where trying again gives it again.
func (s *Source) Fold(ctx context.Context, id schema.Identity, each func(e *schema.Event) bool) (*translate.Capture, error) {
	stored, err := s.Versions.Capture(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("fold %s again: %w", id, err)
	}
	capture := translate.NewCapture(id, s.Catalogue, stored.Translator)
	numbers := map[uint32]uint64{}
	var events []schema.Event
	for f, err := range s.frames(ctx, id, stored.Last.Frame) {
		if err != nil {
			return nil, fmt.Errorf("fold %s again: %w", id, err)
		}
		clear(events)
		if events, err = capture.Step(events[:0], &f); err != nil {
			return nil, err
		}
		for i := range events {
			e := &events[i]
			if !e.Ephemeral {
				numbers[e.Session]++
				e.StoreSeq = numbers[e.Session]
			}
			if !each(e) {
				return capture, nil
			}
		}
	}
	return capture, nil
}

// Frames gives a capture's frames with their bytes, from the first one up to the last one that is stored as of
// the call. An error ends them; it wraps ErrSealed, ErrLost or topology.ErrBlob where trying again gives it
// again.
func (s *Source) Frames(ctx context.Context, id schema.Identity) iter.Seq2[schema.Frame, error] {
	return func(yield func(schema.Frame, error) bool) {
		fail := func(err error) bool { return yield(schema.Frame{}, fmt.Errorf("read frames of %s: %w", id, err)) }
		stored, err := s.Versions.Capture(ctx, id)
		if err != nil {
			fail(err)
			return
		}
		for f, err := range s.frames(ctx, id, stored.Last.Frame) {
			if err != nil {
				fail(err)
				return
			}
			if !yield(f, nil) {
				return
			}
		}
	}
}

// frames gives a capture's frames, those up to covered at least.
func (s *Source) frames(ctx context.Context, id schema.Identity, covered uint64) iter.Seq2[schema.Frame, error] {
	return func(yield func(schema.Frame, error) bool) {
		last := uint64(0)
		for f, err := range s.Stored.Frames(ctx, id, 1) {
			if errors.Is(err, topology.ErrReturned) {
				err = fmt.Errorf("%w: %w", ErrSealed, err)
			}
			if err == nil && f.Seq != last+1 {
				why := ErrLost
				if last == 0 {
					why = ErrSealed
				}
				err = fmt.Errorf("frame %d is wanted, and frame %d is the next that is left: %w", last+1, f.Seq, why)
			}
			if !yield(f, err) || err != nil {
				return
			}
			last = f.Seq
		}
		if last < covered {
			yield(schema.Frame{}, fmt.Errorf("the ledger covers frame %d, and the last that is left is frame %d: %w", covered, last, ErrLost))
		}
	}
}
