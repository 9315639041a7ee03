package reading

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible makes every character that a terminal might obey, or that nobody would see, a visible one:
// escape and other control characters, direction marks, tags, unassigned ones. Line feeds and tabs
// stay, and the joiners inside emoji and words. A carriage return before a line feed goes.
func Visible(s string) string {
	if clean(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "⟨%02X⟩", s[i])
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
		case shown(r):
			b.WriteRune(r)
		case r < ' ':
			b.WriteRune('\u2400' + r) // the picture of the control character
		case r == '\x7f':
			b.WriteRune('\u2421')
		default:
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		}
		i += size
	}
	return b.String()
}

func clean(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= utf8.RuneSelf || c < ' ' && c != '\n' && c != '\t' || c == '\x7f' {
			return false
		}
	}
	return true
}

func shown(r rune) bool {
	switch r {
	case '\n', '\t', '\u200c', '\u200d':
		return true
	}
	return unicode.IsGraphic(r)
}

// OneLine is visible text on one line.
func OneLine(s string) string {
	return strings.Join(strings.Fields(Visible(s)), " ")
}
