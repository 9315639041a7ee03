package sink

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/steno-io/steno/schema"
)

// maxTitle is the longest title that a list takes from the first prompt, in characters.
const maxTitle = 80

func (s *scanner) sourceMember(name []byte) error {
	switch string(name) {
	case `"protocol"`:
		protocol := string(s.source.Protocol)
		err := s.text(&protocol)
		s.source.Protocol = schema.Protocol(protocol)
		return err
	case `"dialect"`:
		return s.text(&s.source.Dialect)
	case `"session_id"`:
		s.named = true
		return s.text(&s.source.SessionID)
	}
	return s.dec.SkipValue()
}

// text reads a string into dst, keeping dst where it already says the same.
func (s *scanner) text(dst *string) error {
	v, err := s.dec.ReadValue()
	if err != nil {
		return err
	}
	if v.Kind() == '"' && string(v[1:len(v)-1]) == *dst && !strings.Contains(*dst, `\`) {
		return nil
	}
	plain, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return fmt.Errorf("read %s: %w", v, err)
	}
	*dst = string(plain)
	return nil
}

// frames counts what the event accounts for. Ranges ascend and do not overlap.
func (s *scanner) frames(f *facts) error {
	if err := s.token('['); err != nil {
		return err
	}
	var before uint64
	s.ranges = s.ranges[:0]
	for s.dec.PeekKind() == '[' {
		if err := s.token('['); err != nil {
			return err
		}
		first, err := s.uint("frames", 64)
		if err != nil {
			return err
		}
		last, err := s.uint("frames", 64)
		if err != nil {
			return err
		}
		if err := s.token(']'); err != nil {
			return err
		}
		if first <= before || last < first || last > f.origin.Frame {
			return fmt.Errorf("frames [%d,%d] after frame %d of an event of frame %d", first, last, before, f.origin.Frame)
		}
		before = last
		s.ranges = append(s.ranges, schema.Range{first, last})
		f.others += last - first + 1
	}
	if f.own = before == f.origin.Frame && before > 0; f.own {
		f.others--
	}
	return s.token(']')
}

// flags reads the flags, which stand behind the frames. A frame that held more than one object is
// named by the events of each, and all of them say so.
func (s *scanner) flags(f *facts) error {
	if err := s.token('['); err != nil {
		return err
	}
	for s.dec.PeekKind() == '"' {
		v, err := s.dec.ReadValue()
		if err != nil {
			return err
		}
		switch schema.Flag(v[1 : len(v)-1]) {
		case schema.FlagRecovered, schema.FlagBatch:
			f.shared = slices.Clone(s.ranges)
		}
	}
	return s.token(']')
}

// kind reads the tag, which comes first, and what a list shows of a message or a stop.
func (s *scanner) kind(f *facts) error {
	role, tagged := "", false
	return s.object(func(name []byte) error {
		switch {
		case !tagged:
			if string(name) != `"kind"` {
				return fmt.Errorf("kind begins with %s, want its tag", name)
			}
			tagged = true
			err := s.text(&s.tag)
			f.message = s.tag == schema.TagMessage
			return err
		case s.tag == schema.TagMessage && string(name) == `"role"`:
			return s.inner(`"role"`, &role)
		case role == string(schema.User) && string(name) == `"text"`:
			v, err := s.dec.ReadValue()
			f.firstLine = firstLine(v)
			return err
		case s.tag == schema.TagStop && string(name) == `"reason"`:
			stop := ""
			err := s.inner(`"stop"`, &stop)
			f.stop = schema.StopReason(stop)
			return err
		}
		return s.dec.SkipValue()
	})
}

// inner reads one member of an object.
func (s *scanner) inner(want string, dst *string) error {
	return s.object(func(name []byte) error {
		if string(name) == want {
			return s.text(dst)
		}
		return s.dec.SkipValue()
	})
}

// firstLine is the first line of a quoted text that is not blank, cut to maxTitle characters. It
// looks at the beginning of the text only, and takes what is readable of it.
func firstLine(quoted []byte) string {
	const look = 4 << 10
	plain, _ := jsontext.AppendUnquote(nil, quoted[:min(look, len(quoted))]) // cut short, it always complains
	for line := range strings.Lines(string(plain)) {
		if line = strings.TrimSpace(line); line != "" {
			return cut(line, maxTitle)
		}
	}
	return ""
}

func cut(s string, characters int) string {
	for i := range s {
		if characters == 0 {
			return s[:i]
		}
		characters--
	}
	return s
}
