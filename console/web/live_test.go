package web_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/consoletest"
	"github.com/steno-io/steno/console/web/webtest"
)

// TestTextGrows sees a message as it is typed, in the same element, and what it becomes.
func TestTextGrows(t *testing.T) {
	s := site(t)
	c := s.Talk(s.Namespace, "live")
	c.Prompt("Tell me")
	c.Has(2)
	tab := open(t, address(s, c.Key))
	tab.Shows(item("user"), "Tell me")
	tab.There(`body[data-connection="live"]`)
	c.Chunk("Once **upon")
	tab.Shows(item("agent")+"[data-open] [data-text]", "Once")
	tab.Do(`window.kept = document.querySelector('[data-item][data-kind="agent"] [data-text]')`)
	for i := range 5 {
		c.Chunk(fmt.Sprintf(" a time%d", i))
		tab.Shows(item("agent")+"[data-open]", fmt.Sprintf("a time%d", i))
	}
	c.Chunk("** there was\n\nan end.")
	tab.Shows(item("agent")+"[data-open] strong", "upon a time0 a time1 a time2 a time3 a time4")
	tab.Await(`document.querySelector('[data-item][data-kind="agent"] [data-text]') === window.kept`)
	tab.Shot("typing")
	c.Stop("end_turn")
	tab.Gone("[data-open]")
	tab.There(item("stop"))
	require.Equal(t, "Once upon a time0 a time1 a time2 a time3 a time4 there was\n\nan end.", tab.Text(item("agent")+" [data-text]"))
	require.Equal(t, 1, tab.Count(item("agent")))
	c.Close()
	tab.There(`body[data-connection="ended"]`)
}

// TestJoinInTheMiddle opens the page while a sentence is half said.
func TestJoinInTheMiddle(t *testing.T) {
	s := site(t)
	c := s.Talk(s.Namespace, "half")
	c.Prompt("Tell me")
	c.Chunk("There are ")
	c.Chunk("fourteen")
	s.Folded(c.Tap)
	tab := open(t, address(s, c.Key))
	tab.Shows(item("agent")+"[data-open]", "There are fourteen")
	c.Chunk(" sacks.")
	tab.Shows(item("agent")+"[data-open]", "There are fourteen sacks.")
}

// TestAToolGoesThroughItsPhases sees one card live from its first word to its end.
func TestAToolGoesThroughItsPhases(t *testing.T) {
	s := site(t)
	c := s.Talk(s.Namespace, "tool")
	c.Prompt("Change it")
	c.Has(2)
	tab := open(t, address(s, c.Key))
	tab.There(`body[data-connection="live"]`)
	phase := func(name string) string { return item("tool") + `[data-phase="` + name + `"]` }

	c.Tool("t1", "Edit store.go", consoletest.Object{"path": "/w/store.go"})
	tab.Shows(phase("streaming"), "Edit store.go")
	tab.Do(`window.card = document.querySelector('[data-kind="tool"]')`)
	c.Ask("t1", "Edit store.go, really")
	tab.Shows(phase("waiting_confirmation"), "Edit store.go, really")
	tab.Shows("[data-ask]", "Allow")
	tab.There(`[data-ask][data-decided="open"]`)
	require.Equal(t, 2, tab.Count("[data-option]"))
	tab.Shot("waiting")
	c.Choose("y")
	tab.There(phase("executing"))
	tab.There(`[data-ask][data-decided="yes"]`)
	tab.Shows("[data-option][data-chosen]", "Allow")
	c.ToolIs("t1", "completed", consoletest.Object{"rawOutput": "it is done", "content": []any{consoletest.Diff("/w/store.go", before, after)}})
	tab.There(phase("completed") + `[data-success="true"]`)
	tab.There(item("tool") + ` [data-diff][data-path="/w/store.go"]`)
	tab.Shows(`[data-diff] [data-line="+"]`, "// Count says how many there are.")
	tab.Shows(`[data-diff] [data-line="-"]`, "n = n + 1")
	tab.Shows(`[data-diff] [data-line=" "]`, "package store")
	require.Equal(t, 1, tab.Count("[data-tool]"))
	tab.Shot("completed")

	const patch = "diff --git /w/a.go /w/b.go\nrename from /w/a.go\nrename to /w/b.go\n--- /w/a.go\n+++ /w/b.go\n@@ -7,3 +7,3 @@ func a() {\n seven\n-eight\n+acht\n nine\n"
	c.Tool("t1b", "Move a.go", consoletest.Object{})
	c.ToolIs("t1b", "completed", consoletest.Object{"content": []any{consoletest.Object{"type": "diff", "patch": consoletest.Object{"format": "git_patch", "text": patch},
		"changes": []any{consoletest.Object{"operation": "move", "oldPath": "/w/a.go", "path": "/w/b.go"}, consoletest.Object{"operation": "delete", "path": "/w/<b>c"}}}}})
	tab.Shows(`[data-tool="t1b"] [data-path="/w/a.go → /w/b.go"] .counts .new`, "moved")
	tab.Shows(`[data-tool="t1b"] [data-path="/w/a.go → /w/b.go"] .plus`, "+1")
	tab.Shows(`[data-tool="t1b"] [data-path="/w/a.go → /w/b.go"] [data-line="+"]`, "acht")
	tab.Shows(`[data-tool="t1b"] [data-path="/w/<b>c"] .counts .new`, "deleted")
	require.Equal(t, 2, tab.Count(`[data-tool="t1b"] [data-diff]`))

	c.Tool("t2", "Weigh", consoletest.Object{})
	c.Ask("t2", "Weigh")
	c.Choose("n")
	tab.There(`[data-tool="t2"][data-phase="cancelled"]`)
	tab.There(`[data-ask][data-decided="no"]`)
	c.Tool("t3", "Sell", consoletest.Object{})
	c.ToolIs("t3", "failed", consoletest.Object{"rawOutput": "nobody buys"})
	tab.There(`[data-tool="t3"][data-phase="completed"][data-success="false"]`)
	tab.Shows(`[data-tool="t3"]`, "nobody buys")
}

// TestThoughtsFold keeps a thought closed behind its first line.
func TestThoughtsFold(t *testing.T) {
	s := site(t)
	c := s.Talk(s.Namespace, "thought")
	c.Prompt("Think")
	c.Thought("First I look.\n\n")
	c.Thought("Then I count what nobody else has counted.")
	c.Chunk("Fourteen.")
	c.Stop("end_turn")
	c.Close()
	tab := open(t, address(s, c.Key))
	tab.Shows(item("thought"), "First I look.")
	require.False(t, webtest.Eval[bool](tab, `document.querySelector('[data-kind="thought"] details').open`))
	require.NotContains(t, tab.Text(item("thought")), "nobody else")
	tab.Click(item("thought") + " summary")
	tab.Shows(item("thought"), "nobody else has counted")
}

// TestAPlanIsOneList has the latest state stand out and the older ones fold.
func TestAPlanIsOneList(t *testing.T) {
	s := site(t)
	c := s.Talk(s.Namespace, "plan")
	c.Prompt("Plan")
	c.Has(2)
	tab := open(t, address(s, c.Key))
	c.Plan("Read", "in_progress", "Count", "pending")
	tab.There(item("plan") + ` [data-entry][data-status="in_progress"]`)
	c.Plan("Read", "completed", "Count", "in_progress")
	tab.Shows(item("plan")+`:not([data-older]) [data-entry][data-status="completed"]`, "Read")
	tab.Shows(item("plan")+`:not([data-older]) [data-entry][data-status="in_progress"]`, "Count")
	require.Equal(t, 1, tab.Count(item("plan")+":not([data-older])"))
}

// TestTheConnectionIsSaid cuts the server off and brings it back: nothing is missed, and both are said.
func TestTheConnectionIsSaid(t *testing.T) {
	s := site(t)
	c := s.Talk(s.Namespace, "cut")
	c.Prompt("Go on")
	c.Has(2)
	tab := open(t, address(s, c.Key))
	tab.There(`body[data-connection="live"]`)
	c.Chunk("Before, ")
	tab.Shows(item("agent"), "Before,")
	tab.Allow("net::ERR_CONNECTION_REFUSED", "net::ERR_CONNECTION_RESET", "net::ERR_INCOMPLETE_CHUNKED_ENCODING", "net::ERR_EMPTY_RESPONSE")
	s.Stop()
	tab.There(`body[data-connection="broken"]`)
	tab.Shot("broken")
	c.Chunk("meanwhile")
	c.Stop("end_turn")
	c.Prompt("And on")
	c.Chunk("and after.")
	s.Folded(c.Tap)
	s.Again()
	tab.There(`body[data-connection="live"]`)
	tab.Shows(item("agent"), "Before, meanwhile")
	tab.Shows(item("user"), "And on")
	tab.Shows(item("agent")+"[data-open]", "and after.")
	require.Equal(t, 2, tab.Count(item("agent")))
}

// TestLagIsSaid restarts the broker under a stream: the page says that text may be missing, then has it.
func TestLagIsSaid(t *testing.T) {
	s := alone(t)
	c := s.Talk(s.Namespace, "lag")
	c.Prompt("Go on")
	c.Has(2)
	tab := open(t, address(s, c.Key))
	tab.There(`body[data-connection="live"]`)
	c.Chunk("Before, ")
	tab.Shows(item("agent")+"[data-open]", "Before,")
	tab.Do(`window.lags = []; new MutationObserver(() => {
		const lag = document.querySelector("[data-lag]");
		if (lag && !lag.hidden) lags.push(lag.dataset.lag);
	}).observe(document.body, { subtree: true, childList: true, attributes: true })`)
	s.Restart(t)
	tab.Await("lags.length > 0")
	c.Chunk("and after.")
	tab.Shows(item("agent")+"[data-open]", "Before, and after.")
	tab.Await(`![...document.querySelectorAll("[data-lag]")].some((e) => e.checkVisibility())`)
}
