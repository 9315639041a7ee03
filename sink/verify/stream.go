package verify

import (
	"context"
	"errors"
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
	// Of is the one capture that is wanted; zero: all.
	Of schema.Identity
}

// filter is where the frames that are wanted stand.
func (s Stream) filter() string {
	if s.Of == (schema.Identity{}) {
		return schema.RawSubjects
	}
	return schema.RawSubject(s.Of, s.Partitions)
}

var _ Frames = Stream{}

// Captures implements Frames. A subject that is no capture's is an error: its messages would be
// frames of nothing.
func (s Stream) Captures(ctx context.Context) iter.Seq2[Held, error] {
	return func(yield func(Held, error) bool) {
		subjects, err := s.subjects(ctx)
		if err != nil {
			yield(Held{}, fmt.Errorf("list subjects of stream %s: %w", topology.Raw, err))
			return
		}
		for subject, messages := range subjects {
			id, err := s.capture(subject)
			if !yield(Held{id, messages}, err) || err != nil {
				return
			}
		}
	}
}

// capture is whose frames stand on a subject.
func (s Stream) capture(subject string) (schema.Identity, error) {
	_, id, err := schema.ParseSubject(subject)
	if err == nil && schema.RawSubject(id, s.Partitions) != subject {
		err = fmt.Errorf("stream %s has messages on %s, which is no capture's subject", topology.Raw, subject)
	}
	return id, err
}

func (s Stream) subjects(ctx context.Context) (map[string]uint64, error) {
	stream, err := s.JS.Stream(ctx, topology.Raw)
	if err != nil {
		return nil, err
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(s.filter()))
	if err != nil {
		return nil, err
	}
	return info.State.Subjects, nil
}

// Frames implements Frames.
func (s Stream) Frames(ctx context.Context) iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		ids := map[string]schema.Identity{}
		for m, err := range topology.Read(ctx, s.JS, topology.Raw, s.filter(), 1) {
			if err != nil {
				yield(Frame{}, err)
				return
			}
			id, ok := ids[m.Subject]
			if !ok {
				if id, err = s.capture(m.Subject); err != nil {
					yield(Frame{}, err)
					return
				}
				ids[m.Subject] = id
			}
			f, err := s.frame(ctx, id, m)
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// frame reads a message. Its error is about the bucket of large payloads, not about the frame.
func (s Stream) frame(ctx context.Context, id schema.Identity, m topology.Message) (Frame, error) {
	f, err := schema.FrameFromHeader(m.Header, m.Data)
	if err != nil {
		return Frame{Capture: id, Unreadable: fmt.Errorf("read frame at sequence %d: %w", m.Seq, err)}, nil
	}
	out := Frame{Capture: id, Frame: &f}
	if f.Blob == "" {
		return out, nil
	}
	if f.Data, err = s.Blobs.Get(ctx, id, f.Blob); err == nil {
		return out, nil
	}
	err = fmt.Errorf("read frame at sequence %d: %w", m.Seq, err)
	if errors.Is(err, topology.ErrBlob) {
		out.Unreadable = err
		return out, nil
	}
	return Frame{Capture: id}, err
}
