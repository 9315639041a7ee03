package verify

import (
	"bytes"
	"fmt"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// Events are read in pages of so many, or fewer if they are large: every session of the captures that
// are being proved may hold one.
const (
	pageEvents = 128
	pageBytes  = 512 << 10
)

// session compares one session's stored events with the fold's, in the order of their numbers.
type session struct {
	proof *proof
	key   schema.Transcript
	head  uint64 // stored, when the proof began
	given uint64 // events that the fold gave
	read  uint64 // number of the last event read from the ledger, at most head
	page  []sink.Event
	room  []byte // the page's bytes, where the ledger lends them
	next  int    // place in page

	looked bool        // behind the head, when the last page was read
	behind *sink.Event // what stood there
}

// peek gives the next stored event up to the head; nil behind it.
func (s *session) peek() (*sink.Event, error) {
	if s.next == len(s.page) && s.read < s.head {
		if err := s.turn(); err != nil {
			return nil, err
		}
	}
	if s.next == len(s.page) {
		return nil, nil
	}
	return &s.page[s.next], nil
}

// turn reads the next page. The last one looks behind the head, too.
func (s *session) turn() error {
	if err := s.proof.ctx.Err(); err != nil {
		return err
	}
	s.page, s.room, s.next = s.page[:0], s.room[:0], 0
	size := 0
	last := s.head-s.read < pageEvents
	limit := int(min(pageEvents-1, s.head-s.read)) + 1
	read := s.proof.run.o.Ledger.Events
	lender, lent := s.proof.run.o.Ledger.(Lender)
	if lent {
		read = lender.Lend
	}
	for e, err := range read(s.proof.ctx, s.key, s.read, limit) {
		if err != nil {
			return err
		}
		if lent {
			e.Bytes = s.keep(e.Bytes)
		}
		if e.Seq > s.head {
			behind := e
			s.looked, s.read, s.behind = true, s.head, &behind
			return nil
		}
		s.page, s.read, size = append(s.page, e), e.Seq, size+len(e.Bytes)
		if size > pageBytes && s.read < s.head {
			return nil
		}
	}
	if last || len(s.page) == 0 { // the ledger has no more
		s.looked, s.read = true, s.head
	}
	return nil
}

// keep copies lent bytes to where they are good for as long as the page is.
func (s *session) keep(lent []byte) []byte {
	from := len(s.room)
	s.room = append(s.room, lent...)
	return s.room[from:len(s.room):len(s.room)]
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
	if s.looked {
		if s.behind == nil {
			return nil
		}
		return s.behindHead(s.behind)
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
