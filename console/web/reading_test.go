package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/consoletest"
	"github.com/steno-io/steno/console/web/webtest"
)

// atEnd is whether the end of a transcript is in sight.
const atEnd = `(() => { const s = document.querySelector("[data-scroller]"); return s.scrollHeight - s.scrollTop - s.clientHeight < 4; })()`

// TestSmallStepsLeaveTheEnd scrolls away from the end of what grows in steps that are hardly seen.
func TestSmallStepsLeaveTheEnd(t *testing.T) {
	s := site(t)
	c := s.Talk(s.Namespace, "slowly")
	c.Together(func() {
		for i := range 5 {
			turn(c, i+1)
		}
	})
	c.Prompt("One more")
	c.HasSaid("One more")
	tab := open(t, address(s, c.Key))
	tab.There(`body[data-connection="live"]`)
	tab.Await(atEnd)
	still(tab)
	for range 4 {
		tab.Wheel(-10)
	}
	was := still(tab)
	for i := range 20 {
		c.Chunk(fmt.Sprintf("line %d\n\n", i))
	}
	tab.Shows("[data-pill]:not([hidden])", "")
	c.Stop("end_turn")
	tab.Await(`/\d new/.test(document.querySelector("[data-pill]").innerText)`)
	require.Equal(t, was, still(tab), "it stays where it was")
	tab.Do(`document.querySelector("[data-scroller]").scrollTop = 1e9`)
	tab.Await(atEnd)
	total := webtest.Eval[int](tab, `Number(document.querySelector("[data-items]").dataset.total)`)
	turn(c, 9)
	tab.Await(`document.querySelector("[data-items]").dataset.total > %d`, total+5)
	tab.Await(`[...document.querySelectorAll("[data-item]")].at(-1).dataset.kind === "stop"`)
	tab.Await(atEnd) // it goes along again
}

// TestWhatIsHeldStays scrolls a row with the focus, and one with a selection, far out of sight.
func TestWhatIsHeldStays(t *testing.T) {
	s := site(t)
	c := turns(s, "held", 20)
	tab := open(t, address(s, c.Key))
	tab.There("[data-complete]")
	tab.Press("g")
	tab.There(`[data-item][data-index="0"]`)
	tab.Press("j")
	tab.Await(`document.activeElement.matches("[data-item]")`)
	tab.Do(`(() => {
		window.row = document.activeElement;
		window.chosen = row.nextElementSibling;
		getSelection().selectAllChildren(chosen);
		window.words = getSelection().toString();
		document.querySelector("[data-scroller]").scrollTop = 1e9;
	})()`)
	tab.Await(atEnd)
	tab.Await(`document.querySelectorAll("[data-lifted]").length === 2`)
	require.True(t, webtest.Eval[bool](tab, `row === document.activeElement && words !== "" && getSelection().toString() === words`))
	require.True(t, webtest.Eval[bool](tab, `(() => {
		const all = [...document.querySelectorAll("[data-item]")].map((e) => Number(e.dataset.index));
		return all.every((n, i) => i === 0 || n > all[i - 1]) && row.getBoundingClientRect().bottom < 0;
	})()`), "in order, and out of sight")
	tab.Do(`document.querySelector("[data-scroller]").scrollTop = 0`)
	tab.Gone("[data-lifted]")
	require.True(t, webtest.Eval[bool](tab, `row.isConnected && chosen.isConnected && row.getBoundingClientRect().bottom <= chosen.getBoundingClientRect().top + 1`))
	tab.Do(`(() => { getSelection().empty(); document.activeElement.blur(); document.querySelector("[data-scroller]").scrollTop = 1e9; })()`)
	tab.Await("!row.isConnected && !chosen.isConnected")
}

// TestPlacesAreThoseOfWhatIsShown counts the items for those who do not see them.
func TestPlacesAreThoseOfWhatIsShown(t *testing.T) {
	s := site(t)
	c := turns(s, "places", 3)
	tab := open(t, address(s, c.Key))
	tab.There("[data-complete]")
	places := func(total string) {
		t.Helper()
		tab.Press("g")
		tab.There(`[data-item][data-index="0"]`)
		tab.Await(`(() => {
			const all = [...document.querySelectorAll("[data-item]")], total = ` + total + `;
			return all.every((e, i) => e.getAttribute("aria-posinset") === String(i + 1) && e.getAttribute("aria-setsize") === String(total));
		})()`)
	}
	places(`document.querySelector("[data-items]").dataset.total`)
	hidden := webtest.Eval[string](tab, `document.querySelector("[data-items]").dataset.total`)
	tab.Press("r")
	tab.There(".also")
	places(fmt.Sprintf(`all[0].getAttribute("aria-setsize") > %s ? all[0].getAttribute("aria-setsize") : 0`, hidden))
}

// TestWhatMattersIsSaid hears of a permission that waits and of the end of a turn.
func TestWhatMattersIsSaid(t *testing.T) {
	s := site(t)
	c := s.Talk(s.Namespace, "aloud")
	c.Prompt("Change it")
	c.HasSaid("Change it")
	tab := open(t, address(s, c.Key))
	tab.There(`body[data-connection="live"]`)
	tab.There("[data-complete]")
	c.Tool("t1", "Edit", consoletest.Object{})
	c.Ask("t1", "Edit store.go")
	tab.Await(`document.querySelector("[data-status-text]").textContent === "The agent asks for permission: Edit store.go"`)
	c.Choose("y")
	c.Stop("end_turn")
	tab.Await(`document.querySelector("[data-status-text]").textContent === "The turn has ended."`)
}

// TestKeysScrollWhatHasTheFocus has arrows move code that is wider than the page, and not the replay.
func TestKeysScrollWhatHasTheFocus(t *testing.T) {
	s := site(t)
	c := s.Talk(s.Namespace, "wide")
	c.Together(func() {
		c.Prompt("Wide")
		c.Chunk("```\n" + strings.Repeat("wide ", 200) + "\n" + strings.Repeat("high\n", 100) + "```\n")
		c.Stop("end_turn")
		c.Close()
	})
	s.Stored(c.Key, consoletest.Ended)
	tab := open(t, address(s, c.Key))
	tab.There(".md pre")
	tab.Do(`(() => { window.code = document.querySelector(".md pre"); code.focus(); })()`)
	tab.Press(webtest.Right)
	tab.Await("code.scrollLeft > 0")
	tab.Press(webtest.Space)
	tab.Await("code.scrollTop > 0")
	require.Equal(t, "off", webtest.Eval[string](tab, `document.body.dataset.mode`))
	tab.Do(`document.querySelector("[data-scroller]").focus()`)
	tab.Press(webtest.Space)
	tab.Await(`document.body.dataset.mode !== "off"`)
}

// TestSkippingReadsNothingAnew jumps over the top of the page, and changes the part of the address behind #.
func TestSkippingReadsNothingAnew(t *testing.T) {
	s := site(t)
	c := turns(s, "skip", 2)
	tab := open(t, address(s, c.Key))
	tab.There("[data-complete]")
	tab.Do(`(() => { window.sheet = document.querySelector("[data-items]"); document.querySelector("a.skip").focus(); })()`)
	tab.Press(webtest.Enter)
	tab.Await(`document.activeElement === document.getElementById("main")`)
	tab.Do(`location.hash = "#3"`)
	tab.There("[data-target]")
	require.True(t, webtest.Eval[bool](tab, "sheet.isConnected"))
}

// TestALinkSaysWhereItLeads has the host of a link be left out only where its text begins with it.
func TestALinkSaysWhereItLeads(t *testing.T) {
	tab := renderer(t)
	for text, want := range map[string]string{
		"evil.example": "", "https://evil.example/a": "", "EVIL.example": "",
		"https://bank.example/?r=evil.example": "evil.example", "https://bank.example@evil.example": "evil.example",
		"evil.example.bank.example": "evil.example", "evil.example, the bank": "evil.example", "here": "evil.example",
	} {
		tab.Do(fmt.Sprintf(`(async () => {
			const { markdown } = await import("/static/markdown/render.js");
			document.body.replaceChildren(...markdown(%s));
		})()`, webtest.Quote("["+text+"](https://evil.example)")))
		require.Equal(t, want, webtest.Eval[string](tab, `document.querySelector('a[href="https://evil.example/"]').dataset.where ?? ""`), text)
	}
}

// TestABlockWithoutEndIsBounded types a paragraph that does not end: of it only the beginning is Markdown until it is whole.
func TestABlockWithoutEndIsBounded(t *testing.T) {
	tab := renderer(t)
	require.True(t, webtest.Eval[bool](tab, `(async () => {
		const { Growing } = await import("/static/markdown/growing.js");
		const e = document.createElement("div");
		document.body.append(e);
		const g = new Growing(e, true), all = "**a** b ".repeat(20_000);
		g.set("# heading\n\n" + all);
		const strong = e.querySelectorAll("strong").length;
		g.set("# heading\n\n" + all + "**a**");
		return e.querySelector("h3") !== null && strong > 1000 && strong < 10_000 && e.querySelectorAll("strong").length === strong && e.textContent.endsWith("b **a**");
	})()`))
	require.True(t, webtest.Eval[bool](tab, `(async () => {
		const { Growing } = await import("/static/markdown/growing.js");
		const e = document.createElement("div"), g = new Growing(e, true);
		g.set("a **b**\n\n".repeat(20_000) + "- end");
		return e.querySelectorAll("strong").length === 20_000 && e.querySelectorAll("li").length === 1;
	})()`), "blocks that end are all read")
	require.Equal(t, 1, webtest.Eval[int](tab, `(async () => {
		const { Growing } = await import("/static/markdown/growing.js");
		const e = document.createElement("div"), g = new Growing(e, true), all = "**a** b ".repeat(1000);
		document.body.append(e);
		g.set(all);
		for (let n = 1; !g.isBehind; n++) g.set(all + "c".repeat(n));
		g.set("d ".repeat(30_000));
		while (g.isBehind) await new Promise((tell) => setTimeout(tell, 1));
		return e.textContent.replaceAll(" ", "") === "d".repeat(30_000) ? e.querySelectorAll(".plain").length : -1;
	})()`), "what waited to be made is not made beside it")
}

// TestALongTextThatIsCut is taken back to its beginning while it is shown over several frames, and to its end for paper.
func TestALongTextThatIsCut(t *testing.T) {
	tab := blank(t)
	got := webtest.Eval[struct{ Cut, Whole int }](tab, `(async () => {
		const { message, finish } = await import("/static/cards/message.js");
		const all = "oats and rye\n\n".repeat(4000);
		const view = { typedUntil: (_, length) => length, isTyping: () => true, stored: () => ({ text: all }) };
		const m = message(view, { open: false, height: 0 });
		document.body.append(...m.nodes);
		m.grow(all.slice(0, 5000));
		for (let n = 0; n < 5; n++) await new Promise((tell) => requestAnimationFrame(tell));
		const Cut = m.grown.shown.length;
		m.grow(all);
		finish(document.body);
		return { Cut, Whole: m.grown.shown.length };
	})()`)
	require.Equal(t, 5000, got.Cut, "what was begun before is not shown")
	require.Equal(t, 4000*len("oats and rye\n\n"), got.Whole)
}

// TestWhatIsTypedIsFoundAgain takes what is open from the fold of the end to the fold of all.
func TestWhatIsTypedIsFoundAgain(t *testing.T) {
	tab := blank(t)
	require.Equal(t, []string{"message", "note", "tool"}, webtest.Eval[[]string](tab, `(async () => {
		const { Fold } = await import("/static/fold.js");
		const end = new Fold(), all = new Fold();
		end.snapshot({ frame: 5, ordinal: 1, notes: [{ task_id: "t", text: "grinding" }],
			messages: [{ message_id: "m", role: "Observer", channel: "answer", text: "hm" }],
			tools: [{ tool: { toolId: "t1", name: "weigh", state: { phase: "executing" } } }] });
		all.adopt(end);
		return end.items.filter((item) => item.seq === 0 && all.items.includes(all.same(item)) && all.same(item).kind === item.kind).map((item) => item.kind).sort();
	})()`))
}

// TestAFirstMarkIsText keeps U+FEFF at the beginning of what is decoded: it is a character like any other.
func TestAFirstMarkIsText(t *testing.T) {
	tab := renderer(t)
	require.Equal(t, "\ufeffab|\ufeff|a|b", webtest.Eval[string](tab, `(async () => {
		const { unbase64 } = await import("/static/readable.js");
		const { read } = await import("/static/json.js");
		const { marked } = await import("/static/search.js");
		return [unbase64(read('{"base64":"77u/YWI="}')), ...marked("\ufeffab", [[3, 4]]).map((m) => m[0])].join("|");
	})()`))
}
