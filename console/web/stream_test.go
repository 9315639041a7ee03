package web_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/web/webtest"
)

// streams are the streams that a tab has asked for.
func streams(tab *webtest.Tab) (n int) {
	for _, r := range tab.Requests() {
		if strings.Contains(r, "/stream?") {
			n++
		}
	}
	return n
}

const hide = `Object.defineProperty(document, "hidden", { value: %t, configurable: true }); document.dispatchEvent(new Event("visibilitychange"))`

// TestATabThatNobodySeesHoldsNoStream opens a transcript in the background, then looks at it.
func TestATabThatNobodySeesHoldsNoStream(t *testing.T) {
	s := site(t)
	c := s.Talk(s.Namespace, "hidden")
	c.Prompt("Tell me")
	c.Has(2)
	tab := open(t, s.URL+"/")
	row := `[data-key="` + c.Key.String() + `"] a`
	tab.There(row)
	tab.Do(fmt.Sprintf(hide, true))
	tab.Do(`document.querySelector(` + webtest.Quote(row) + `).click()`)
	tab.There(`body[data-connection="paused"]`)
	require.Equal(t, 0, streams(tab))
	tab.Do(fmt.Sprintf(hide, false))
	tab.There(`body[data-connection="live"]`)
	c.Chunk("Once")
	tab.Shows(item("agent")+"[data-open]", "Once")
	require.Equal(t, 1, streams(tab))
}

// TestAStreamWaitsForThePage looks away and back while the transcript is being read.
func TestAStreamWaitsForThePage(t *testing.T) {
	s := site(t)
	c := s.Talk(s.Namespace, "early")
	c.Prompt("Tell me")
	c.Has(2)
	tab := open(t, s.URL+"/")
	row := `[data-key="` + c.Key.String() + `"] a`
	tab.There(row)
	tab.Do(`(() => {
		const real = window.fetch;
		window.held = new Promise((go) => { window.release = go; });
		window.fetch = async (path, o) => {
			if (String(path).includes("/events?")) await held;
			return real(path, o);
		};
		document.querySelector(` + webtest.Quote(row) + `).click();
	})()`)
	tab.Await(`location.pathname.startsWith("/t/")`)
	tab.Do(fmt.Sprintf(hide, false))
	tab.Do("release()")
	tab.There(`body[data-connection="live"]`)
	tab.Shows(item("user"), "Tell me")
	all := tab.Requests()
	stream := slices.IndexFunc(all, func(r string) bool { return strings.Contains(r, "/stream?") })
	events := slices.IndexFunc(all, func(r string) bool { return strings.Contains(r, "/events?") })
	require.Greater(t, stream, events, "%q", all)
	require.Contains(t, all[stream], "after=2")
}

// TestFramesThatAreGoneAreSaid inspects an item of which the server has later frames only.
func TestFramesThatAreGoneAreSaid(t *testing.T) {
	s := site(t)
	c := turns(s, "gone", 1)
	tab := open(t, address(s, c.Key))
	tab.There(item("user"))
	tab.Do(`(() => {
		const real = window.fetch;
		window.asked = 0;
		window.fetch = (path, o) => {
			if (!String(path).includes("/frames?")) return real(path, o);
			asked++;
			return real(String(path).replace(/after=(\d+)/, (_, n) => "after=" + (Number(n) + 3)), o);
		};
	})()`)
	tab.Click(item("user") + ` [data-action="inspect"]`)
	tab.Shows("[data-inspector]", "not kept here any more")
	require.Equal(t, 1, webtest.Eval[int](tab, "asked"))
}

// TestAnEventThatIsNotThereIsSaid follows an address that leads behind the end.
func TestAnEventThatIsNotThereIsSaid(t *testing.T) {
	s := site(t)
	c := turns(s, "short", 1)
	tab := open(t, address(s, c.Key)+"?seq=4711")
	tab.Shows(`[data-lag="missing"]`, "There is no event 4711 here")
	tab.There(item("user"))
}

// TestTheKeyIsCopiedOverPlainHTTP takes the browser's clipboard away, as it does where a page is not secure.
func TestTheKeyIsCopiedOverPlainHTTP(t *testing.T) {
	s := site(t)
	c := turns(s, "copied", 1)
	tab := open(t, address(s, c.Key))
	tab.There(item("user"))
	tab.Do(`(() => {
		Object.defineProperty(navigator, "clipboard", { value: undefined });
		document.addEventListener("copy", () => { window.copied = document.activeElement.value; });
	})()`)
	tab.Click(`.key [data-action="copy"]`)
	tab.Await("window.copied === %s", webtest.Quote(c.Key.String()))
}
