package webtest_test

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/web/webtest"
)

func TestMain(m *testing.M) { os.Exit(webtest.Main(m)) }

// site has empty pages, and those with a body by name, under a strict policy.
func site(t *testing.T, bodies map[string]string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'; style-src 'self'; img-src data:")
		h.Set("Content-Type", "text/html; charset=utf-8")
		text := "<!doctype html><link rel=icon href=data:,><title>t</title>" + bodies[r.URL.Path[1:]]
		_, err := fmt.Fprint(w, text)
		require.NoError(t, err)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestAQuietPage(t *testing.T) {
	tab := webtest.Open(t, site(t, map[string]string{"body": `<button id=b>Count</button> <p id=p></p>
		<script>let n = 0; b.onclick = () => setTimeout(() => { p.textContent = "it is " + ++n }, 50);
		onkeydown = (e) => { p.textContent += " " + e.key }</script>`})+"/body")
	tab.Click("#b")
	tab.Shows("#p", "it is 1")
	tab.Press("a" + webtest.Left)
	tab.Shows("#p", "it is 1 a ArrowLeft")
	tab.Reload()
	tab.There("#b")
	require.Empty(t, tab.Text("#p"))
	require.Equal(t, 2, webtest.Eval[int](tab, "Promise.resolve(1 + 1)"))
	require.Empty(t, tab.Problems())
	require.NoError(t, flag.Set("shots", t.TempDir()))
	defer func() { require.NoError(t, flag.Set("shots", "")) }()
	require.FileExists(t, tab.Shot("page"))
}

// TestWhatAPageDidIsKnown has pages do each thing that a test must hear of.
func TestWhatAPageDidIsKnown(t *testing.T) {
	cases := []struct{ name, body, want string }{
		{"console", `<script>console.error("bad", 7)</script>`, `console.error "bad" 7`},
		{"exception", `<script>nowhere()</script>`, "nowhere is not defined"},
		{"rejection", `<script>Promise.reject(new Error("alone"))</script>`, "alone"},
		{"canary", `<script>canary = 1</script>`, "canary: set to 1"},
		{"call", `<script>canary()</script>`, "canary: called"},
		{"handler", `<img src=data:,x onerror=canary()>`, "canary: called"},
		{"javascript", `<a href="javascript:canary()" id=a>a</a><script>a.click()</script>`, "canary: called"},
		{"policy", `<img src="/beacon.png">`, "policy img-src"},
		{"style", `<p style="color:red">red</p>`, "policy style-src"},
		{"frame", `<iframe src="/other"></iframe>`, "a frame inside the page"},
		{"leaving", `<script>location = "http://127.0.0.1:9/away"</script>`, "request to http://127.0.0.1:9/away"},
		{"window", `<script>open("/more")</script>`, "a window for"},
	}
	bodies := map[string]string{}
	for _, c := range cases {
		bodies[c.name] = c.body
	}
	tab := webtest.Open(t, site(t, bodies))
	address := webtest.Eval[string](tab, "location.href")
	require.Empty(t, tab.Problems())
	tab.Allow("") // each of them makes more than one
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tab.Go(address)
			tab.Quiet() // what the page before did last is heard
			tab.Forget()
			tab.Go(address + c.name)
			tab.Hears(c.want)
		})
	}
}
