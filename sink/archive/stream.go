package archive

import (
	"context"
	"fmt"
	"iter"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// Stream is the frames of STENO_RAW.
type Stream struct {
	JS         jetstream.JetStream
	Blobs      *topology.Blobs
	Partitions uint32
}

var _ Source = Stream{}

// Frames implements Source.
func (s Stream) Frames(ctx context.Context, id schema.Identity, first uint64) iter.Seq2[schema.Frame, error] {
	return func(yield func(schema.Frame, error) bool) {
		subject := schema.RawSubject(id, s.Partitions)
		from := uint64(1)
		if first > 1 {
			seq, ok, err := topology.Seek(ctx, s.JS, topology.Raw, subject, func(m topology.Message) (bool, error) {
				f, err := schema.FrameFromHeader(m.Header, nil)
				return err != nil || f.Seq >= first, nil // no record has what is no frame, nor what is behind it
			})
			if err != nil || !ok {
				if err != nil {
					yield(schema.Frame{}, fmt.Errorf("find frame %d of %s: %w", first, id, err))
				}
				return
			}
			from = seq
		}
		for m, err := range topology.Read(ctx, s.JS, topology.Raw, subject, from) {
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
