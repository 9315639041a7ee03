package render

import (
	"time"

	"github.com/steno-io/steno/sink"
)

// Fit cuts one line to a width in columns, with an ellipsis in the last one if anything is cut.
func Fit(line string, width int) string {
	if width <= 0 {
		return ""
	}
	return fit(line, width)
}

// Columns is how wide one line is on a terminal.
func Columns(line string) int { return columns(line) }

// Age is how long before now something was, in the largest unit that says it.
func Age(now, at time.Time) string { return age(now, at) }

// Speaker is whose words a hit of a search holds, or of what it is.
func Speaker(h sink.Hit) string {
	_, who := speaker(h)
	return who
}
