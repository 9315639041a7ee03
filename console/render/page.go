package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/steno-io/steno/console/reading"
)

// page writes styled text and knows the column. What is not visible by then is made so. The first error of
// the writer stays.
type page struct {
	out    *bufio.Writer
	colour bool
	width  int // 0: lines are not wrapped
	column int
	style  style // that the terminal is in
	blank  bool  // the last line is blank, or there is none
	ends   func(Part)
	part   Part // that the line is of
	within Part // that lines are of which say nothing else
}

func newPage(w io.Writer, o Options) *page {
	return &page{out: bufio.NewWriter(w), colour: o.Colour, width: o.Width, blank: true, ends: o.Ends}
}

// put writes text without a line feed at the current column.
func (p *page) put(s style, text string) {
	if text == "" {
		return
	}
	text = reading.Visible(text)
	p.dress(s)
	p.write(text)
	p.column += columns(text)
	p.blank = false
}

// dress changes the terminal's style, if it is another one.
func (p *page) dress(s style) {
	if !p.colour || palette[s] == palette[p.style] {
		return
	}
	if p.style != plain {
		p.write(reset)
	}
	p.write(palette[s])
	p.style = s
}

func (p *page) write(text string) {
	_, _ = p.out.WriteString(text) // a bufio.Writer keeps its error, and flush gives it
}

func (p *page) newline() {
	p.dress(plain)
	p.ended()
	p.write("\n")
	p.blank = p.column == 0
	p.column = 0
}

// gap leaves one blank line, unless there is one.
func (p *page) gap() {
	if p.column > 0 {
		p.newline()
	}
	if !p.blank {
		p.newline()
	}
}

// right writes text at the right edge of the line, or behind two spaces where the line is not
// wrapped, or where it does not fit.
func (p *page) right(s style, text string) {
	if text == "" {
		return
	}
	p.put(plain, strings.Repeat(" ", max(2, p.width-p.column-columns(text))))
	p.put(s, text)
}

// longLine is where a line that tells one thing ends, on a page that has no width.
const longLine = 200

// room is how much fits on the line beside what is reserved.
func (p *page) room(reserved int) int {
	width := p.width
	if width == 0 {
		width = longLine
	}
	return max(8, width-p.column-reserved)
}

// flush leaves the terminal as it was found: the program may end here.
func (p *page) flush() error {
	p.dress(plain)
	if err := p.out.Flush(); err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	return nil
}
