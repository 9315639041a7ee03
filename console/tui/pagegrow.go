package tui

import (
	"slices"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// tell takes over what is said of the transcript now; its heading says it, too.
func (p *page) tell(about sink.Summary) {
	p.about = about
	p.segments[0].tell(about)
}

// add takes what came at the end.
func (p *page) add(n news) {
	if n.anew {
		p.segments, p.atEnd = []*segment{{first: 1}}, true
	}
	live := p.live()
	if len(n.events) > 0 && n.events[0].StoreSeq != live.next() {
		live = p.restart(n.events[0].StoreSeq)
	}
	live.add(n)
	if n := len(live.events); n > liveEvents || n > 1 && live.bytes() > liveBytes {
		before := live.part(len(live.events) / 2)
		p.segments = slices.Insert(p.segments, len(p.segments)-1, before)
		p.trim()
	}
}

// restart begins the last segment elsewhere: events were left out. What is seen of the old one stays.
func (p *page) restart(first uint64) *segment {
	last := len(p.segments) - 1
	old := p.segments[last]
	p.segments[last] = &segment{first: first}
	switch {
	case p.atEnd || len(old.events) == 0:
		p.segments = p.segments[last:]
	default:
		if !p.joined(last) { // one gap is enough
			p.segments = p.segments[last:]
		}
		old.whole, old.shown, old.open = true, nil, open{}
		p.segments = slices.Insert(p.segments, len(p.segments)-1, old)
	}
	return p.live()
}

// missing says what is to be read so that one can go on scrolling: events above after, below before.
func (p *page) missing() (after, before uint64, ok bool) {
	at := p.firstSeen()
	begin := p.begin(at.segment)
	if first := p.segments[begin].first; first > 1 {
		if above := p.up(at, nearLines); above.segment == begin && above.line <= 0 {
			after = first - 1 - min(first-1, readEvents)
			if begin > 0 {
				after = max(after, p.segments[begin-1].next()-1)
			}
			return after, first, true
		}
	}
	if gap := len(p.segments) - 1; gap > 0 && !p.joined(gap) && at.segment < gap {
		if _, short := p.down(at, p.height+nearLines); short > 0 {
			return p.segments[gap-1].next() - 1, p.segments[gap].first, true
		}
	}
	return 0, 0, false
}

// begin is the first segment of those that are joined to one.
func (p *page) begin(i int) int {
	for i > 0 && p.joined(i) {
		i--
	}
	return i
}

// insert takes events that were read, and reports whether they join what there is.
func (p *page) insert(events []schema.Event) bool {
	if len(events) == 0 {
		return false
	}
	s := &segment{first: events[0].StoreSeq, events: events, whole: true}
	for i, have := range p.segments {
		switch {
		case s.next() == have.first && (i == 0 || p.segments[i-1].next() <= s.first):
			p.segments = slices.Insert(p.segments, i, s)
			p.trim()
			return true
		case i > 0 && p.segments[i-1].next() == s.first && s.next() < have.first:
			p.segments = slices.Insert(p.segments, i, s)
			p.trim()
			return true
		}
	}
	return false
}

// around shows an event that is not on the page, with what was read around it.
func (p *page) around(events []schema.Event, a anchor) {
	live := p.live()
	for len(events) > 0 && events[len(events)-1].StoreSeq >= live.first {
		events = events[:len(events)-1] // the last segment has them
	}
	p.segments = []*segment{live}
	if len(events) > 0 {
		p.segments = []*segment{{first: events[0].StoreSeq, events: events, whole: true}, live}
	}
	p.jump(a)
}

// trim lets go what is far from what is seen.
func (p *page) trim() {
	for len(p.segments) > 2 && p.large() {
		seen := p.firstSeen().segment
		far := 0
		if last := len(p.segments) - 2; last-seen > seen {
			far = last
		}
		if far == seen {
			return
		}
		p.segments = slices.Delete(p.segments, far, far+1)
	}
}

func (p *page) large() bool {
	events, bytes := 0, 0
	for _, s := range p.segments {
		events += len(s.events)
		bytes += s.bytes()
	}
	return events > heldEvents || bytes > heldBytes
}
