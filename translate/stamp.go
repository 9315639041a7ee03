package translate

import (
	"github.com/google/uuid"

	"github.com/steno-io/steno/schema"
)

// Stamp gives the events of one frame their identity, origin and time. A protocol's fold keeps one
// and moves it to each frame.
type Stamp struct {
	space *schema.Space
	part  uint32
	event schema.Event // identity and time, as copied into each event
	dst   []schema.Event
}

// NewStamp makes the stamp of a capture.
func NewStamp(id schema.Identity) Stamp {
	return Stamp{space: schema.NewSpace(id), event: schema.Event{Transcript: schema.Transcript{Identity: id}, AgentRole: "agent"}}
}

// Begin moves to a frame; its events are appended to dst.
func (s *Stamp) Begin(dst []schema.Event, f *schema.Frame) {
	s.dst, s.part = dst, 0
	s.event.WorkerSeq, s.event.EmittedAt = f.Seq, f.At
}

// Resume goes on behind the last frame's events, for the end of a capture without a close frame.
func (s *Stamp) Resume(dst []schema.Event) { s.dst = dst }

// Emit appends one event. frames must not be empty and is kept.
func (s *Stamp) Emit(session uint32, source schema.Source, kind schema.Kind, ephemeral bool, frames []schema.Range, flags []schema.Flag) {
	e := s.event
	e.Session, e.Source, e.Kind, e.Ephemeral, e.Frames, e.Flags = session, source, kind, ephemeral, frames, flags
	e.Part = s.part
	e.EventID = s.space.Event(e.Origin())
	s.part++
	s.dst = append(s.dst, e)
}

// As attributes the following events to an agent; uuid.Nil and "agent" are the default.
func (s *Stamp) As(id uuid.UUID, role string) { s.event.AgentID, s.event.AgentRole = id, role }

// Done gives back dst with the frame's events.
func (s *Stamp) Done() []schema.Event {
	dst := s.dst
	s.dst = nil
	return dst
}
