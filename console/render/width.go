package render

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

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
