package secrets

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Scanner finds suspects in texts and reuses its memory; the zero value is ready. It takes time in
// proportion to the text, whatever the text is. It is not safe for concurrent use.
type Scanner struct{ plain []byte }

// Scan calls found for each suspect of a text, in order. The value is what would be the secret, good until
// found returns: to be told from others, never to be shown.
func (s *Scanner) Scan(text []byte, found func(kind Kind, value []byte)) {
	text = s.unescape(text)
	for at := 0; at+1 < len(text); {
		if starts[pair(text[at], text[at+1])] == 0 {
			at++
			continue
		}
		next := at + 1
		for _, a := range anchorsAt(text, at) {
			if kind, value, end := a.match(text, at); end > at {
				next = end
				if kind != "" {
					found(kind, value)
				}
				break
			}
		}
		at = next
	}
}

// unescape undoes the escapes of JSON strings. A text without a backslash is given as it is.
func (s *Scanner) unescape(text []byte) []byte {
	at := bytes.IndexByte(text, '\\')
	if at < 0 {
		return text
	}
	out := s.plain[:0]
	for at >= 0 && at+1 < len(text) {
		out = append(out, text[:at]...)
		c := text[at+1]
		text = text[at+2:]
		switch i := strings.IndexByte("nrtbf", c); {
		case i >= 0:
			out = append(out, "\n\r\t\b\f"[i])
		case c == 'u':
			var r rune
			r, text = codePoint(text)
			out = utf8.AppendRune(out, r)
		case c == '"' || c == '/' || c == '\\':
			out = append(out, c)
		default: // no escape of JSON
			out = append(out, '\\', c)
		}
		at = bytes.IndexByte(text, '\\')
	}
	s.plain = append(out, text...)
	return s.plain
}

// codePoint reads the digits behind \u, and the escape of a second half.
func codePoint(text []byte) (rune, []byte) {
	first, ok := hexDigits(text)
	if !ok {
		return utf8.RuneError, text
	}
	text = text[4:]
	if utf16.IsSurrogate(first) && len(text) >= 2 && text[0] == '\\' && text[1] == 'u' {
		if second, ok := hexDigits(text[2:]); ok {
			if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
				return r, text[6:]
			}
		}
	}
	return first, text
}

func hexDigits(text []byte) (r rune, ok bool) {
	if len(text) < 4 {
		return 0, false
	}
	for _, c := range text[:4] {
		i := strings.IndexByte("0123456789abcdefABCDEF", c)
		if i < 0 {
			return 0, false
		}
		if i > 15 {
			i -= 6
		}
		r = r<<4 | rune(i)
	}
	return r, true
}

// anchor is a text that a suspect begins with, or that stands before it.
type anchor struct {
	text string
	fold bool // in upper or lower case
	// at is given where the anchor is, and tells what is there and where it ends; at most at: nothing is there,
	// and other anchors may be. A kind of none passes over what is no suspect.
	at func(text []byte, at int) (kind Kind, value []byte, end int)
}

func (a *anchor) match(text []byte, at int) (Kind, []byte, int) {
	if len(text)-at < len(a.text) {
		return "", nil, at
	}
	here := text[at : at+len(a.text)]
	if string(here) != a.text && (!a.fold || !strings.EqualFold(string(here), a.text)) {
		return "", nil, at
	}
	return a.at(text, at)
}

// starts are the anchors by their first two bytes, so that one look passes over most of a text: the number
// of a group, 0 where no anchor begins so.
var (
	starts [1 << 14]uint8
	groups = [][]*anchor{nil}
)

func init() { // anchors look for others behind them, and so for starts
	for _, a := range anchors() {
		first, second := []byte{a.text[0]}, []byte{a.text[1]}
		if a.fold {
			first, second = bothCases(a.text[0]), bothCases(a.text[1])
		}
		for _, f := range first {
			for _, s := range second {
				group := &starts[pair(f, s)]
				if *group == 0 {
					*group = uint8(len(groups))
					groups = append(groups, nil)
				}
				groups[*group] = append(groups[*group], &a)
			}
		}
	}
}

func anchorsAt(text []byte, at int) []*anchor { return groups[starts[pair(text[at], text[at+1])]] }

func bothCases(c byte) []byte { return []byte(strings.ToLower(string(c)) + strings.ToUpper(string(c))) }

func pair(a, b byte) int { return int(a&127)<<7 | int(b&127) }
