package render

import "github.com/steno-io/steno/sink"

// Part is what a line of a page is a part of, for those who fold what is long.
type Part uint8

// The parts.
const (
	PartText    Part = iota // what was said, heads, and lines that tell one thing
	PartThought             // text of a thought
	PartBody                // what a tool was given, gave or changed, noise, and what a raw record holds
)

// Resume takes a transcript up in its middle: nothing is written, and what follows is told as if its
// heading had been, and something behind it: a blank line comes first.
func (r *Renderer) Resume(s sink.Summary) {
	r.about(s)
	r.page.blank, r.current = false, textBlock
}

// Settle brings what is unfinished to the end of its line, as before the end of a page that goes on
// elsewhere.
func (r *Renderer) Settle() error {
	r.settle()
	return r.page.flush()
}

// ended tells of what the line was that ends.
func (p *page) ended() {
	part := p.part
	if part == PartText {
		part = p.within
	}
	p.part = PartText
	if p.ends != nil {
		p.ends(part)
	}
}

// inside makes the lines that follow parts of something, until it is left.
func (p *page) inside(part Part) (leave func()) {
	before := p.within
	p.within = part
	return func() { p.within = before }
}
