package topology

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/schema"
)

// ErrReturned marks frames that STENO_RAW does not have any more, since an archive has them, where that
// archive is not to be had.
var ErrReturned = errors.New("they were archived and given back")

// ErrAway marks, beside ErrReturned, an archive that cannot be read now, and perhaps later: nothing is known of what
// it has.
var ErrAway = errors.New("the archive cannot be read now")

// Frames reads captures' frames from STENO_RAW.
type Frames struct {
	JS         jetstream.JetStream
	Blobs      *Blobs
	Partitions uint32
}

// Frames gives the capture's frames from number first on that the stream has, in order, each with its
// bytes, up to the last one as of the call. Of a capture whose beginning was given back, the first one may
// have a higher number. Every first asks the stream as often as Seek does, but 0 and 1.
func (s Frames) Frames(ctx context.Context, id schema.Identity, first uint64) iter.Seq2[schema.Frame, error] {
	return func(yield func(schema.Frame, error) bool) {
		from, ok, err := s.seek(ctx, id, first)
		if err != nil {
			yield(schema.Frame{}, fmt.Errorf("find frame %d of %s: %w", first, id, err))
			return
		}
		if !ok {
			return
		}
		for m, err := range Read(ctx, s.JS, Raw, schema.RawSubject(id, s.Partitions), from) {
			var f schema.Frame
			if err == nil {
				f, _, err = s.Blobs.Frame(ctx, m)
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// Head is the number of the capture's last frame, 0 if there is none. As Frames, it waits for a connection that is
// away.
func (s Frames) Head(ctx context.Context, id schema.Identity) (uint64, error) {
	m, ok, err := lastPatiently(ctx, s.JS, Raw, schema.RawSubject(id, s.Partitions))
	if err != nil || !ok {
		return 0, err
	}
	f, err := schema.FrameFromHeader(m.Header, nil)
	if err != nil {
		return 0, fmt.Errorf("read last frame of %s at sequence %d: %w", id, m.Seq, err)
	}
	return f.Seq, nil
}

// seek gives the stream sequence of the capture's first frame with that number or a higher one.
func (s Frames) seek(ctx context.Context, id schema.Identity, number uint64) (seq uint64, ok bool, err error) {
	if number <= 1 {
		return 1, true, nil
	}
	err = patiently(ctx, func() (err error) {
		seq, ok, err = Seek(ctx, s.JS, Raw, schema.RawSubject(id, s.Partitions), func(m Message) (bool, error) {
			f, err := schema.FrameFromHeader(m.Header, nil)
			return err != nil || f.Seq >= number, nil // what is no frame, and what is behind it, is given to who reads on
		})
		return err
	})
	return seq, ok, err
}
