package proxy

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// span is the place of a value in a text.
type span struct{ from, to int }

// member is a member of an object, or an element of an array. Where the text breaks off or is no JSON
// any more, the last member goes to the end of its text and is not whole.
type member struct {
	name  string // empty for an element
	index int
	key   span // the name as sent, with its quotation marks
	at    span
	whole bool
}

// reading are the options of every reading: odd JSON is JSON.
var reading = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// decode reads a text from the start of a value on.
func decode(text []byte, at span) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(text[at.from:at.to:at.to]), reading...)
}

// inside gives the members or elements of the value at a place, one reading of the text for each
// level: what is not asked for costs no memory.
func inside(text []byte, at span) iter.Seq[member] {
	return func(yield func(member) bool) {
		d := decode(text, at)
		open, err := d.ReadToken()
		if err != nil || open.Kind() != '{' && open.Kind() != '[' {
			return
		}
		named := open.Kind() == '{'
		for i := 0; ; i++ {
			m := member{index: i}
			if k := d.PeekKind(); k == '}' || k == ']' {
				return
			}
			if named {
				name, err := d.ReadValue()
				if err != nil {
					return
				}
				m.key.to = at.from + int(d.InputOffset())
				m.key.from = m.key.to - len(name)
				m.name = unquote(name)
			}
			behind := at.from + int(d.InputOffset())
			v, err := d.ReadValue()
			if err != nil {
				m.at = span{behind + leading(text[behind:at.to]), at.to}
				if m.at.from < m.at.to {
					yield(m)
				}
				return
			}
			m.whole = true
			m.at.to = at.from + int(d.InputOffset())
			m.at.from = m.at.to - len(v)
			if !yield(m) {
				return
			}
		}
	}
}

// leading counts what stands before a value.
func leading(b []byte) int { return len(b) - len(bytes.TrimLeft(b, " \t\r\n:,")) }

// roots gives the values of a text: one, if it is JSON; the last is not whole if it is none from
// somewhere on.
func roots(text []byte) iter.Seq[member] {
	return func(yield func(member) bool) {
		at := span{0, len(text)}
		if bytes.HasPrefix(text, []byte("\uFEFF")) {
			at.from = len("\uFEFF")
		}
		d := decode(text, at)
		for i := 0; ; i++ {
			behind := at.from + int(d.InputOffset())
			v, err := d.ReadValue()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(member{index: i, at: span{behind + leading(text[behind:]), len(text)}})
				return
			}
			to := at.from + int(d.InputOffset())
			if !yield(member{index: i, at: span{to - len(v), to}, whole: true}) {
				return
			}
		}
	}
}

// isJSON reports whether a text is one JSON value.
func isJSON(text []byte) bool {
	n := 0
	for root := range roots(text) {
		if n++; n > 1 || !root.whole {
			return false
		}
	}
	return n == 1
}

// scalars gives the strings, numbers, true and false in a value, itself included, but for the names of
// members. The last goes to the end of the text if that breaks off.
func scalars(text []byte, at span) iter.Seq[span] {
	return func(yield func(span) bool) {
		d := decode(text, at)
		for {
			behind := at.from + int(d.InputOffset())
			container, n := d.StackIndex(d.StackDepth())
			name := container == '{' && n%2 == 0
			kind := d.PeekKind()
			if kind == '{' || kind == '[' || kind == '}' || kind == ']' {
				if _, err := d.ReadToken(); err != nil {
					return
				}
			} else {
				v, err := d.ReadValue()
				if err != nil {
					if s := (span{behind + leading(text[behind:at.to]), at.to}); s.from < s.to {
						yield(s)
					}
					return
				}
				to := at.from + int(d.InputOffset())
				if !name && kind != 'n' && !yield(span{to - len(v), to}) {
					return
				}
			}
			if d.StackDepth() == 0 {
				return
			}
		}
	}
}

func kindOf(text []byte, at span) jsontext.Kind {
	if at.from >= at.to {
		return 0
	}
	return jsontext.Kind(text[at.from])
}

// textOf is the value of a string; ok is false for anything else.
func textOf(text []byte, at span) (s string, ok bool) {
	if kindOf(text, at) != '"' || at.to-at.from < 2 || text[at.to-1] != '"' {
		return "", false
	}
	return unquote(text[at.from:at.to]), true
}

// unquote reads a string that the decoder has passed: its only fault can be bad UTF-8, for which
// U+FFFD stands then.
func unquote(raw []byte) string {
	b, _ := jsontext.AppendUnquote(nil, raw)
	return string(b)
}

func quote(s string) []byte {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil { // bad UTF-8: replaced, as a reader would
		b, _ = jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return b
}

// fold spells a name in one way: of camelCase and snake_case, of capitals and small letters.
func fold(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// edit puts other bytes into a place.
type edit struct {
	span
	text []byte
}

// splice makes the edits; all else stays byte for byte. Of edits that overlap the first counts.
func splice(text []byte, edits []edit) []byte {
	if len(edits) == 0 {
		return text
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	out := make([]byte, 0, len(text))
	at := 0
	for _, e := range edits {
		if e.from < at {
			continue
		}
		out = append(append(out, text[at:e.from]...), e.text...)
		at = e.to
	}
	return append(out, text[at:]...)
}
