package tui

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// pageOf is a page on a shelf's first transcript, opened at its end.
func pageOf(t *testing.T, s *shelf, height int) *page {
	about := s.rows[0]
	after := about.Head - min(about.Head, readEvents)
	events, err := readSpan(t.Context(), s, about.Transcript, after, about.Head+1)
	require.NoError(t, err)
	p := newPage(about, look{width: 60}, after+1)
	p.live().events, p.height = events, height
	return p
}

// fill reads what a page misses, until nothing is missing.
func fill(t *testing.T, p *page, s *shelf) {
	for range 100 {
		after, before, ok := p.missing()
		if !ok {
			return
		}
		events, err := readSpan(t.Context(), s, p.about.Transcript, after, min(before, after+readEvents+1))
		require.NoError(t, err)
		require.NotEmpty(t, events)
		p.insert(events)
	}
	t.Fatal("the page wants more and more")
}

// shown are the numbers of the events that are seen.
func shown(p *page) (numbers []int) {
	for _, l := range p.seen() {
		if m := regexp.MustCompile(`number (\d+)\.`).FindStringSubmatch(l.text); m != nil {
			n, _ := strconv.Atoi(m[1])
			numbers = append(numbers, n)
		}
	}
	return numbers
}

func TestEveryEventIsScrolledPastOnce(t *testing.T) {
	const events = 8_000
	s := newShelf("Sacks")
	s.fill(0, events)
	p := pageOf(t, s, 30)
	next := events
	for range 10 * events {
		numbers := shown(p)
		if numbers == nil {
			break
		}
		require.LessOrEqual(t, next, numbers[len(numbers)-1]+1, "one is left out")
		require.LessOrEqual(t, numbers[0], next)
		next = numbers[0]
		if next == 1 {
			break
		}
		p.scroll(-20)
		fill(t, p, s)
		require.LessOrEqual(t, len(p.segments), heldEvents/readEvents+3)
	}
	require.Equal(t, 1, next)
	for next = 0; !p.atEnd; {
		numbers := shown(p)
		require.NotEmpty(t, numbers)
		for _, n := range numbers {
			require.LessOrEqual(t, n, next+1, "one is left out")
			next = max(next, n)
		}
		p.scroll(20)
		fill(t, p, s)
	}
	numbers := shown(p)
	require.Equal(t, events, numbers[len(numbers)-1])
	require.LessOrEqual(t, numbers[0], next+1)
}

func TestWhatIsSeenHoldsStill(t *testing.T) {
	s := newShelf("Sacks")
	s.fill(0, 400)
	p := pageOf(t, s, 20)
	p.scroll(-100)
	fill(t, p, s)
	before := p.seen()
	for i := range 2000 { // the segment that grows is cut, and what is far is let go
		e := s.store(0, &schema.Message{Role: schema.Assistant, Channel: schema.Answer, MessageID: fmt.Sprint("m", i), Boundary: schema.BoundaryTurnEnd})
		p.add(news{events: []schema.Event{e}})
	}
	require.Equal(t, before, p.seen())
	require.EqualValues(t, 2000, p.news())
	p.look.width, p.look.times = 30, true
	require.Equal(t, before[0].seq, p.seen()[0].seq)
	p.toEnd()
	require.Zero(t, p.news())
	require.Equal(t, 2400, shown(p)[len(shown(p))-1])
}

func TestEventsThatWereLeftOutAreReadAgain(t *testing.T) {
	s := newShelf("Sacks")
	s.fill(0, 300)
	p := pageOf(t, s, 20)
	p.scroll(-30)
	before := p.seen()
	s.fill(0, 5000)
	events, err := readSpan(t.Context(), s, p.about.Transcript, 5200, 5301)
	require.NoError(t, err)
	p.add(news{events: events})
	require.Equal(t, before, p.seen())
	next := shown(p)[0]
	for !p.atEnd {
		for _, n := range shown(p) {
			require.LessOrEqual(t, n, next+1, "one is left out")
			next = max(next, n)
		}
		p.scroll(10)
		fill(t, p, s)
	}
	require.Equal(t, 5300, shown(p)[len(shown(p))-1])
	p.scroll(-100_000)
	fill(t, p, s)
	require.NotEmpty(t, shown(p))
}

func TestOpenTextIsShownBehindTheEvents(t *testing.T) {
	s := newShelf("Sacks")
	s.fill(0, 3)
	p := pageOf(t, s, 40)
	p.look.times = true
	in := newInflow()
	piece := func(i uint64, text string) {
		e := schema.Event{AgentRole: "agent", Ephemeral: true, EmittedAt: began.Add(90e9), Kind: &schema.Delta{MessageID: "m", Index: i, TextFragment: text}}
		in.piece(e)
	}
	piece(0, "There ")
	p.add(in.news())
	piece(1, "are 14 ")
	piece(2, "sacks")
	p.add(in.news())
	text := func() string {
		var b strings.Builder
		for _, l := range p.seen() {
			b.WriteString(l.text + "\n")
		}
		return b.String()
	}
	require.Contains(t, text(), "  There are 14 sacks")
	require.Contains(t, text(), "+1 min 30 s")
	before := text()
	p.look.width = 59
	p.seen()
	p.look.width = 60
	require.Equal(t, before, text(), "made anew it is the same")
	e := s.store(0, &schema.Message{Role: schema.Assistant, Channel: schema.Answer, MessageID: "m", Text: "There are 14 sacks.", Boundary: schema.BoundaryTurnEnd})
	in.event(e, e.StoreSeq)
	p.add(in.news())
	require.Contains(t, text(), "  There are 14 sacks.\n")
	require.Equal(t, 1, strings.Count(text(), "There are"))
}
