package stage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/steno-io/steno/schema"
)

// errDiverged marks a stored record that is not what this fold gives.
var errDiverged = errors.New("the stored record and the fold differ")

// errRecord marks a record that contradicts itself.
var errRecord = errors.New("the record is damaged")

// seen is the last record of a capture, to be compared with the fold: event by event, ordinals and
// chain. The records before it are vouched for by its ordinals.
type seen struct {
	rec    schema.Record
	places []place
	next   int // of places: the event that the fold must give next
}

// place is where an event of the record stands.
type place struct {
	origin  schema.Origin
	session uint32
	first   uint64 // the ordinal that the record states, on the first event of a session; else 0
}

func newSeen(rec schema.Record) (*seen, error) {
	s := &seen{rec: rec, places: make([]place, len(rec.Events))}
	named := map[uint32]bool{}
	for i, line := range rec.Events {
		var w struct {
			Session   uint32 `json:"session"`
			WorkerSeq uint64 `json:"worker_seq"`
			Part      uint32 `json:"part"`
		}
		if err := json.Unmarshal(line, &w); err != nil {
			return nil, fmt.Errorf("read event %d of record %s: %w: %w", i, rec.Last, err, errRecord)
		}
		s.places[i].origin, s.places[i].session = schema.Origin{Frame: w.WorkerSeq, Part: w.Part}, w.Session
		if !named[w.Session] {
			named[w.Session] = true
			s.places[i].first = rec.First[w.Session]
			if s.places[i].first == 0 {
				return nil, fmt.Errorf("read record %s: no ordinal of session %d: %w", rec.Last, w.Session, errRecord)
			}
		}
	}
	if n := len(s.places); n == 0 || s.places[n-1].origin != rec.Last {
		return nil, fmt.Errorf("read record %s: its last event is not the one that its header names: %w", rec.Last, errRecord)
	}
	return s, nil
}

// covers reports whether the event is in this record or in one before it.
func (s *seen) covers(o schema.Origin) bool { return o.Compare(s.rec.Last) <= 0 }

// holds reports whether a covered event should be in this record, not in one before it.
func (s *seen) holds(o schema.Origin) bool { return o.Compare(s.places[0].origin) >= 0 }

// skip passes the events up to an origin, the last that a fold has given already; of those the ordinals
// are compared.
func (s *seen) skip(to schema.Origin, ordinal func(session uint32) uint64) error {
	passed := map[uint32]uint64{}
	for s.next < len(s.places) && s.places[s.next].origin.Compare(to) <= 0 {
		passed[s.places[s.next].session]++
		s.next++
	}
	if s.next > 0 && s.places[s.next-1].origin != to {
		return fmt.Errorf("compare record %s: it does not have event %s: %w", s.rec.Last, to, errDiverged)
	}
	for session, n := range passed {
		if states, counted := s.rec.First[session]+n-1, ordinal(session); states != counted {
			return fmt.Errorf("compare record %s at %s: ordinal of session %d: the record states %d, the fold counts %d: %w",
				s.rec.Last, to, session, states, counted, errDiverged)
		}
	}
	return nil
}

// check compares the next event that the fold gives of those that the record holds.
func (s *seen) check(e *event) error {
	want := s.places[s.next]
	if e.origin != want.origin {
		return fmt.Errorf("compare event %s with record %s, which has %s: %w", e.origin, s.rec.Last, want.origin, errDiverged)
	}
	if want.first != 0 && want.first != e.ordinal {
		return fmt.Errorf("compare event %s with record %s: ordinal of session %d: the record states %d, the fold counts %d: %w",
			e.origin, s.rec.Last, e.session, want.first, e.ordinal, errDiverged)
	}
	if !bytes.Equal(e.line, s.rec.Events[s.next]) {
		return fmt.Errorf("compare event %s with record %s: other bytes: %w", e.origin, s.rec.Last, errDiverged)
	}
	s.next++
	return nil
}

// finish compares the end: all of the record was given, and the frame has the chain that it states.
func (s *seen) finish(chain string) error {
	if s.next < len(s.places) {
		return fmt.Errorf("compare record %s: the fold does not give event %s: %w", s.rec.Last, s.places[s.next].origin, errDiverged)
	}
	if s.rec.Chain != chain {
		return fmt.Errorf("compare record %s: the record states chain %q, the frame has %q: %w", s.rec.Last, s.rec.Chain, chain, errDiverged)
	}
	return nil
}
