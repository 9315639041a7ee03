package verify

import (
	"bytes"
	"fmt"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// session compares one session's stored events with the fold's, in the order of their numbers.
type session struct {
	proof *proof
	key   schema.Transcript
	head  uint64 // stored, when the proof began
	given uint64 // events that the fold gave
	page  page
	next  int       // place in page
	ahead chan page // gives the page behind it, which is being read; nil: it is not
}

// peek gives the next stored event up to the head; nil behind it.
func (s *session) peek() (*sink.Event, error) {
	if s.next == len(s.page.events) && s.page.read < s.head {
		if err := s.turn(); err != nil {
			return nil, err
		}
	}
	if s.next == len(s.page.events) {
		return nil, nil
	}
	return &s.page.events[s.next], nil
}

// compare holds the fold's next event of the session against the stored one of its number.
func (s *session) compare(e *schema.Event) error {
	s.given++
	stored, err := s.peek()
	if err != nil {
		return err
	}
	if stored == nil || stored.Seq > s.given {
		s.proof.find(eventFinding(Missing, e, s.given, "no event of this number is stored"))
		return nil
	}
	e.StoreSeq = s.given
	buf := e.AppendJSON(s.proof.lane.buf[:0])
	s.proof.lane.buf = buf
	if bytes.Equal(buf, stored.Bytes) {
		s.proof.events++
	} else {
		s.proof.find(eventFinding(Changed, e, s.given, difference(stored.Bytes, buf)))
	}
	s.next++
	return nil
}

// end finds the stored events that the fold did not give: up to the head, and behind it what was
// not stored since the proof began. When the frames broke off, nobody can tell what they would have
// given.
func (s *session) end() error {
	if s.proof.stopped {
		return nil
	}
	for {
		stored, err := s.peek()
		if err != nil {
			return err
		}
		if stored == nil {
			break
		}
		s.added(stored)
		s.next++
	}
	return s.beyond()
}

// beyond finds what is stored behind the head, and was there when the proof began.
func (s *session) beyond() error {
	if s.page.looked {
		if s.page.behind == nil {
			return nil
		}
		return s.behindHead(s.page.behind)
	}
	for e, err := range s.proof.run.o.Ledger.Events(s.proof.ctx, s.key, s.head, 1) {
		if err != nil {
			return err
		}
		return s.behindHead(&e)
	}
	return nil
}

func (s *session) behindHead(e *sink.Event) error {
	now, err := s.proof.run.o.Ledger.Capture(s.proof.ctx, s.proof.id)
	if err != nil {
		return err
	}
	for _, session := range now.Sessions {
		if session.Session == s.key.Session && session.Head >= e.Seq {
			return nil // stored meanwhile
		}
	}
	s.added(e)
	return nil
}

func (s *session) added(e *sink.Event) {
	f := Finding{Problem: Added, Session: s.key.Session, Seq: e.Seq, Detail: "the frames do not give this event: " + excerpt(e.Bytes, 0)}
	if event, err := schema.DecodeEvent(e.Bytes); err == nil {
		f.Frame, f.EventID = event.WorkerSeq, event.EventID.String()
		if f.Frame > s.proof.heads.Raw {
			f.Detail = "its frame is not there: " + excerpt(e.Bytes, 0)
		}
	}
	s.proof.find(f)
}

// difference says where two encodings part.
func difference(have, want []byte) string {
	at := 0
	for at < len(have) && at < len(want) && have[at] == want[at] {
		at++
	}
	return fmt.Sprintf("stored %d bytes, the frames give %d; from byte %d on stored is %s, want %s",
		len(have), len(want), at, excerpt(have, at), excerpt(want, at))
}

// excerpt quotes some bytes from a place on.
func excerpt(b []byte, from int) string {
	const most = 60
	if len(b)-from > most {
		return fmt.Sprintf("%q…", b[from:from+most])
	}
	return fmt.Sprintf("%q", b[from:])
}
