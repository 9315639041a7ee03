package tui

import (
	"slices"

	"github.com/steno-io/steno/sink"
)

// Bounds of what a page holds. What is further away is read again when it is scrolled to.
const (
	readEvents   = 250      // at a time
	readBytes    = 4 << 20  // of them, at most, beside one more event
	liveEvents   = 600      // of the segment that grows
	liveBytes    = 16 << 20 // likewise
	heldEvents   = 6000     // of all segments
	heldBytes    = 48 << 20 // of their values, roughly
	nearLines    = 120      // lines from an edge at which more is read
	contextLines = 3        // lines above what is jumped to
)

// page is a transcript on its screen: segments in order, of which the last one grows, and what part of them
// is seen. There may be a gap before the last segment, never elsewhere.
type page struct {
	about    sink.Summary
	look     look
	height   int // lines that are seen
	segments []*segment
	top      anchor // the first line that is seen, unless atEnd
	atEnd    bool
	left     uint64 // number of the last event when the end was left
}

// anchor is a line by the number of its event, which holds when lines are made anew.
type anchor struct {
	seq    uint64
	offset int // from the first line of that number
}

// place is a line by where it is now.
type place struct{ segment, line int }

func newPage(about sink.Summary, l look, first uint64) *page {
	return &page{about: about, look: l, atEnd: true, segments: []*segment{{first: first}}}
}

func (p *page) live() *segment { return p.segments[len(p.segments)-1] }

func (p *page) lines(i int) []line { return p.segments[i].show(p.about, p.look) }

func (p *page) head() uint64 { return p.live().next() - 1 }

func (p *page) joined(i int) bool { return i == 0 || p.segments[i-1].next() == p.segments[i].first }

func (p *page) last() place { i := len(p.segments) - 1; return place{i, len(p.lines(i)) - 1} }

func (p *page) anchorOf(at place) anchor {
	lines := p.lines(at.segment)
	if at.line < 0 || at.line >= len(lines) { // nothing is shown yet
		return anchor{seq: p.segments[at.segment].next()}
	}
	a := anchor{seq: lines[at.line].seq}
	for at.line > a.offset && lines[at.line-a.offset-1].seq == a.seq {
		a.offset++
	}
	return a
}

// find gives the line of an anchor, or the nearest there is.
func (p *page) find(a anchor) place {
	i := len(p.segments) - 1
	for i > 0 && p.segments[i].first > a.seq {
		i--
	}
	lines := p.lines(i)
	at, _ := slices.BinarySearchFunc(lines, a.seq, func(l line, seq uint64) int {
		if l.seq < seq {
			return -1
		}
		return 1
	})
	for offset := a.offset; offset > 0 && at+1 < len(lines) && lines[at+1].seq <= a.seq; offset-- {
		at++
	}
	return place{i, max(0, min(at, len(lines)-1))}
}

// first is the first line that is seen.
func (p *page) firstSeen() place {
	if p.atEnd {
		return p.up(p.last(), p.height-1)
	}
	return p.find(p.top)
}

// up goes up by lines, as far as there are any.
func (p *page) up(at place, n int) place {
	for n > 0 {
		if at.line >= n {
			return place{at.segment, at.line - n}
		}
		if at.segment == 0 || !p.joined(at.segment) {
			return place{at.segment, 0}
		}
		n -= at.line + 1
		at.segment--
		at.line = len(p.lines(at.segment)) - 1
	}
	return at
}

// down goes down by lines; how many of them there are not comes with it.
func (p *page) down(at place, n int) (place, int) {
	for n > 0 {
		rest := len(p.lines(at.segment)) - 1 - at.line
		if n <= rest {
			return place{at.segment, at.line + n}, 0
		}
		if at.segment == len(p.segments)-1 || !p.joined(at.segment+1) {
			return place{at.segment, at.line + max(0, rest)}, n - max(0, rest)
		}
		n -= rest + 1
		at = place{at.segment + 1, 0}
		if len(p.lines(at.segment)) == 0 {
			at.line, n = -1, n+1
		}
	}
	return at, 0
}

// seen gives the lines that are seen.
func (p *page) seen() []line {
	at := p.firstSeen()
	var out []line
	for i := at.segment; i < len(p.segments) && len(out) < p.height && (i == at.segment || p.joined(i)); i++ {
		lines := p.lines(i)
		if i == at.segment {
			lines = lines[max(0, min(at.line, len(lines))):]
		}
		out = append(out, lines[:min(len(lines), p.height-len(out))]...)
	}
	return out
}

// scroll moves what is seen by lines, up where n is below 0.
func (p *page) scroll(n int) {
	at := p.firstSeen()
	if n < 0 {
		if above := p.up(at, -n); above != at {
			p.stop(above)
		}
		return
	}
	if p.atEnd {
		return
	}
	bottom, short := p.down(at, n+p.height-1)
	at, _ = p.down(at, n)
	if short == 0 && bottom != p.last() {
		p.stop(at)
		return
	}
	if bottom.segment == len(p.segments)-1 {
		p.toEnd()
		return
	}
	p.stop(p.up(bottom, p.height-1)) // before the gap, until what is in it has come
}

// stop makes a line the first that is seen, and holds still there.
func (p *page) stop(at place) {
	if p.atEnd {
		p.atEnd, p.left = false, p.head()
	}
	p.top = p.anchorOf(at)
}

// toEnd follows the end.
func (p *page) toEnd() { p.atEnd = true }

// news is how many events came since the end was left.
func (p *page) news() uint64 {
	if p.atEnd || p.head() <= p.left {
		return 0
	}
	return p.head() - p.left
}

// has reports whether an event is on the page.
func (p *page) has(seq uint64) bool {
	return slices.ContainsFunc(p.segments, func(s *segment) bool { return s.first <= seq && seq < s.next() })
}

// jump shows a line that is on the page.
func (p *page) jump(a anchor) { p.stop(p.up(p.find(a), contextLines)) }
