package web_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/consoletest"
	"github.com/steno-io/steno/console/web/webtest"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

const verifyButton = `[data-action="verify"]`

// proofs is how often a tab has asked for one.
func proofs(tab *webtest.Tab) (n int) {
	for _, address := range tab.Requests() {
		if strings.HasSuffix(address, "/verify") {
			n++
		}
	}
	return n
}

// numberOf is the number of the stored event of a transcript that holds a text.
func numberOf(t *testing.T, s *consoletest.Site, key schema.Transcript, text string) uint64 {
	t.Helper()
	for e, err := range s.Ledger.Events(t.Context(), key, 0, 0) {
		require.NoError(t, err)
		if strings.Contains(string(e.Bytes), text) {
			return e.Seq
		}
	}
	t.Fatalf("%q is not stored", text)
	return 0
}

// TestARecordingIsVerifiedWhenAsked, and no sooner; what is said later makes the answer old.
func TestARecordingIsVerifiedWhenAsked(t *testing.T) {
	s := site(t)
	c := s.Talk(s.Namespace, "whole")
	c.Title("Sacks in the store")
	turn(c, 1)
	s.Stored(c.Key, func(t sink.Summary) bool { return t.Stop != "" })
	tab := open(t, address(s, c.Key))
	tab.There(`body[data-connection="live"]`)
	require.Equal(t, "verify", tab.Text(verifyButton))
	require.Contains(t, tab.Access().Controls, webtest.Control{Role: "button", Name: "Verify: fold every frame of this recording again, and compare with what is stored"})
	require.Zero(t, proofs(tab), "nobody has asked")

	tab.Do(`document.querySelector(` + webtest.Quote(verifyButton) + `).focus()`)
	tab.Press(webtest.Enter)
	tab.There(`[data-proof="verified"]`)
	require.Equal(t, 1, proofs(tab))
	said := regexp.MustCompile(`^✓ verified (\d+) of (\d+) frames, 0 unaccounted at \d\d:\d\d:\d\d · (\d+) events byte for byte the same · no seal known here$`).
		FindStringSubmatch(tab.Text(`[data-proof]`))
	require.NotNil(t, said, tab.Text(`[data-proof]`))
	require.Equal(t, said[1], said[2])
	require.NotEqual(t, "0", said[3])
	require.Contains(t, webtest.Eval[string](tab, `document.querySelector("[data-status-text]").textContent`), "0 unaccounted", "it is said aloud")
	require.Equal(t, "verify again", tab.Text(verifyButton))
	require.True(t, webtest.Eval[bool](tab, `document.activeElement.matches(`+webtest.Quote(verifyButton)+`)`), "the focus stays")
	looked(t, tab, "verified")

	c.Prompt("And how many of rye?")
	tab.There(`[data-proof="verified"][data-old]`)
	require.Contains(t, tab.Text(`[data-proof]`), "more was said since")
	tab.Click(verifyButton)
	tab.There(`[data-proof="verified"]:not([data-old])`)
	require.Equal(t, 2, proofs(tab))
}

// TestAChangedRowIsShown in the page, with its place, to which it leads. Where no proof is had, it says why, and where
// another one is made it waits for its turn.
func TestAChangedRowIsShown(t *testing.T) {
	s := site(t)
	c := turns(s, "changed", 1)
	s.Tamper(c.Key, numberOf(t, s, c.Key, "I look into the store."), "I look into", "I broke into")
	tab := open(t, address(s, c.Key))
	tab.Shows(item("agent"), "I broke into the store.")
	tab.Do(`(() => {
		const real = fetch;
		let n = 0;
		window.fetch = (path, how) => {
			if (!path.endsWith("/verify") || ++n > 2) return real(path, how);
			if (n === 1) return Promise.reject(new TypeError("away"));
			return Promise.resolve(new Response('{"error":{"code":"too_many_proofs","message":"one at a time"}}', { status: 503 }));
		};
	})()`)
	tab.Click(verifyButton)
	tab.Shows(`[data-proof="failed"]`, "It could not be verified: The server does not answer.")
	require.Equal(t, "verify again", tab.Text(verifyButton))
	tab.Click(verifyButton)
	tab.Shows(`[data-proof="waiting"]`, "waits for its turn")
	tab.There(`[data-proof="differs"]`)
	require.Regexp(t, `^✗ differs: a stored event was changed at frame \d+, event \d+ · folded again: (\d+) of (\d+) frames, 0 unaccounted at `, tab.Text(`[data-proof]`))
	require.Equal(t, "1 difference", tab.Text(`[data-proof] summary`))
	tab.Click(`[data-proof] summary`)
	tab.Shows(`[data-proof] li`, "the frames give")
	looked(t, tab, "differs")
	tab.Click(`[data-proof] a`)
	tab.Await(`document.querySelector("[data-item][data-target]")?.innerText.includes("I broke into")`)
	tab.There(`[data-proof="differs"]`)

	// From another session of the recording it leads to that one.
	other := c.Key
	other.Session = 0
	tab.Go(address(s, other))
	tab.There("body[data-ready]")
	tab.Click(verifyButton)
	tab.Shows(`[data-proof="differs"] a`, "of session 1")
	tab.Click(`[data-proof] a`)
	tab.Await(`location.pathname.endsWith("/1") && document.querySelector("[data-item][data-target]")?.innerText.includes("I broke into")`)
}

// looked looks at what the proof says in both themes and on a phone.
func looked(t *testing.T, tab *webtest.Tab, name string) {
	t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		tab.Scheme(scheme)
		still2(tab)
		require.Empty(t, webtest.Eval[[]string](tab, contrast))
		tab.Shot(name + "-" + scheme)
	}
	tab.Size(360, 740)
	still2(tab)
	require.True(t, webtest.Eval[bool](tab, `document.documentElement.scrollWidth <= 360 && document.querySelector("[data-proof]").scrollWidth <= document.querySelector("[data-proof]").clientWidth`))
	tab.Shot(name + "-phone")
	tab.Size(1440, 900)
	tab.Scheme("light")
	still2(tab)
}
