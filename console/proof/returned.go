package proof

import (
	"context"
	"errors"
	"iter"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink/verify"
)

// returned reads what was given back, and keeps why an archive did not give it: nothing is known of those frames.
type returned struct {
	js   jetstream.JetStream
	read func(ctx context.Context, id schema.Identity, first, last uint64) iter.Seq2[schema.Frame, error]
	away error // the first one; nil: there was none
}

// frames implements verify.Stream's Returned.
func (r *returned) frames(ctx context.Context, id schema.Identity, first, last uint64) iter.Seq2[schema.Frame, error] {
	return func(yield func(schema.Frame, error) bool) {
		next := first
		for f, err := range r.read(ctx, id, first, last) {
			if err == nil {
				next = f.Seq + 1
			} else if r.away == nil {
				r.away = r.unknown(ctx, id, next, err)
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

// unknown is why nothing is known of a frame. It is nil where something is: that the archive is damaged, or that the
// frame was never given back, and so is missing.
func (r *returned) unknown(ctx context.Context, id schema.Identity, frame uint64, why error) error {
	if errors.Is(why, verify.ErrDamaged) {
		return nil
	}
	said, err := topology.ReadReturned(ctx, r.js, id)
	switch {
	case err != nil:
		return err
	case said.Frame < frame:
		return nil
	}
	return why
}
