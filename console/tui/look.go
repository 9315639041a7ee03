package tui

import (
	"strconv"

	"github.com/steno-io/steno/console/render"
)

// look is how transcripts are shown.
type look struct {
	width    int // columns
	times    bool
	raw      bool
	bodies   bodies
	thoughts bool // folded
}

// bodies says how much is shown of what tools were given and gave.
type bodies int

const (
	bodiesShort bodies = iota
	bodiesFull
	bodiesFolded
)

func (b bodies) next() bodies { return (b + 1) % 3 }

func (b bodies) String() string {
	return [...]string{"tool output: short", "tool output: full", "tool output: folded"}[b]
}

func (l look) options(ends func(render.Part)) render.Options {
	o := render.Options{Colour: true, Width: l.width, Times: l.times, Raw: l.raw, Ends: ends}
	if l.bodies == bodiesFull {
		o.Lines = -1
	}
	return o
}

// folds reports whether lines of a part are folded.
func (l look) folds(p render.Part) bool {
	return p == render.PartThought && l.thoughts || p == render.PartBody && l.bodies == bodiesFolded
}

// fold puts one line in the place of each run of lines that are folded, which says how many they are.
func (l look) fold(lines []line) []line {
	if !l.thoughts && l.bodies != bodiesFolded {
		return lines
	}
	out := make([]line, 0, len(lines))
	for i := 0; i < len(lines); {
		if !l.folds(lines[i].part) {
			out = append(out, lines[i])
			i++
			continue
		}
		first := i
		for i < len(lines) && lines[i].part == lines[first].part {
			i++
		}
		if i-first == 1 { // it takes no less room folded
			out = append(out, lines[first])
			continue
		}
		out = append(out, line{text: paint(dim, "    ⋯ "+strconv.Itoa(i-first)+" lines"), part: lines[first].part, seq: lines[first].seq})
	}
	return out
}
