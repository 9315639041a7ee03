package web_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/web/webtest"
)

// tall has a list of a million items of 40 pixels in a page, some of them twice as high as they were guessed: more
// than a browser can lay out.
const tall = `(async () => {
	const { Window } = await import("/static/window.js");
	const scroller = document.createElement("div"), sheet = document.createElement("div");
	scroller.style = "height: 800px; overflow-y: auto; overflow-anchor: none";
	sheet.style = "position: relative";
	document.body.style = "margin: 0";
	scroller.append(sheet);
	document.body.append(scroller);
	const items = Array.from({ length: 1e6 }, (_, n) => ({ n, height: 0, guess: 0 }));
	window.list = new Window(scroller, sheet, {
		items: () => items, count: () => items.length, indexOf: (item) => item.n, shown: () => true, guess: () => 40, scrolled: () => {},
		make: (item) => {
			const row = document.createElement("div");
			row.style = "contain: strict; overflow: hidden; height: " + (item.n % 10 === 3 ? 80 : 40) + "px";
			row.textContent = row.dataset.n = item.n;
			return row;
		},
		update: () => {},
	});
	list.changed();
	list.toStart();
	window.items = items;
	window.scroller = scroller;
	// seen are the number of the first row in sight, of the last one, and how many pixels between rows are empty or seen twice.
	window.seen = () => {
		const all = [...sheet.children].map((e) => [Number(e.dataset.n), e.getBoundingClientRect()]).filter(([, r]) => r.bottom > 0.5 && r.top < 799.5);
		if (all.length === 0) return null;
		let gaps = Math.max(0, all[0][1].top) + Math.max(0, 800 - all.at(-1)[1].bottom);
		for (let i = 1; i < all.length; i++) gaps += Math.abs(all[i][1].top - all[i - 1][1].bottom) + Math.abs(all[i][0] - all[i - 1][0] - 1) * 40;
		return { First: all[0][0], Last: all.at(-1)[0], Gaps: Math.round(gaps), At: all[0][1].top };
	};
	window.steady = (to) => new Promise((tell) => {
		to?.();
		let last = "", same = 0;
		const look = () => {
			const now = JSON.stringify(seen()) + scroller.scrollTop;
			same = now === last && seen() !== null ? same + 1 : 0;
			last = now;
			same > 3 ? tell(seen()) : requestAnimationFrame(look);
		};
		requestAnimationFrame(look);
	});
})()`

// TestAllRowsAreReplacedAtOnce has every item become another, of which none has a row yet.
func TestAllRowsAreReplacedAtOnce(t *testing.T) {
	tab := blank(t)
	tab.Do(tall)
	got := webtest.Eval[struct {
		Few   int
		Seen  sight
		After int
	}](tab, `(async () => {
		items.length = 10_000;
		list.changed(0);
		await steady(() => list.toItem(items[5000], 0));
		const make = list.view.make;
		list.view.make = (item) => { // longer than a frame has time
			for (const until = performance.now() + 9; performance.now() < until;);
			return make(item);
		};
		const others = () => {
			for (let n = 0; n < items.length; n++) items[n] = { n, height: 0, guess: 0 };
			list.anchor = { item: items[5000], offset: 0 };
		};
		others();
		list.changed(0);
		list.frame();
		const Few = list.made;
		others();
		list.swapped();
		list.frame();
		const Seen = seen();
		list.changed(0);
		others();
		list.frame();
		return { Few, Seen, After: list.made };
	})()`)
	require.Equal(t, 2, got.Few, "what the reader looks at, and one row beside it")
	require.Equal(t, 5000, got.Seen.First)
	require.Equal(t, 0, got.Seen.Gaps, "no row waits")
	require.Equal(t, 2, got.After, "once")
}

type sight struct {
	First, Last, Gaps int
	At                float64
}

// TestAListHigherThanABrowserLaysOut goes to the ends of a million items, leaps, and scrolls in short steps.
func TestAListHigherThanABrowserLaysOut(t *testing.T) {
	tab := blank(t)
	tab.Do(tall)
	is := func(do string) sight {
		t.Helper()
		s := webtest.Eval[sight](tab, "steady(() => { "+do+" })")
		require.Equal(t, 0, s.Gaps, "%s: rows stand one below the other", do)
		return s
	}
	wheel := func(down float64) sight {
		t.Helper()
		tab.Wheel(down)
		return is("")
	}
	require.Less(t, webtest.Eval[float64](tab, "scroller.scrollHeight"), 16e6, "what any browser lays out")
	require.Equal(t, 0, is("").First)
	require.Equal(t, 999_999, is("list.toEnd()").Last)
	require.True(t, webtest.Eval[bool](tab, "list.atEnd() && scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 2"))

	// A leap goes as far in the list as on the scroll bar; a short step from there is as long as it looks.
	middle := is("scroller.scrollTop = scroller.scrollHeight / 2")
	require.InDelta(t, 500_000, middle.First, 5000)
	at := webtest.Eval[float64](tab, "list.top")
	next := wheel(400)
	require.InDelta(t, at+400, webtest.Eval[float64](tab, "list.top"), 1)
	require.InDelta(t, middle.First+9, next.First, 1)
	require.Equal(t, middle, wheel(-400), "and back")

	// Many short steps, to what is beyond the place at which the browser would be at its end.
	require.Equal(t, 123_456, is("list.toItem(items[123456], 0)").First)
	is("scroller.scrollTop = scroller.scrollHeight - 260_000")
	before := webtest.Eval[float64](tab, "list.top")
	tab.Do(`(async () => { for (let n = 0; n < 40; n++) await new Promise((tell) => { scroller.scrollTop += 3000; requestAnimationFrame(tell); }); })()`)
	after := is("")
	require.InDelta(t, before+40*3000, webtest.Eval[float64](tab, "list.top"), 3000, "at %v", after)
	require.Less(t, after.Last, 999_000)

	// At both ends places are what they are.
	is("list.toEnd()")
	wheel(-3000)
	require.InDelta(t, 3000, webtest.Eval[float64](tab, "scroller.scrollHeight - scroller.scrollTop - 800"), 500)
	require.InDelta(t, 0, webtest.Eval[float64](tab, "scroller.scrollHeight - scroller.scrollTop - 800 - (list.most - list.top)"), 2)
	require.Equal(t, 0, is("list.toStart()").First)
	wheel(3000)
	require.InDelta(t, 3000, webtest.Eval[float64](tab, "scroller.scrollTop"), 500) // rows above are measured by now, too
	require.InDelta(t, 0, webtest.Eval[float64](tab, "scroller.scrollTop - list.top"), 1)
}
