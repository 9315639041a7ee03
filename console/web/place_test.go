package web_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/web/webtest"
)

// first is the first item in sight, and how far from the top of what scrolls it stands.
const first = `(() => {
	const s = document.querySelector("[data-scroller]"), top = Math.max(0, s.getBoundingClientRect().top);
	for (const e of s.querySelectorAll("[data-item]")) {
		const r = e.getBoundingClientRect();
		if (r.bottom > top + 1) return { index: Number(e.dataset.index), seq: Number(e.dataset.seq), at: r.top - top };
	}
	return null;
})()`

type place struct {
	Index, Seq int
	At         float64
}

// still waits until nothing moves any more, and gives the place.
func still(tab *webtest.Tab) (p place) {
	tab.Do(fmt.Sprintf(`new Promise((tell) => {
		let last = "", same = 0;
		const look = () => {
			const now = JSON.stringify(%s);
			same = now === last ? same + 1 : 0;
			last = now;
			same > 10 ? tell(true) : requestAnimationFrame(look);
		};
		look();
	})`, first))
	return webtest.Eval[place](tab, first)
}

// TestReloadKeepsThePlace reloads in the middle, at the end and after a jump.
func TestReloadKeepsThePlace(t *testing.T) {
	s := site(t)
	c := turns(s, "long", 40)
	tab := open(t, address(s, c.Key))
	tab.There("[data-complete]")
	for range 30 {
		tab.Wheel(400)
	}
	was := still(tab)
	require.Positive(t, was.Index)
	tab.Reload()
	tab.There("[data-complete]")
	is := still(tab)
	require.Equal(t, was.Seq, is.Seq)
	require.InDelta(t, was.At, is.At, 2)

	// A jump has its own address, which is the place again after a reload.
	tab.Go(address(s, c.Key) + "?seq=118")
	tab.There("[data-target]")
	at := still(tab)
	require.InDelta(t, 118, webtest.Eval[int](tab, `Number(document.querySelector("[data-target]").dataset.seq)`), 12)
	require.True(t, webtest.Eval[bool](tab, `(() => {
		const r = document.querySelector("[data-target]").getBoundingClientRect();
		return r.top >= 0 && r.top < innerHeight;
	})()`), "the target is in sight")
	tab.Shot("jump")
	tab.Reload()
	tab.There("[data-target]")
	require.Equal(t, at.Seq, still(tab).Seq)
	tab.Go(address(s, c.Key) + "#118")
	tab.There("[data-target]")
	require.Equal(t, at.Seq, still(tab).Seq)
}

// TestWhatIsReadDoesNotMove has the transcript grow below while somebody reads further up.
func TestWhatIsReadDoesNotMove(t *testing.T) {
	s := site(t)
	c := s.Talk(s.Namespace, "reading")
	c.Together(func() {
		for i := range 30 {
			turn(c, i+1)
		}
	})
	c.Prompt("One more")
	c.Has(600)
	tab := open(t, address(s, c.Key))
	tab.There(`body[data-connection="live"]`)
	tab.There("[data-complete]")
	atEnd := `(() => { const s = document.querySelector("[data-scroller]"); return s.scrollHeight - s.scrollTop - s.clientHeight < 4; })()`
	tab.Await(atEnd)
	for i := range 20 {
		c.Chunk(fmt.Sprintf("line %d\n\n", i))
	}
	tab.Shows(item("agent")+"[data-open]", "line 19")
	tab.Await(atEnd) // it goes along
	for range 10 {
		tab.Wheel(-300)
	}
	was := still(tab)
	for i := range 20 {
		c.Chunk(fmt.Sprintf("more %d\n\n", i))
	}
	c.Stop("end_turn")
	turn(c, 99)
	tab.There("[data-pill]")
	tab.Await(`/\d/.test(document.querySelector("[data-pill]").innerText)`)
	require.Equal(t, was, still(tab), "it stays where it was")
	tab.Shot("pill")
	tab.Click("[data-pill]")
	tab.Await(atEnd)
}
