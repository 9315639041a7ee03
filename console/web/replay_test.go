package web_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/consoletest"
	"github.com/steno-io/steno/console/web/webtest"
)

// paced is a conversation of which a frame comes every 100 ms: an answer in pieces, a tool, an answer.
func paced(s *consoletest.Site) *consoletest.Talk {
	tap := s.Tap(s.Identity("paced"))
	tap.Steps(time.Date(2026, 11, 27, 9, 14, 0, 0, time.UTC), 100*time.Millisecond)
	c := s.TalkOn(tap, nil)
	c.Together(func() {
		c.Prompt("Count to twenty") // 0 ms of the session's transcript, or a little after
		for i := range 20 {
			c.Chunk(fmt.Sprintf("n%d ", i+1))
		}
		c.Tool("t1", "Check", consoletest.Object{"upto": 20})
		c.ToolIs("t1", "in_progress", nil)
		for range 8 {
			c.Update("usage_update", consoletest.Object{"used": 1, "size": 2})
		}
		c.ToolIs("t1", "completed", consoletest.Object{"rawOutput": "right"})
		c.Chunk("It is right.")
		c.Stop("end_turn")
		c.Close()
	})
	s.Stored(c.Key, consoletest.Ended)
	return c
}

// scrub sets the scrubber as a user's drag does.
func scrub(tab *webtest.Tab, share float64) {
	tab.Do(fmt.Sprintf(`(() => {
		const s = document.querySelector("#scrubber");
		s.value = String(Number(s.min) + (Number(s.max) - Number(s.min)) * %g);
		s.dispatchEvent(new Event("input", { bubbles: true }));
		s.dispatchEvent(new Event("change", { bubbles: true }));
	})()`, share))
}

func ms(tab *webtest.Tab) float64 {
	return webtest.Eval[float64](tab, `Number(document.querySelector("[data-time]").dataset.ms)`)
}

// TestReplay takes a finished transcript back to moments of its life.
func TestReplay(t *testing.T) {
	s := site(t)
	c := paced(s)
	tab := open(t, address(s, c.Key))
	tab.Shows(item("agent"), "n20")
	tab.There(item("tool") + `[data-phase="completed"]`)

	tab.Press(webtest.Space)
	tab.There(`body[data-mode="playing"]`)
	tab.Press(webtest.Space)
	tab.There(`body[data-mode="paused"]`)
	tab.Press(webtest.Home)
	tab.Await(`document.querySelector("[data-time]").dataset.ms === "0"`)
	tab.Gone(item("tool"))
	require.NotContains(t, tab.Text("[data-items]"), "n5")

	// In the middle of the first answer it stands as it was typed, open and in part.
	length := webtest.Eval[float64](tab, `Number(document.querySelector("#scrubber").max)`)
	require.InDelta(t, 3300, length, 400, "the replay's clock is that of the frames")
	scrub(tab, 0.3)
	tab.Shows(item("agent")+"[data-open]", "n7")
	require.NotContains(t, tab.Text(item("agent")), "n12")
	tab.Gone(item("tool"))
	tab.Shot("typing")
	// Later the tool is at work.
	scrub(tab, 2650/length)
	tab.There(item("tool") + `[data-phase="executing"]`)
	tab.Shows(item("agent"), "n20")
	tab.Shot("executing")
	tab.Press(webtest.End)
	tab.There(item("tool") + `[data-phase="completed"]`)
	tab.Shows("[data-items]", "It is right.")

	// Steps go by items, back as well as forth.
	at := ms(tab)
	tab.Press(",")
	tab.Await(`Number(document.querySelector("[data-time]").dataset.ms) < %g`, at)
	back := ms(tab)
	tab.Press(",")
	tab.Await(`Number(document.querySelector("[data-time]").dataset.ms) < %g`, back)
	further := ms(tab)
	tab.Press(".")
	tab.Await(`Number(document.querySelector("[data-time]").dataset.ms) > %g`, further)

	// The speed's keys.
	was := webtest.Eval[string](tab, `document.querySelector("[data-speed]").dataset.speed`)
	tab.Press("]")
	tab.Await(`Number(document.querySelector("[data-speed]").dataset.speed) > %s`, was)
	tab.Press("[")
	tab.Await(`document.querySelector("[data-speed]").dataset.speed === %s`, webtest.Quote(was))

	// It plays to its end by itself, and types on the way.
	tab.Press(webtest.Home)
	tab.Await(`document.querySelector("[data-time]").dataset.ms === "0"`)
	tab.Press(webtest.Space)
	tab.Shows(item("agent")+"[data-open]", "n3")
	tab.Shows("[data-items]", "It is right.")
	tab.Press(webtest.Escape)
	tab.Await(`(document.body.dataset.mode || "off") === "off"`)
	tab.Shows("[data-items]", "It is right.")
	tab.There(item("stop"))
}

// TestReplaysClockIsMadeInSlices enters before there is a clock, and has another one made.
func TestReplaysClockIsMadeInSlices(t *testing.T) {
	tab := blank(t)
	got := webtest.Eval[struct {
		Empty  bool
		Modes  []string
		At     float64
		Lasts  []float64
		Before bool
	}](tab, `(async () => {
		const { Replay } = await import("/static/replay.js");
		const { Fold } = await import("/static/fold.js");
		const view = { model: { complete: true }, fold: new Fold(), window: { follow: true, anchor: null, changed() {} }, first: NaN, typing: null, pill: {}, knowsTyping: () => true };
		const r = new Replay(view);
		r.changed();
		await r.renewing;
		const Empty = r.isBuilt();
		view.fold = new Fold();
		view.first = 0;
		view.fold.times = [0, 500, 10_500];
		view.fold.last = 10_500;
		const Before = r.hasClock;
		r.to(1000);
		const Modes = [r.mode];
		await r.renewing;
		Modes.push(r.mode);
		const Lasts = [r.clock.end], At = r.at;
		r.setSkip(false);
		Lasts.push(r.clock.end);
		while (!r.isBuilt()) await new Promise((tell) => setTimeout(tell, 1));
		Lasts.push(r.clock.end);
		r.close();
		return { Empty, Modes, At, Lasts, Before };
	})()`)
	require.True(t, got.Empty, "a transcript without events has its clock, too")
	require.False(t, got.Before)
	require.Equal(t, []string{"off", "paused"}, got.Modes, "it begins once there is a clock")
	require.InDelta(t, 1000, got.At, 1)
	require.Equal(t, []float64{2500, 2500, 10_500}, got.Lasts, "the clock before is the page's meanwhile")
}

// TestReplayWhileItGoesOn leaves a live transcript for its past, and comes back to the present.
func TestReplayWhileItGoesOn(t *testing.T) {
	s := site(t)
	tap := s.Tap(s.Identity("going"))
	tap.Steps(time.Now().Add(-time.Minute), 100*time.Millisecond)
	c := s.TalkOn(tap, nil)
	c.Prompt("First")
	for i := range 10 {
		c.Chunk(fmt.Sprintf("n%d ", i+1))
	}
	c.Stop("end_turn")
	c.Has(5)
	tab := open(t, address(s, c.Key))
	tab.There(`body[data-connection="live"]`)
	tab.Press(webtest.Space)
	tab.There("#scrubber")
	tab.Press(webtest.Home)
	tab.Await(`!document.querySelector("[data-items]").innerText.includes("n5")`)
	c.Prompt("Second")
	c.Chunk("now")
	c.Has(7)
	tab.Press("l")
	tab.Shows(item("agent")+"[data-open]", "now")
	tab.Shows(item("user"), "Second")
	c.Chunk(" and then")
	tab.Shows(item("agent")+"[data-open]", "now and then")
}

// TestReplayOfWhatIsOpen goes back into an answer that is still being typed, which the page met in its middle.
func TestReplayOfWhatIsOpen(t *testing.T) {
	s := site(t)
	tap := s.Tap(s.Identity("typed"))
	tap.Steps(time.Now().Add(-time.Minute), 100*time.Millisecond)
	c := s.TalkOn(tap, nil)
	c.Prompt("Count")
	for i := range 20 {
		c.Chunk(fmt.Sprintf("n%d ", i+1))
	}
	s.Folded(c.Tap)
	tab := open(t, address(s, c.Key))
	tab.Shows(item("agent")+"[data-open]", "n20")
	scrub(tab, 0)
	tab.Gone(item("agent"))
	scrub(tab, 0.5)
	tab.Await(`/n(9|10|11) *$/.test(document.querySelector('[data-kind="agent"][data-open] [data-text]')?.innerText)`)

	// What is said meanwhile is a part of it.
	for i := range 20 {
		c.Chunk(fmt.Sprintf("m%d ", i+1))
	}
	tab.Await(`Number(document.querySelector("#scrubber").max) > 3500`)
	require.NotContains(t, tab.Text(item("agent")), "n12")
	scrub(tab, 0.75)
	tab.Shows(item("agent")+"[data-open]", "m8")
	require.NotContains(t, tab.Text(item("agent")), "m13")
	tab.Press(webtest.End)
	tab.Shows(item("agent")+"[data-open]", "m20")
	tab.Press(webtest.Escape)
	c.Chunk("and on")
	tab.Shows(item("agent")+"[data-open]", "n1 n2")
	tab.Shows(item("agent")+"[data-open]", "and on")
}
