package verify

import (
	"context"
	"fmt"
	"iter"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// Stream gives the frames of STENO_RAW.
type Stream struct {
	JS         jetstream.JetStream
	Blobs      *topology.Blobs
	Partitions uint32
}

var _ Frames = Stream{}

// Captures implements Frames. A subject that is no capture's is an error: its messages would be
// frames of nothing.
func (s Stream) Captures(ctx context.Context) iter.Seq2[schema.Identity, error] {
	return func(yield func(schema.Identity, error) bool) {
		subjects, err := s.subjects(ctx)
		if err != nil {
			yield(schema.Identity{}, fmt.Errorf("list subjects of stream %s: %w", topology.Raw, err))
			return
		}
		for subject := range subjects {
			_, id, err := schema.ParseSubject(subject)
			if err == nil && schema.RawSubject(id, s.Partitions) != subject {
				err = fmt.Errorf("stream %s has messages on %s, which is no capture's subject", topology.Raw, subject)
			}
			if !yield(id, err) || err != nil {
				return
			}
		}
	}
}

func (s Stream) subjects(ctx context.Context) (map[string]uint64, error) {
	stream, err := s.JS.Stream(ctx, topology.Raw)
	if err != nil {
		return nil, err
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(schema.RawSubjects))
	if err != nil {
		return nil, err
	}
	return info.State.Subjects, nil
}

// Frames implements Frames.
func (s Stream) Frames(ctx context.Context, id schema.Identity) iter.Seq2[*schema.Frame, error] {
	return func(yield func(*schema.Frame, error) bool) {
		for m, err := range topology.Read(ctx, s.JS, topology.Raw, schema.RawSubject(id, s.Partitions), 1) {
			var f schema.Frame
			if err == nil {
				f, _, err = s.Blobs.Frame(ctx, m)
			}
			if !yield(&f, err) || err != nil {
				return
			}
		}
	}
}
