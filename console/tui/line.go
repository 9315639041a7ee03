package tui

import (
	"bytes"

	"github.com/steno-io/steno/console/render"
)

// line is one line of a page.
type line struct {
	text string // dressed; it begins and ends without a style
	part render.Part
	seq  uint64 // number of the event that wrote it; never less than the line's before
}

// collector takes lines from a renderer. parts says of each line that ends, before it is written, what it
// is a part of.
type collector struct {
	lines []line
	parts []render.Part
	rest  []byte // of the line that has not ended
	seq   uint64 // of what is written now
	begun uint64 // when rest began
}

func (c *collector) ends(p render.Part) { c.parts = append(c.parts, p) }

// Write implements io.Writer.
func (c *collector) Write(p []byte) (int, error) {
	n := len(p)
	for {
		if len(c.rest) == 0 {
			c.begun = c.seq
		}
		at := bytes.IndexByte(p, '\n')
		if at < 0 {
			c.rest = append(c.rest, p...)
			return n, nil
		}
		c.lines = append(c.lines, line{text: string(append(c.rest, p[:at]...)), part: c.parts[0], seq: c.begun})
		c.parts, c.rest, p = c.parts[1:], c.rest[:0], p[at+1:]
	}
}

// all gives the lines, that which has not ended too.
func (c *collector) all(part render.Part) []line {
	if len(c.rest) == 0 {
		return c.lines
	}
	return append(c.lines[:len(c.lines):len(c.lines)], line{text: string(c.rest), part: part, seq: c.begun})
}
