package reading

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/steno-io/steno/schema"
	wire "github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// Places says where each event stands for a reader: at its first frame. Progress of A2A is stored when
// something else ends it, and names only those of its frames that have no Raw: it stands at the status that
// began it, or else, where a frame ended it together with an answer, before that answer, whose first frame
// is earlier.
func Places(events []schema.Event) map[schema.Origin]uint64 {
	places := make(map[schema.Origin]uint64, len(events))
	for i := len(events) - 1; i >= 0; i-- {
		e := &events[i]
		place := firstFrame(e)
		if isProgressA2A(e) && i+1 < len(events) && events[i+1].WorkerSeq == e.WorkerSeq {
			place = min(place, places[events[i+1].Origin()])
		}
		places[e.Origin()] = place
	}
	begun := map[string][]spokenStatus{} // of each task, since its last note
	for i := range events {
		e := &events[i]
		if e.Source.Protocol != schema.A2A {
			continue
		}
		id := e.Source.TaskID
		if k, ok := e.Kind.(*schema.Raw); ok {
			begun[id] = appendStatuses(begun[id], e.WorkerSeq, k)
		}
		note, ok := NoteOf(e)
		if !ok {
			continue
		}
		for _, s := range begun[id] {
			if s.frame < e.WorkerSeq && strings.HasPrefix(note.Text, s.text) {
				places[e.Origin()] = min(firstFrame(e), s.frame)
				delete(begun, id)
				break
			}
		}
	}
	return places
}

// firstFrame is where an event stands for a reader.
func firstFrame(e *schema.Event) uint64 {
	if len(e.Frames) == 0 {
		return e.WorkerSeq
	}
	return e.Frames[0][0]
}

func isProgressA2A(e *schema.Event) bool {
	_, ok := e.Kind.(*schema.Progress)
	return ok && e.Source.Protocol == schema.A2A
}

// NoteOf is the note in an event, if it is one.
func NoteOf(e *schema.Event) (*schema.Note, bool) {
	p, ok := e.Kind.(*schema.Progress)
	if !ok {
		return nil, false
	}
	n, ok := p.Detail.(*schema.Note)
	return n, ok
}

// spokenStatus is a status with a message.
type spokenStatus struct {
	frame uint64
	text  string
}

// appendStatuses appends the statuses in a frame that say something.
func appendStatuses(dst []spokenStatus, frame uint64, k *schema.Raw) []spokenStatus {
	switch l := labelOf(k.Source); l.last {
	case string(wire.StatusUpdate), string(wire.Task), "several", "ambiguous":
	default:
		return dst
	}
	reader := jsontree.Reader{Depth: wire.Depth}
	if _, err := reader.Read(k.Value); err != nil {
		return dst
	}
	for _, a := range wire.AppendArms(nil, wire.ReadEnvelope(reader.Root()).Result) {
		if text := textOf(wire.Field(wire.StatusOf(a.Value), "message")); text != "" {
			dst = append(dst, spokenStatus{frame, text})
		}
	}
	return dst
}

// textOf is what a message says.
func textOf(message jsontree.Value) string {
	var texts []string
	for _, part := range wire.AppendParts(nil, message) {
		if kind, value := wire.ReadPart(part); kind == wire.TextPart {
			text, _ := value.Text()
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// timesOf says when the frames came that events are emitted at.
func timesOf(events []schema.Event) map[uint64]time.Time {
	times := make(map[uint64]time.Time, len(events))
	for i := range events {
		times[events[i].WorkerSeq] = events[i].EmittedAt
	}
	return times
}

// Sort puts events into the order in which they are read, by their places.
func Sort(events []schema.Event, places map[schema.Origin]uint64) {
	slices.SortStableFunc(events, func(a, b schema.Event) int {
		return cmp.Or(cmp.Compare(places[a.Origin()], places[b.Origin()]), cmp.Compare(a.WorkerSeq, b.WorkerSeq), cmp.Compare(a.Part, b.Part))
	})
}

// Clock tells when what an event says was said: at its first frame, not at the one that ended it.
type Clock struct {
	places map[schema.Origin]uint64
	times  map[uint64]time.Time
	at     func(frame uint64) time.Time
}

// NewClock reads the times of a transcript's events. at tells when a frame came that no event is emitted
// at; the zero time, or nil for at: it is not known.
func NewClock(events []schema.Event, places map[schema.Origin]uint64, at func(frame uint64) time.Time) *Clock {
	return &Clock{places, timesOf(events), at}
}

// SaidAt is when the frame came at which the event stands, as far as that is known.
func (c *Clock) SaidAt(e *schema.Event) time.Time {
	place, ok := c.places[e.Origin()]
	if !ok || place == e.WorkerSeq {
		return e.EmittedAt
	}
	at, ok := c.times[place]
	if !ok && c.at != nil {
		at = c.at(place)
	}
	if at.IsZero() {
		return e.EmittedAt
	}
	return at
}
