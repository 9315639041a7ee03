package ledgertest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// Script writes the records of one capture by hand, as a translator would commit them.
type Script struct {
	ID       schema.Identity
	Source   schema.Source
	frame    uint64
	part     uint32
	ordinals map[uint32]uint64
	record   schema.Record
}

// Epoch is the capture time of frame 0; frame n comes n milliseconds later.
var Epoch = time.Date(2026, 11, 29, 20, 0, 0, 0, time.UTC)

// NewScript begins a capture whose run has the name.
func NewScript(run string) *Script {
	return &Script{
		ID:       schema.Identity{Namespace: "default", Workflow: "test", Run: run, Attempt: 1},
		Source:   schema.Source{Protocol: schema.ACP, Dialect: "1", Translator: "acp/1"},
		ordinals: map[uint32]uint64{},
	}
}

// Frame moves to the next frame and gives its number.
func (s *Script) Frame() uint64 {
	s.frame, s.part = s.frame+1, 0
	return s.frame
}

// Event adds an event of the present frame, which accounts for it and for the ranges given.
func (s *Script) Event(session uint32, kind schema.Kind, others ...schema.Range) {
	e := schema.Event{
		Transcript: schema.Transcript{Identity: s.ID, Session: session},
		AgentRole:  "agent", EmittedAt: At(s.frame), WorkerSeq: s.frame, Part: s.part, Source: s.Source,
		Frames: append(others, schema.Range{s.frame, s.frame}), Kind: kind,
	}
	e.EventID = schema.EventID(s.ID, e.Origin())
	s.add(&e)
}

func (s *Script) add(e *schema.Event) {
	if s.record.First == nil {
		s.record.First = map[uint32]uint64{}
	}
	s.ordinals[e.Session]++
	if s.record.First[e.Session] == 0 {
		s.record.First[e.Session] = s.ordinals[e.Session]
	}
	s.record.Last = e.Origin()
	s.record.Events = append(s.record.Events, e.AppendJSON(nil))
	s.part++
}

// Next is Frame and Event in one.
func (s *Script) Next(session uint32, kind schema.Kind) {
	s.Frame()
	s.Event(session, kind)
}

// Record ends the record that the events since the last call make.
func (s *Script) Record() schema.Record {
	r := s.record
	r.Chain, r.Translator = Chain(r.Last.Frame), s.Source.Translator
	s.record = schema.Record{}
	return r
}

// Entry makes the record's entry at a stream sequence.
func (s *Script) Entry(seq uint64, r schema.Record) sink.Entry {
	return sink.NewEntry(s.ID, seq, Epoch.Add(time.Duration(seq)*time.Second), fmt.Sprintf("digest of %d", seq), r)
}

// Transcript is the key of one of its sessions.
func (s *Script) Transcript(session uint32) schema.Transcript {
	return schema.Transcript{Identity: s.ID, Session: session}
}

// At is the capture time of a frame.
func At(frame uint64) time.Time { return Epoch.Add(time.Duration(frame) * time.Millisecond) }

// Chain is the chain that a script's record states for a frame.
func Chain(frame uint64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "frame %d", frame))
	return hex.EncodeToString(sum[:])
}

// Raw is the kind that tests use where it does not matter.
func Raw(text string) schema.Kind {
	return &schema.Raw{Source: "test", Value: schema.JSON(schema.AppendString(nil, text))}
}

// Prompt is a user's message.
func Prompt(text string) schema.Kind {
	return &schema.Message{Role: schema.User, Text: text, MessageID: "m", Channel: schema.Answer, Boundary: schema.BoundaryPrompt}
}
