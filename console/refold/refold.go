// Package refold folds a capture's stored frames again, as its translator did: so that what was never
// stored, the text as it was typed, is had again.
package refold

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/translate"
)

// ErrSealed: the capture's first frames are no longer in STENO_RAW, so that nothing can be folded.
var ErrSealed = errors.New("its first frames were sealed away")

// Versions tells by which translator version a capture's events were made; sink.ErrNotFound if there are
// none of it.
type Versions interface {
	Capture(ctx context.Context, id schema.Identity) (sink.CaptureInfo, error)
}

// Source is where captures' frames are, and what folds them. All of it is needed.
type Source struct {
	JS         jetstream.JetStream
	Blobs      *topology.Blobs
	Partitions uint32
	Versions   Versions
	Catalogue  *translate.Catalogue
}

// Fold folds a capture's frames from the first one, by its own translator version, up to the last one
// that is stored as of the call, or until each says false. each is given every event of every session,
// the ephemeral ones too; durable ones have the number that the ledger gives them, which it may not have
// done yet. It gives the fold as it stands then. An error names the frame; it wraps ErrSealed,
// translate.ErrFrame or topology.ErrBlob where trying again gives it again.
func (s *Source) Fold(ctx context.Context, id schema.Identity, each func(e *schema.Event) bool) (*translate.Capture, error) {
	stored, err := s.Versions.Capture(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("fold %s again: %w", id, err)
	}
	capture := translate.NewCapture(id, s.Catalogue, stored.Translator)
	numbers := map[uint32]uint64{}
	var events []schema.Event
	for m, err := range topology.Read(ctx, s.JS, topology.Raw, schema.RawSubject(id, s.Partitions), 1) {
		if err != nil {
			return nil, err
		}
		f, _, err := s.Blobs.Frame(ctx, m)
		if err != nil {
			return nil, err
		}
		if capture.Frame() == 0 && f.Seq > 1 {
			return nil, fmt.Errorf("fold %s again: frame 1 is wanted, and frame %d is the first that is left: %w", id, f.Seq, ErrSealed)
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
