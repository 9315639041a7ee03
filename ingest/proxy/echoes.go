package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	leastEcho = 8       // characters: what is shorter stands for other things, too
	longEcho  = 8 << 10 // bytes: what is longer is no secret
	maxEchoes = 64      // secrets of a request that are looked for in its answer
)

// echoed is what evidence says of secrets of the request in its answer.
const (
	echoed   = "body, a secret of the request"
	mayEchos = "body, where it repeats a secret of the request" // of a stream nobody knows yet
)

// echoes are the secrets of a request as an answer may repeat them: plain, as strings of JSON, and in
// URLs. They are found wherever they stand.
type echoes struct {
	all    []echo
	length int // of the longest
}

type echo struct{ text, mask []byte }

// newEchoes looks for values that are long enough, unless the request says them in the open, too: what
// is no secret there must stay readable, above all a conversation's id.
func newEchoes(values []string, open ...[]byte) *echoes {
	e := &echoes{}
	n := 0
	for i, value := range values {
		if utf8.RuneCountInString(value) < leastEcho || len(value) > longEcho || slices.Contains(values[:i], value) {
			continue
		}
		forms := spellings(value)
		said := func(text []byte) bool {
			return slices.ContainsFunc(forms, func(form string) bool { return bytes.Contains(text, []byte(form)) })
		}
		if slices.ContainsFunc(open, said) {
			continue
		}
		if n++; n > maxEchoes {
			break
		}
		put := []byte(mask)
		if number := jsontext.Value(value); number.IsValid() && number.Kind() == '0' {
			put = []byte{'0'} // it may stand where only a number can
		}
		for _, form := range forms {
			e.all = append(e.all, echo{[]byte(form), put})
			e.length = max(e.length, len(form))
		}
	}
	slices.SortStableFunc(e.all, func(a, b echo) int { return len(b.text) - len(a.text) }) // of two the longer one
	return e
}

// spellings are the ways in which a value may be written. One with a quotation mark or a line break is
// looked for only as JSON and URLs write it: else it would reach over what is a string's end.
func spellings(value string) (forms []string) {
	add := func(form string) {
		if !slices.Contains(forms, form) {
			forms = append(forms, form)
		}
	}
	if !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' }) {
		add(value)
	}
	text := string(quote(value))
	add(text[1 : len(text)-1])
	add(strings.ReplaceAll(text[1:len(text)-1], "/", `\/`))
	html, _ := json.Marshal(value) // a string always is JSON
	add(string(html[1 : len(html)-1]))
	var ascii strings.Builder
	for _, r := range text[1 : len(text)-1] {
		switch {
		case r < utf8.RuneSelf:
			ascii.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&ascii, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&ascii, `\u%04x`, r)
		}
	}
	add(ascii.String())
	add(url.QueryEscape(value))
	return forms
}

func (e *echoes) none() bool { return e == nil || len(e.all) == 0 }

// hide masks a whole text; found tells that there was something to mask.
func (e *echoes) hide(text []byte) (out []byte, found bool) {
	if e.none() {
		return text, false
	}
	s := echoSearch{echoes: e}
	out = append(s.feed(text), s.finish()...)
	if !s.found {
		return text, false
	}
	return out, true
}

// echoSearch masks a text that comes in pieces. What may be the beginning of a secret is held back.
type echoSearch struct {
	*echoes
	held  []byte
	found bool
}

// feed gives what can be told of the text so far.
func (s *echoSearch) feed(piece []byte) []byte {
	if s.none() {
		return piece
	}
	text := piece
	if len(s.held) > 0 {
		text = append(s.held, piece...)
	}
	var out []byte
	at := 0
	for {
		hold := s.begins(text, at)
		i, e := s.next(text, at)
		if i < 0 || i >= hold {
			out = append(out, text[at:hold]...)
			s.held = append([]byte(nil), text[hold:]...)
			return out
		}
		s.found = true
		out = append(append(out, text[at:i]...), e.mask...)
		at = i + len(e.text)
	}
}

// finish gives what was held back when nothing more comes: of a secret that was cut off only a part
// that is too short to be one.
func (s *echoSearch) finish() (out []byte) {
	text := s.held
	s.held = nil
	for at := 0; at < len(text); {
		if e, ok := s.at(text[at:]); ok {
			s.found = true
			out, at = append(out, e.mask...), at+len(e.text)
			continue
		}
		if e, ok := s.begun(text[at:]); ok && len(text)-at >= leastEcho {
			s.found = true
			return append(out, e.mask...)
		}
		out = append(out, text[at])
		at++
	}
	return out
}

// next is the first secret from a place on; of several there the longest.
func (s *echoes) next(text []byte, at int) (first int, found echo) {
	first = -1
	rest := text[at:]
	for _, e := range s.all {
		if i := bytes.Index(rest, e.text); i >= 0 && (first < 0 || at+i < first) {
			first, found = at+i, e
			rest = text[at:min(len(text), first+s.length)]
		}
	}
	return first, found
}

// at is the longest secret that a text begins with.
func (s *echoes) at(text []byte) (echo, bool) {
	i := slices.IndexFunc(s.all, func(e echo) bool { return bytes.HasPrefix(text, e.text) })
	if i < 0 {
		return echo{}, false
	}
	return s.all[i], true
}

// begins is where the longest beginning of a secret stands that a text ends with; the text's end if it
// ends with none.
func (s *echoes) begins(text []byte, at int) int {
	for i := max(at, len(text)-s.length+1); i < len(text); i++ {
		if _, ok := s.begun(text[i:]); ok {
			return i
		}
	}
	return len(text)
}

// begun reports whether a secret goes on behind a text.
func (s *echoes) begun(text []byte) (echo, bool) {
	for _, e := range s.all {
		if len(e.text) > len(text) && bytes.HasPrefix(e.text, text) {
			return e, true
		}
	}
	return echo{}, false
}
