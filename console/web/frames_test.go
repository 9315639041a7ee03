package web_test

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/consoletest"
	"github.com/steno-io/steno/console/web/webtest"
)

// long has the figures taken at full size; `make web` sets it. Times are printed, never asserted: what is
// asserted is what makes them possible, and that nothing is missing.
var long = flag.Bool("long", false, "50,000 events, and 1,000 pieces a second for ten seconds")

// nodes bounds the elements that a page may hold, however long the transcript is.
const nodes = 12_000

// many is a transcript of at least so many events, and how many it has.
func many(s *consoletest.Site, events uint64) (*consoletest.Talk, uint64) {
	tap := s.Tap(s.Identity("many"))
	tap.Steps(time.Now().Add(-time.Hour), time.Millisecond)
	c := s.TalkOn(tap, nil)
	n, head := 0, uint64(0)
	for head < events {
		batch := 100
		if n > 0 { // as many as are missing, by what there is
			batch = int((events-head)*uint64(n)/head) + 1
		}
		c.Together(func() {
			for range batch {
				n++
				turn(c, n)
			}
		})
		s.Folded(c.Tap)
		c.Prompt(fmt.Sprintf("mark %d", n)) // its number says that everything before it is stored
		head = c.HasSaid(fmt.Sprintf("mark %d", n))
		c.Stop("end_turn")
	}
	c.Close()
	return c, c.Head()
}

// TestAVeryLongTranscript scrolls from one end to the other, by the wheel and by jumps.
func TestAVeryLongTranscript(t *testing.T) {
	events := uint64(2_000)
	if *long {
		events = 50_000
	}
	s := alone(t)
	c, head := many(s, events)
	s.Indexed() // nothing else is at work by now
	tab := open(t, s.URL+"/")
	opening := func() {
		tab.Click(`[data-key="` + c.Key.String() + `"] a`)
		tab.There(`body[data-view="transcript"][data-ready]`)
		tab.There("[data-complete]")
	}
	t.Logf("%d events, opened and read: %s", head, tab.Frames(opening))
	require.EqualValues(t, head, webtest.Eval[int](tab, `Number(document.querySelector("[data-loaded]").dataset.loaded)`))
	total := webtest.Eval[int](tab, `Number(document.querySelector("[data-total]").dataset.total)`)
	bounded := func() {
		t.Helper()
		require.Less(t, webtest.Eval[int](tab, `document.querySelectorAll("*").length`), nodes)
	}
	bounded()
	again := func(what string, do func()) { // for what it takes of the processor
		if *long {
			t.Logf("%s again: %s", what, tab.Work(do))
		}
	}
	again("opened", func() {
		tab.Press("u")
		tab.There(`[data-key="` + c.Key.String() + `"] a`)
		opening()
	})
	turning := func() {
		tab.Press("g")
		tab.There(`[data-item][data-index="0"]`)
		passed, enough := 0, 200 // items
		if *long {
			enough = 4000
		}
		for end := false; !end && passed < enough; {
			for range 10 {
				tab.Wheel(1000)
			}
			end = webtest.Eval[bool](tab, atEnd)
			is := still1(tab).Index
			require.True(t, end || is > passed, "it goes on, from item %d to the end or to item %d: now at %d", passed, enough, is)
			passed = is
		}
	}
	t.Logf("of %d items by the wheel, 1000 pixels a step: %s", total, tab.Frames(turning))
	bounded()
	again("by the wheel", turning)
	n := 20
	if *long {
		n = 100
	}
	leaping := func() {
		for i := range n {
			tab.Do(fmt.Sprintf(`(() => { const s = document.querySelector("[data-scroller]"); s.scrollTop = s.scrollHeight * %g; })()`, float64((i*37)%n)/float64(n)))
			still2(tab)
			tab.Await(`(() => { const p = %s; return p !== null; })()`, first)
		}
	}
	t.Logf("%d jumps: %s", n, tab.Frames(leaping))
	bounded()
	again("jumps", leaping)
	if *long {
		t.Logf("the processor was in %q", tab.Profile(leaping))
	}
	tab.Press("G")
	tab.Await(`[...document.querySelectorAll("[data-item]")].at(-1).dataset.kind === "stop"`)
	tab.Await(`Number([...document.querySelectorAll("[data-item]")].at(-1).dataset.seq) > %d`, head-5)
	tab.Shot("end")

	began := time.Now()
	tab.Click(verifyButton)
	tab.There(`[data-proof="verified"]`)
	t.Logf("verified in %s: %s", time.Since(began).Round(time.Millisecond), tab.Text(`[data-proof]`))
}

// still1 is the place as it is.
func still1(tab *webtest.Tab) place { return webtest.Eval[place](tab, first) }

// TestAThousandPiecesASecond types so fast, and loses none.
func TestAThousandPiecesASecond(t *testing.T) {
	seconds := 1
	if *long {
		seconds = 10
	}
	s := alone(t)
	c := s.Talk(s.Namespace, "fast")
	c.Prompt("Fast")
	c.Has(2)
	tab := open(t, address(s, c.Key))
	tab.There(`body[data-connection="live"]`)
	n := 0
	typing := func(seconds int) {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for range seconds * 100 {
			<-tick.C
			c.Together(func() {
				for range 10 {
					n++
					piece := fmt.Sprintf("w%d ", n)
					if n%40 == 0 {
						piece = fmt.Sprintf("**w%d**\n\n- `x` ", n)
					}
					c.Chunk(piece)
				}
			})
		}
		tab.Shows(item("agent")+"[data-open]", fmt.Sprintf("w%d", n))
	}
	t.Logf("1000 pieces a second: %s", tab.Frames(func() { typing(seconds) }))
	if *long {
		t.Logf("2 s more: %s", tab.Work(func() { typing(2) }))
	}
	c.Stop("end_turn")
	c.Close()
	tab.There(`body[data-connection="ended"]`)
	tab.Gone("[data-open]")
	if tab.Count(item("agent")+` [data-action="more"]`) > 0 { // a message so long is shown in part
		tab.Click(item("agent") + ` [data-action="more"]`)
	}
	text := `document.querySelector('[data-kind="agent"] [data-text]').textContent`
	tab.Await(`%s.includes("w%d")`, text, n)
	var want []string
	for i := range n {
		want = append(want, fmt.Sprintf("w%d", i+1))
	}
	require.Equal(t, want, webtest.Eval[[]string](tab, text+`.match(/w\d+/g)`), "every piece is there, in its place")
	require.Equal(t, 1, tab.Count(item("agent")))
}
