package translate

import (
	"time"

	"github.com/google/uuid"

	"github.com/steno-io/steno/schema"
)

// Stamp gives the events of one frame their identity, origin and time. A protocol's fold keeps one
// and moves it to each frame.
type Stamp struct {
	id    schema.Identity `state:"-"` // what a fresh stamp has
	space *schema.Space   `state:"-"`
	quiet bool            `state:"-"`

	agent uuid.UUID
	role  string
	seq   uint64
	at    time.Time
	part  uint32
	dst   []schema.Event `state:"-"` // of the frame
}

// NewStamp makes the stamp of a capture.
func NewStamp(id schema.Identity) Stamp {
	return Stamp{id: id, space: schema.NewSpace(id), role: "agent"}
}

// Begin moves to a frame; its events are appended to dst.
func (s *Stamp) Begin(dst []schema.Event, f *schema.Frame) {
	s.dst, s.part = dst, 0
	s.seq, s.at = f.Seq, f.At
}

// Resume goes on behind the last frame's events, for the end of a capture without a close frame.
func (s *Stamp) Resume(dst []schema.Event) { s.dst = dst }

// Quiet leaves ephemeral events out from here on. They take their part all the same.
func (s *Stamp) Quiet() { s.quiet = true }

// Emit appends one event. frames must not be empty and is kept.
func (s *Stamp) Emit(session uint32, source schema.Source, kind schema.Kind, ephemeral bool, frames []schema.Range, flags []schema.Flag) {
	if ephemeral && s.quiet {
		s.part++
		return
	}
	s.dst = append(s.dst, schema.Event{
		Transcript: schema.Transcript{Identity: s.id, Session: session}, AgentID: s.agent, AgentRole: s.role,
		EmittedAt: s.at, WorkerSeq: s.seq, Part: s.part, Ephemeral: ephemeral,
		EventID: s.space.Event(schema.Origin{Frame: s.seq, Part: s.part}),
		Source:  source, Frames: frames, Flags: flags, Kind: kind,
	})
	s.part++
}

// As attributes the following events to an agent; uuid.Nil and "agent" are the default.
func (s *Stamp) As(id uuid.UUID, role string) { s.agent, s.role = id, role }

// Done gives back dst with the frame's events.
func (s *Stamp) Done() []schema.Event {
	dst := s.dst
	s.dst = nil
	return dst
}
