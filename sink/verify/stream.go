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

// ErrDamaged marks an archive that was read, and does not have what its seals say.
var ErrDamaged = errors.New("the archive is damaged")

// Stream gives the frames of STENO_RAW.
type Stream struct {
	JS         jetstream.JetStream
	Blobs      *topology.Blobs
	Partitions uint32
	// Of is the one capture that is wanted; zero: all.
	Of schema.Identity
	// Returned gives, from first to last, frames that the stream does not have any more since they were
	// archived; nil: nobody has them. Its error wraps ErrDamaged where they are not as they were archived.
	Returned func(ctx context.Context, id schema.Identity, first, last uint64) iter.Seq2[schema.Frame, error]
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
		returned, err := s.list(ctx)
		if err != nil {
			yield(Held{}, err)
			return
		}
		for subject, messages := range subjects {
			id, err := s.capture(subject)
			if _, ok := returned[id]; ok && err == nil {
				messages, err = s.held(ctx, id, messages)
			}
			if !yield(Held{id, messages}, err) || err != nil {
				return
			}
		}
	}
}

// held is how many frames there are of a capture which has so many messages, and of which some were given back.
func (s Stream) held(ctx context.Context, id schema.Identity, messages uint64) (uint64, error) {
	head, err := topology.Frames{JS: s.JS, Blobs: s.Blobs, Partitions: s.Partitions}.Head(ctx, id)
	return max(head, messages), err
}

// list gives of which captures that are wanted something was given back; of none if nobody has it.
func (s Stream) list(ctx context.Context) (map[schema.Identity]topology.Returned, error) {
	if s.Returned == nil {
		return nil, nil
	}
	if s.Of == (schema.Identity{}) {
		return topology.ListReturned(ctx, s.JS)
	}
	r, err := topology.ReadReturned(ctx, s.JS, s.Of)
	if err != nil || r.Frame == 0 {
		return nil, err
	}
	return map[schema.Identity]topology.Returned{s.Of: r}, nil
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
		captures := map[string]*onStream{}
		for m, err := range topology.Read(ctx, s.JS, topology.Raw, s.filter(), 1) {
			if err != nil {
				yield(Frame{}, err)
				return
			}
			c := captures[m.Subject]
			if c == nil {
				id, err := s.capture(m.Subject)
				if err != nil {
					yield(Frame{}, err)
					return
				}
				c = &onStream{id: id}
				captures[m.Subject] = c
			}
			f, err := s.frame(ctx, c.id, m)
			if err == nil && !s.returned(ctx, c, &f, yield) {
				return
			}
			if errors.Is(f.Unreadable, topology.ErrBlob) && f.Frame != nil {
				f = s.archived(ctx, f)
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
		s.rest(ctx, captures, yield)
	}
}

// rest gives what was given back of captures while their frames were read, the last ones among them.
func (s Stream) rest(ctx context.Context, captures map[string]*onStream, yield func(Frame, error) bool) {
	returned, err := s.list(ctx)
	if err != nil {
		yield(Frame{}, err)
		return
	}
	for id, r := range returned {
		c := captures[schema.RawSubject(id, s.Partitions)]
		if c == nil {
			c = &onStream{id: id}
		}
		if !s.upTo(ctx, c, r.Frame, yield) {
			return
		}
	}
}

// onStream is a capture that is being read, and its last frame so far.
type onStream struct {
	id   schema.Identity
	last uint64
}

// returned gives what was given back of a capture before a frame. false: no more is wanted.
func (s Stream) returned(ctx context.Context, c *onStream, f *Frame, yield func(Frame, error) bool) bool {
	if f.Frame == nil {
		return true
	}
	more := s.Returned == nil || s.upTo(ctx, c, f.Seq-1, yield)
	c.last = f.Seq
	return more
}

// upTo gives what was given back of a capture, from where it was read to up to a frame. false: no more is wanted.
func (s Stream) upTo(ctx context.Context, c *onStream, last uint64, yield func(Frame, error) bool) bool {
	if c.last >= last {
		return true
	}
	for f, err := range s.Returned(ctx, c.id, c.last+1, last) {
		if ctx.Err() != nil {
			yield(Frame{Capture: c.id}, ctx.Err())
			return false
		}
		if err != nil { // the proof says so of this capture, and goes on with the others
			return yield(Frame{Capture: c.id, Unreadable: err}, nil)
		}
		if !yield(Frame{Capture: c.id, Frame: &f}, nil) {
			return false
		}
		c.last = f.Seq
	}
	return true
}

// archived gives a frame whose bytes are gone out of the archive, if they were given back since its message was
// read.
func (s Stream) archived(ctx context.Context, f Frame) Frame {
	said, err := topology.ReadReturned(ctx, s.JS, f.Capture)
	if s.Returned == nil || err != nil || f.Seq > said.Frame {
		return f
	}
	for old, err := range s.Returned(ctx, f.Capture, f.Seq, f.Seq) {
		if err == nil {
			return Frame{Capture: f.Capture, Frame: &old}
		}
	}
	return f
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
