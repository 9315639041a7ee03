package sink

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/steno-io/steno/schema"
)

// facts is what the ledger's lists need of an event. The event itself is kept as bytes.
type facts struct {
	session   uint32
	origin    schema.Origin
	at        time.Time
	source    schema.Source  // without translator
	others    uint64         // frames that it accounts for beside its own
	own       bool           // it accounts for the frame that produced it
	shared    []schema.Range // its frames, where they may be named by other events too; else nil
	message   bool
	firstLine string // of a user's message
	stop      schema.StopReason
}

// scanner reads facts out of the encodings of one capture's events, without decoding them whole.
type scanner struct {
	id     schema.Identity
	dec    *jsontext.Decoder
	src    bytes.Buffer
	source schema.Source  // last one seen: most events of a record share their strings
	tag    string         // of the kind seen last
	named  bool           // the source has a session id
	number bool           // the event says store_seq null
	ranges []schema.Range // the event's frames
}

func newScanner(id schema.Identity) *scanner { return &scanner{id: id} }

// tolerant: an event holds payloads as the peer sent them.
var tolerant = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// event scans one event. An error means that it is not a durable event of this capture without a
// number.
func (s *scanner) event(event []byte, f *facts) error {
	s.src = *bytes.NewBuffer(event)
	if s.dec == nil {
		s.dec = jsontext.NewDecoder(&s.src, tolerant...)
	} else {
		s.dec.Reset(&s.src, tolerant...)
	}
	s.number = false
	seen := 0
	err := s.object(func(name []byte) error {
		known, err := s.member(string(name), f)
		if known {
			seen++
		}
		return err
	})
	if err != nil {
		return err
	}
	if s.dec.InputOffset() != int64(len(event)) {
		return errors.New("something follows the event on its line")
	}
	if seen != members {
		return fmt.Errorf("want each of its %d members once, got %d", members, seen)
	}
	if !s.number {
		return errors.New("it has no store_seq of null")
	}
	if f.others == 0 && !f.own {
		return errors.New("it accounts for no frame")
	}
	return nil
}

// members is the number of those that member knows and an event always has.
const members = 13

// member reads one member of the event. known is false for those that the ledger does not need.
func (s *scanner) member(name string, f *facts) (known bool, err error) {
	switch name {
	case `"namespace"`:
		return true, s.want(name, s.id.Namespace)
	case `"workflow_id"`:
		return true, s.want(name, s.id.Workflow)
	case `"run_id"`:
		return true, s.want(name, s.id.Run)
	case `"activity_id"`:
		return true, s.wantNumber(name, s.id.Activity)
	case `"attempt"`:
		return true, s.wantNumber(name, uint64(s.id.Attempt))
	case `"session"`:
		n, err := s.uint(name, 32)
		f.session = uint32(n)
		return true, err
	case `"emitted_at"`:
		return true, s.time(name, &f.at)
	case `"worker_seq"`:
		f.origin.Frame, err = s.uint(name, 64)
		return true, err
	case `"part"`:
		n, err := s.uint(name, 32)
		f.origin.Part = uint32(n)
		return true, err
	case `"store_seq"`:
		v, err := s.dec.ReadValue()
		s.number = string(v) == "null"
		return true, err
	case `"ephemeral"`:
		v, err := s.dec.ReadValue()
		if err == nil && string(v) != "false" {
			err = fmt.Errorf("ephemeral is %s: such an event is never stored", v)
		}
		return true, err
	case `"source"`:
		s.named = false
		err := s.object(s.sourceMember)
		if !s.named {
			s.source.SessionID = ""
		}
		f.source = s.source
		return false, err
	case `"frames"`:
		return true, s.frames(f)
	case `"flags"`:
		return false, s.flags(f)
	case `"kind"`:
		return true, s.kind(f)
	}
	return false, s.dec.SkipValue()
}

// object reads an object; member reads each value behind its name, which is still quoted.
func (s *scanner) object(member func(name []byte) error) error {
	if err := s.token('{'); err != nil {
		return err
	}
	for s.dec.PeekKind() == '"' {
		name, err := s.dec.ReadValue()
		if err != nil {
			return err
		}
		if err := member(name); err != nil {
			return err
		}
	}
	return s.token('}')
}

func (s *scanner) token(kind jsontext.Kind) error {
	t, err := s.dec.ReadToken()
	if err != nil {
		return err
	}
	if t.Kind() != kind {
		return fmt.Errorf("want %q, got %q", kind, t.Kind())
	}
	return nil
}

// want reads a string that has to be the given token.
func (s *scanner) want(name, value string) error {
	v, err := s.dec.ReadValue()
	if err == nil && (v.Kind() != '"' || string(v[1:len(v)-1]) != value) {
		err = fmt.Errorf("%s is %s, the subject says %q", name, v, value)
	}
	return err
}

func (s *scanner) wantNumber(name string, value uint64) error {
	n, err := s.uint(name, 64)
	if err == nil && n != value {
		err = fmt.Errorf("%s is %d, the subject says %d", name, n, value)
	}
	return err
}

func (s *scanner) uint(name string, bits int) (uint64, error) {
	v, err := s.dec.ReadValue()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(string(v), 10, bits)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", name, err)
	}
	return n, nil
}

func (s *scanner) time(name string, at *time.Time) error {
	v, err := s.dec.ReadValue()
	if err != nil {
		return err
	}
	if v.Kind() != '"' {
		return fmt.Errorf("read %s: want a time, got %s", name, v)
	}
	t, err := time.Parse(time.RFC3339Nano, string(v[1:len(v)-1]))
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	*at = t.UTC()
	return nil
}
