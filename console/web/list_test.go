package web_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/consoletest"
	"github.com/steno-io/steno/console/web/webtest"
	"github.com/steno-io/steno/schema"
)

// keys are those of the rows, in order.
func keys(tab *webtest.Tab) []string {
	return webtest.Eval[[]string](tab, `[...document.querySelectorAll("[data-list] [data-key]")].map((e) => e.dataset.key)`)
}

// hasten has the page wait a tenth of a second at most, where it looks again after a pause, until window.pause says otherwise.
const hasten = `(() => {
	const wait = window.setTimeout;
	window.pause = 100;
	window.setTimeout = (f, ms) => wait(f, Math.min(ms ?? 0, pause));
})()`

// TestTheListIsLive has a recording appear, run and end while one looks.
func TestTheListIsLive(t *testing.T) {
	s := site(t)
	tab := open(t, s.URL+"/")
	tab.Do(hasten)
	tab.There("[data-empty]")
	tab.Shows("[data-empty]", "steno record")
	tab.Shot("empty")
	c := s.Talk(s.Namespace, "one")
	c.Title("Sacks in the store")
	c.Prompt("How many?")
	row := func(key schema.Transcript) string { return `[data-key="` + key.String() + `"]` }
	tab.There(row(c.Key) + `[data-status="open"]`)
	tab.Shows(row(c.Key), "Sacks in the store")
	tab.Shows(row(c.Key), "mill")
	c.Stop("end_turn")
	c.Close()
	tab.There(row(c.Key) + `[data-status="ended"]`)
	d := turns(s, "two", 1)
	tab.There(row(d.Key))
	require.Equal(t, d.Key.Run, keysRun(keys(tab)[0]), "the newest is first")
}

func keysRun(key string) string {
	id, err := schema.ParseTranscript(key)
	if err != nil {
		return key
	}
	return id.Run
}

// TestFiltersAndSearch narrows the list, finds a word and opens where it stands.
func TestFiltersAndSearch(t *testing.T) {
	s := site(t)
	for i := range 3 {
		team := []string{"oats", "rye", "oats"}[i]
		c := s.TalkOn(s.Tap(s.Identity(fmt.Sprintf("r%d", i))), consoletest.Object{"team": team})
		c.Together(func() {
			c.Title("About " + team)
			for n := range 20 {
				turn(c, n+1)
			}
			c.Prompt("Where is the windmill " + team + "?")
			c.Chunk("The windmill \U0001f33e stands behind the **barn** of " + team + ".")
			c.Stop("end_turn")
			if i < 2 {
				c.Close()
			}
		})
		c.Has(300)
	}
	a2a := s.Import("../../cmd/steno/recordings/a2a-go-2.4.0.jsonl")
	s.Stored(a2a.Transcript(0), consoletest.Ended)
	s.Indexed()
	tab := open(t, s.URL+"/")
	tab.Await(`document.querySelectorAll("[data-list] [data-key]").length >= 4`)

	tab.Go(s.URL + "/?status=open")
	tab.There("body[data-ready]")
	tab.Await(`[...document.querySelectorAll("[data-key]")].every((e) => e.dataset.status === "open") && document.querySelector("[data-key]")`)
	tab.Go(s.URL + "/?protocol=a2a")
	tab.There("body[data-ready]")
	require.Equal(t, []string{a2a.Transcript(0).String()}, keys(tab))
	tab.Go(s.URL + "/?label=team%3Drye")
	tab.There("body[data-ready]")
	tab.Await(`document.querySelectorAll("[data-key]").length > 0`)
	for _, key := range keys(tab) {
		require.Contains(t, key, "/r1/")
	}
	tab.Shot("filtered")

	// By hand, on the page.
	tab.Go(s.URL + "/")
	tab.There("body[data-ready]")
	tab.Do(`(() => {
		const f = document.querySelector('[data-filter="status"]');
		f.value = "ended";
		f.dispatchEvent(new Event("input", { bubbles: true }));
		f.dispatchEvent(new Event("change", { bubbles: true }));
	})()`)
	tab.Await(`location.search.includes("status=ended")`)
	tab.Await(`[...document.querySelectorAll("[data-key]")].every((e) => e.dataset.status === "ended")`)

	tab.Press("/")
	tab.Await(`document.activeElement.id === "search"`)
	tab.Press("windmill rye" + webtest.Enter)
	tab.There(`body[data-view="search"]`)
	tab.There("[data-hit] mark")
	require.Subset(t, []string{"windmill", "rye"}, webtest.Eval[[]string](tab,
		`[...new Set([...document.querySelectorAll("[data-hit] mark")].map((e) => e.innerText.toLowerCase()))]`))
	tab.Shot("hits")
	hit := `[data-hit]`
	seq := webtest.Eval[int](tab, `Number(document.querySelector("[data-hit]").dataset.seq)`)
	tab.Do(`document.querySelector("` + hit + ` a, a` + hit + `").click()`)
	tab.There(`body[data-view="transcript"]`)
	tab.There("[data-target]")
	tab.Await(`document.querySelector("[data-target]").innerText.toLowerCase().includes("windmill")`)
	require.LessOrEqual(t, webtest.Eval[int](tab, `Number(document.querySelector("[data-target]").dataset.seq)`), seq)
	tab.Back()
	tab.There(`body[data-view="search"]`)
	tab.There("[data-hit]")
	tab.Go(s.URL + "/search?q=nowhereatall")
	tab.There("[data-empty]")
	tab.Go(s.URL + "/t/default/w/nowhere/0/1/1")
	tab.Allow("404")
	tab.There(`body[data-view="missing"]`)
}

// TestA2A shows a conversation of A2A as one of ACP: its messages, tasks and stops.
func TestA2A(t *testing.T) {
	s := site(t)
	a2a := s.Import("../../cmd/steno/recordings/a2a-go-2.4.0.jsonl")
	s.Stored(a2a.Transcript(0), consoletest.Ended)
	tab := open(t, address(s, a2a.Transcript(0)))
	tab.Shows(item("user"), "orders slow")
	tab.Shows(item("agent"), "orders")
	tab.There(item("stop"))
	tab.Shot("a2a")
}

// TestTheListShowsWhatIsSo hides connections, and takes away rows that fit its filters no more.
func TestTheListShowsWhatIsSo(t *testing.T) {
	s := site(t)
	c := s.Talk(s.Namespace, "one")
	c.Prompt("How many?")
	c.Has(2)
	tab := open(t, s.URL+"/?status=open")
	tab.Do(hasten)
	row := `[data-key="` + c.Key.String() + `"]`
	connection := `[data-key="` + c.Transcript(0).String() + `"]`
	tab.There(row)
	tab.Await(`!document.querySelector(%s)?.checkVisibility()`, webtest.Quote(connection))
	tab.Click(`[data-action="connections"]`)
	tab.Await(`document.querySelector(%s)?.checkVisibility()`, webtest.Quote(connection))
	c.Stop("end_turn")
	c.Close()
	tab.Gone(row)
	tab.There("[data-empty]")
}

// TestALongListIsKeptInStep has a row far down change and one go, of a list that has several pages.
func TestALongListIsKeptInStep(t *testing.T) {
	s := site(t)
	tab := open(t, s.URL+"/search")
	tab.Do(hasten)
	tab.Do(`(() => {
		window.all = Array.from({ length: 250 }, (_, i) => ({ key: "default/w/r" + i + "/0/1/1", title: "T" + i, status: "open", agent: "mill", protocol: "acp",
			events: 1, frames: 1, labels: {}, empty: false, added_at: new Date(Date.UTC(2026, 10, 1) - i * 60000).toISOString() }));
		window.asked = 0;
		const real = window.fetch;
		window.fetch = async (path, o) => {
			const u = new URL(path, location.href);
			if (u.pathname !== "/v1/transcripts") return real(path, o);
			asked++;
			if (window.down) throw new TypeError("down");
			const after = u.searchParams.get("after") ?? "", from = after === "" ? 0 : all.findIndex((t) => t.key === after) + 1;
			const transcripts = all.slice(from, from + 100);
			return new Response(JSON.stringify({ transcripts, next: from + 100 < all.length ? transcripts.at(-1).key : "" }));
		};
		document.querySelector('a[href="/"]').click();
	})()`)
	tab.There("[data-list]")
	tab.There(`[data-key="default/w/r0/0/1/1"]`)
	tab.Do(`document.querySelector("#main").scrollTop = 1e6`)
	tab.There(`[data-key="default/w/r199/0/1/1"]`)
	tab.Do(`document.querySelector("#main").scrollTop = 1e6`)
	tab.There(`[data-key="default/w/r249/0/1/1"]`)
	tab.Await(`document.querySelector("[data-list]").dataset.count === "250"`)
	tab.Do(`all[230].status = "ended"; all.splice(150, 1)`)
	tab.There(`[data-key="default/w/r230/0/1/1"][data-status="ended"]`)
	tab.Gone(`[data-key="default/w/r150/0/1/1"]`)
	tab.Await(`document.querySelector("[data-list]").dataset.count === "249" && document.querySelector("[data-list]").dataset.end === ""`)

	// Where the server goes away it is asked again after a pause.
	tab.Do(`window.pause = Infinity; window.down = true; document.querySelector('[data-filter="status"]').dispatchEvent(new Event("change", { bubbles: true }))`)
	tab.There(`[data-error="unreachable"]`)
	tab.Do(`window.asked = 0; window.down = false`)
	tab.Gone(`[data-error]`)
	tab.Do(`window.down = true; document.querySelector("#main").scrollTop = 1e6; window.asked = 0`)
	tab.There(`[data-error="unreachable"]`)
	require.Less(t, webtest.Eval[int](tab, "asked"), 10)
}
