package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// visible makes every character that a terminal might obey, or that nobody would see, a visible one:
// escape and other control characters, direction marks, tags, unassigned ones. Line feeds and tabs
// stay, and the joiners inside emoji and words. A carriage return before a line feed goes.
func visible(s string) string {
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

// oneLine is visible text on one line.
func oneLine(s string) string {
	return strings.Join(strings.Fields(visible(s)), " ")
}

// columns is how wide text is on a terminal.
func columns(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return uniseg.StringWidth(s)
		}
	}
	return len(s)
}

// fit cuts one line to a width, with an ellipsis in the last column if anything is cut.
func fit(s string, width int) string {
	if columns(s) <= width {
		return s
	}
	head, _ := take(s, width-1)
	return strings.TrimRight(head, " ") + ellipsis
}

// take splits off as much as fits into a width, never inside a character as people see it.
func take(s string, width int) (head, tail string) {
	used, cut, state := 0, 0, -1
	for rest := s; rest != ""; {
		var cluster string
		var w int
		cluster, rest, w, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if used+w > width {
			break
		}
		used, cut = used+w, cut+len(cluster)
	}
	return s[:cut], s[cut:]
}
