package web_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/consoletest"
	"github.com/steno-io/steno/console/web/webtest"
)

// TestWhatIsTooLargeForARecordIsShown has an edit and a permission whose frames are above 64 KiB, which their
// records name only.
func TestWhatIsTooLargeForARecordIsShown(t *testing.T) {
	s := site(t)
	c := s.Talk(s.Namespace, "large")
	c.Prompt("Change it")
	c.Tool("t1", "Edit", consoletest.Object{"path": "/w/long.txt"})
	long := strings.Repeat("a line that stays\n", 4<<10)
	c.ToolIs("t1", "completed", consoletest.Object{"content": []any{consoletest.Diff("/w/long.txt", long+"before\n", long+"after\n")}})
	c.Tool("t2", "Sell", consoletest.Object{})
	c.Ask("t2", "Sell "+strings.Repeat("oats ", 14<<10))
	c.Choose("y")
	c.Stop("end_turn")
	c.Close()
	tab := open(t, address(s, c.Key))
	tab.Shows(`[data-tool="t1"] [data-diff] [data-line="+"]`, "after")
	tab.Shows(`[data-tool="t1"] [data-diff] [data-line="-"]`, "before")
	tab.Press("G")
	tab.Shows(item("permission")+" [data-large]", "too large to show, frame ")
	tab.Shows(item("permission")+` [data-ask][data-decided="yes"]`, "Allow")
}

// TestWhatAToolSaysIsShown has text of a tool that is in no result: sent before its end, and beside a raw output.
func TestWhatAToolSaysIsShown(t *testing.T) {
	s := site(t)
	c := s.Talk(s.Namespace, "says")
	c.Prompt("Weigh it")
	text := func(words string) []any {
		return []any{consoletest.Object{"type": "content", "content": consoletest.Text(words)}}
	}
	c.Tool("t1", "Weigh", consoletest.Object{})
	c.ToolIs("t1", "in_progress", consoletest.Object{"content": text("half of it")})
	c.ToolIs("t1", "in_progress", consoletest.Object{"content": text("fourteen sacks")})
	c.ToolIs("t1", "completed", nil)
	c.Tool("t2", "Sell", consoletest.Object{})
	c.ToolIs("t2", "completed", consoletest.Object{"rawOutput": consoletest.Object{"code": 0}, "content": text("sold to the baker")})
	c.Tool("t3", "Grind", consoletest.Object{})
	c.ToolIs("t3", "completed", consoletest.Object{"rawOutput": "all ground", "content": text("all ground")})
	c.Tool("t4", "Sweep", consoletest.Object{})
	c.ToolIs("t4", "completed", consoletest.Object{"content": text("all swept")})
	c.Stop("end_turn")
	c.Close()
	tab := open(t, address(s, c.Key))
	tab.There("[data-complete]")
	tab.Shows(`[data-tool="t1"]`, "fourteen sacks")
	require.NotContains(t, tab.Text(`[data-tool="t1"]`), "half of it")
	tab.Shows(`[data-tool="t2"]`, "sold to the baker")
	tab.Shows(`[data-tool="t2"]`, "code")
	for tool, words := range map[string]string{"t3": "all ground", "t4": "all swept"} {
		require.Equal(t, 1, strings.Count(tab.Text(`[data-tool="`+tool+`"]`), words), tool)
	}
}

// TestPermissionsOfNoToolAreAnsweredEach has two asked before either is answered.
func TestPermissionsOfNoToolAreAnsweredEach(t *testing.T) {
	s := site(t)
	c := s.Talk(s.Namespace, "ask")
	c.Prompt("Ask")
	asks := func(id int, name string) {
		c.Agent(consoletest.Object{"id": id, "method": "session/request_permission", "params": consoletest.Object{"sessionId": c.Session,
			"toolCall": consoletest.Object{"title": name}, "options": []consoletest.Object{{"optionId": "y", "name": name, "kind": "allow_once"}, {"optionId": "n", "name": "No", "kind": "allowed"}}}})
	}
	answers := func(id int, option string) {
		c.Client(consoletest.Object{"id": id, "result": consoletest.Object{"outcome": consoletest.Object{"outcome": "selected", "optionId": option}}})
	}
	asks(301, "Sell")
	asks(302, "Grind")
	answers(301, "y")
	answers(302, "n")
	c.Stop("end_turn")
	c.Close()
	tab := open(t, address(s, c.Key))
	tab.There("[data-complete]")
	require.Equal(t, 2, tab.Count(item("permission")))
	require.Equal(t, []string{"yes", "no"}, webtest.Eval[[]string](tab, `[...document.querySelectorAll("[data-ask]")].map((e) => e.dataset.decided)`))
	require.Equal(t, 0, tab.Count(`[data-ask][data-decided="open"]`))
}

// TestALongPartIsShownWhole has a message of which two parts are text, one of them too long to be shown at once.
func TestALongPartIsShownWhole(t *testing.T) {
	s := site(t)
	c := s.Talk(s.Namespace, "parts")
	c.Client(consoletest.Object{"id": 100, "method": "session/prompt", "params": consoletest.Object{"sessionId": c.Session, "prompt": []any{
		consoletest.Text("short"),
		consoletest.Object{"type": "resource_link", "uri": "file:///w/shelf.txt", "name": "shelf.txt"},
		consoletest.Text(strings.Repeat("Oats and rye and barley.\n\n", 4000) + "**The end.**"),
	}}})
	c.Has(2)
	tab := open(t, address(s, c.Key))
	tab.There(item("user") + ` [data-action="more"]`)
	require.Equal(t, 1, tab.Count(item("user")+` [data-action="more"]`))
	words := `document.querySelector('[data-kind="user"] [data-text]').textContent`
	require.False(t, webtest.Eval[bool](tab, words+`.includes("The end.")`))
	tab.Do(`(() => {
		dispatchEvent(new Event("beforeprint"));
		window.printed = ` + words + `;
		dispatchEvent(new Event("afterprint"));
	})()`)
	require.True(t, webtest.Eval[bool](tab, `printed.includes("The end.")`), "paper has all of it, and does not wait for what is shown over several frames")
	tab.Await(`[...document.querySelectorAll('[data-kind="user"] strong')].some((e) => e.textContent === "The end.")`)
	tab.Gone(item("user") + ` [data-action="more"]`)
	require.Equal(t, 4000, webtest.Eval[int](tab, words+`.split("barley.").length - 1`))
}
