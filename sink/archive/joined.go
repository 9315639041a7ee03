package archive

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink/verify"
)

// Joined is captures' frames wherever they are: what the stream does not have any more comes from the
// archive. Frames may be given back while they are read.
type Joined struct {
	Stream topology.Frames
	// Open gives the archive that has a capture's frames; its error is told beside topology.ErrReturned, and wraps
	// topology.ErrAway if it may give it later. nil: no archive is to be had.
	Open func(ctx context.Context, id schema.Identity) (Store, error)
}

var _ Source = Joined{}

// Head is the number of the capture's last frame, 0 if there is none: the last one is never given back.
func (j Joined) Head(ctx context.Context, id schema.Identity) (uint64, error) {
	return j.Stream.Head(ctx, id)
}

// Frames implements Source. An error wraps topology.ErrReturned where the archive does not give what the
// stream does not have any more.
func (j Joined) Frames(ctx context.Context, id schema.Identity, first uint64) iter.Seq2[schema.Frame, error] {
	return func(yield func(schema.Frame, error) bool) {
		next, chain := max(first, 1), ""
		give := func(f schema.Frame, err error) bool {
			if err == nil && chain != "" { // where two sources meet they must be of one capture
				err = chained(chain, &f)
			}
			if !yield(f, err) || err != nil {
				return false
			}
			next, chain = f.Seq+1, ""
			return true
		}
		archived := func(upTo uint64) bool {
			for f, err := range j.Between(ctx, id, next, upTo) {
				if !give(f, err) {
					return false
				}
				if f.Seq == upTo {
					chain = f.Chain
				}
			}
			return true
		}
		head, err := j.Stream.Head(ctx, id)
		if err != nil {
			yield(schema.Frame{}, err)
			return
		}
		for more := true; more; {
			more = false
			for f, err := range j.Stream.Frames(ctx, id, next) {
				if upTo := j.gone(ctx, id, err); upTo >= next { // the message was read, and then its bytes were given back
					if more = archived(upTo); !more {
						return
					}
					break
				}
				if err == nil && f.Seq > next && !archived(f.Seq-1) || !give(f, err) {
					return
				}
			}
			if !more && next <= head { // so was what came last, since then
				said, err := topology.ReadReturned(ctx, j.Stream.JS, id)
				if err != nil {
					yield(schema.Frame{}, err)
					return
				}
				more = said.Frame >= next && archived(min(said.Frame, head)) && next <= head
			}
		}
	}
}

// gone gives the frame up to which frames were given back, if an error is that a large frame's bytes are not to
// be had; else 0.
func (j Joined) gone(ctx context.Context, id schema.Identity, err error) uint64 {
	if !errors.Is(err, topology.ErrBlob) {
		return 0
	}
	said, readErr := topology.ReadReturned(ctx, j.Stream.JS, id)
	if readErr != nil {
		return 0 // err says more
	}
	return said.Frame
}

// Between gives a capture's frames from first to last, all of them, out of the archive. An error wraps
// topology.ErrReturned, and topology.ErrAway where the archive cannot be read now, or verify.ErrDamaged where it
// does not have what its seals say.
func (j Joined) Between(ctx context.Context, id schema.Identity, first, last uint64) iter.Seq2[schema.Frame, error] {
	return func(yield func(schema.Frame, error) bool) {
		fail := func(err error) {
			if StoreFailed(err) {
				err = fmt.Errorf("%w: %w", topology.ErrAway, err)
			}
			yield(schema.Frame{}, fmt.Errorf("read frames %d to %d of %s: %w: %w", first, last, id, topology.ErrReturned, err))
		}
		if j.Open == nil {
			fail(fmt.Errorf("no archive is known"))
			return
		}
		store, err := j.Open(ctx, id)
		if err != nil {
			fail(err)
			return
		}
		next := first
		for f, err := range (Archived{Telling(store)}).Frames(ctx, id, first) {
			if err != nil && !StoreFailed(err) {
				err = fmt.Errorf("%w: %w", verify.ErrDamaged, err)
			}
			if err != nil {
				fail(err)
				return
			}
			if f.Seq != next {
				break
			}
			if !yield(f, nil) || f.Seq == last {
				return
			}
			next++
		}
		fail(fmt.Errorf("archive %s does not have frame %d", store, next))
	}
}

// chained checks that a frame is the one behind that chain.
func chained(chain string, f *schema.Frame) error {
	want, err := schema.ChainHash(chain, f)
	if err == nil && want != f.Chain {
		err = fmt.Errorf("%w: frame %d has chain %s, what the archive has before it gives %s", ErrBroken, f.Seq, f.Chain, want)
	}
	return err
}
