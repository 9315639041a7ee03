package verify

import (
	"errors"
	"fmt"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// ErrVersion marks the error of a fold whose translator version is not to be had: whether the frames give
// the events, nobody can tell here.
var ErrVersion = errors.New("no such translator version")

// Unrepeated is a capture whose frames were not folded again. All else was checked: the frames' numbers and
// chain, the events' numbers, order and ids, and that they account for every frame.
type Unrepeated struct {
	Capture    string `json:"capture"`
	Translator string `json:"translator"` // the version that is wanted; empty: that of its protocol
	Frames     uint64 `json:"frames"`     // up to the ledger's last event
	Events     uint64 `json:"events"`     // that were read
	Behind     uint64 `json:"behind"`     // frames behind the last event, of which nobody knows here whether they give one

	odd bool // an event is not good, and so accounts for nothing
}

// String writes it in one line.
func (u Unrepeated) String() string {
	by := u.Translator
	if by == "" {
		by = "its protocol's translator"
	}
	behind := ""
	if u.Behind > 0 {
		behind = fmt.Sprintf(", and the %d behind them none", u.Behind)
	}
	return fmt.Sprintf("not repeated: %s: %s is not in this build, so that nobody knows here whether its %d frames give its %d events%s; all else was checked",
		u.Capture, by, u.Frames, u.Events, behind)
}

// readStored checks a session's stored events by themselves, where the fold cannot be repeated.
func (s *session) readStored() error {
	var before schema.Origin
	for s.next = 0; ; s.next++ {
		stored, err := s.peek()
		if err != nil {
			return err
		}
		if stored == nil {
			break
		}
		if s.given++; s.given < stored.Seq {
			s.lost(s.given, stored.Seq-1)
			s.given = stored.Seq
		}
		s.proof.unrepeated.Events++
		e, err := s.alone(stored, before)
		if err != nil {
			s.proof.unrepeated.odd = true
			s.proof.find(Finding{
				Problem: Changed, Frame: e.WorkerSeq, Session: s.key.Session, Seq: stored.Seq, Detail: err.Error() + ": " + excerpt(stored.Bytes, 0),
			})
			continue
		}
		before = e.Origin()
		s.proof.name(&e)
	}
	if s.given < s.head {
		s.lost(s.given+1, s.head)
		s.given = s.head
	}
	return s.beyond()
}

// lost finds that events are missing, from the first to the last: a seal may claim more of them than anybody
// can count.
func (s *session) lost(first, last uint64) {
	detail := "no event of this number is stored"
	if last > first {
		detail = fmt.Sprintf("no events %d to %d are stored", first, last)
	}
	s.proof.find(Finding{Problem: Missing, Session: s.key.Session, Seq: first, Detail: detail})
}

// alone checks what a stored event says of itself.
func (s *session) alone(stored *sink.Event, before schema.Origin) (schema.Event, error) {
	e, err := schema.DecodeEvent(stored.Bytes)
	last := s.proof.info.Last
	switch {
	case err != nil:
		return e, err
	case e.Transcript != s.key:
		return e, fmt.Errorf("it is of %s", e.Transcript)
	case e.StoreSeq != stored.Seq:
		return e, fmt.Errorf("its store_seq is %d", e.StoreSeq)
	case e.Ephemeral:
		return e, errors.New("it is ephemeral")
	case e.EventID != schema.EventID(s.key.Identity, e.Origin()):
		return e, fmt.Errorf("its id is not that of origin %s", e.Origin())
	case e.Origin().Compare(before) <= 0, e.Origin().Compare(last) > 0:
		return e, fmt.Errorf("its origin %s is not behind %s and up to %s", e.Origin(), before, last)
	case e.Source.Translator != s.proof.info.Translator:
		return e, fmt.Errorf("its translator is %s, its capture's is %s", e.Source.Translator, s.proof.info.Translator)
	}
	for _, r := range e.Frames {
		if r[0] == 0 || r[1] < r[0] || r[1] > e.WorkerSeq {
			return e, fmt.Errorf("it names frames %d to %d", r[0], r[1])
		}
	}
	return e, nil
}
