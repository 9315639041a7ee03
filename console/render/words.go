package render

import (
	"time"

	"github.com/steno-io/steno/sink"
)

// Line is text as one visible line: what a terminal might obey stands there as a visible character.
func Line(text string) string { return oneLine(text) }

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

// Span is a duration in the precision that people want.
func Span(d time.Duration) string { return span(d) }

// Speaker is whose words a hit of a search holds, or of what it is.
func Speaker(h sink.Hit) string {
	_, who := speaker(h)
	return who
}

// Visible is text with every character that a terminal might obey as a visible one; line feeds and tabs
// stay.
func Visible(text string) string { return visible(text) }
