package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/steno-io/steno/console/reading"
	"github.com/steno-io/steno/console/render"
)

// Styles are the terminal's own colours, so that its theme decides how they look, light or dark. Where no
// colour is wanted the terminal's driver leaves them out, and what they say stands there in words, too.
const (
	plain  = ""
	dim    = "\x1b[2m"
	bold   = "\x1b[1m"
	chosen = "\x1b[7m"
	good   = "\x1b[32m"
	warn   = "\x1b[33m"
	bad    = "\x1b[31m"
	accent = "\x1b[36m"
	reset  = "\x1b[0m"
)

// styleOf is the style of a tone; what is plain elsewhere is quiet in a list.
func styleOf(t reading.Tone) string {
	return map[reading.Tone]string{reading.Plain: dim, reading.Quiet: dim, reading.Good: good, reading.Bad: bad, reading.Warn: warn}[t]
}

// paint dresses a text. It must be visible already.
func paint(style, text string) string {
	if style == plain || text == "" {
		return text
	}
	return style + text + reset
}

// words is what is left of a row for a text: fitted, and dressed.
func words(style, text string, width int) string {
	return paint(style, render.Fit(reading.OneLine(text), width))
}

// row puts texts at both edges of a row. The left one gives way.
func row(width int, left, right string) string {
	w := ansi.StringWidth(right)
	if w > width {
		return ansi.Truncate(right, width, "…")
	}
	room := width - w
	if w > 0 {
		room--
	}
	left = ansi.Truncate(left, max(0, room), "…")
	return left + strings.Repeat(" ", max(0, width-w-ansi.StringWidth(left))) + right
}

// pad makes a dressed text so wide.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
}

// sheet is exactly so many rows: the last ones are left out, or blank.
func sheet(rows []string, height int) []string {
	for len(rows) < height {
		rows = append(rows, "")
	}
	return rows[:max(0, height)]
}

// wrap breaks words into rows of a width; a word that is longer than that has rows of its own.
func wrap(text string, width int) []string {
	return strings.Split(ansi.Wrap(text, max(1, width), ""), "\n")
}

// plural is a noun for so many.
func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}
