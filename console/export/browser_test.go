package export_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/web/webtest"
)

func TestMain(m *testing.M) { os.Exit(webtest.Main(m)) }

// opened opens a page that was exported, from its file. The test fails for whatever it asks for, runs or is
// kept from by its policy.
func opened(t *testing.T, page string) (tab *webtest.Tab, address string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(path, []byte(page), 0o600))
	address = (&url.URL{Scheme: "file", Path: path}).String()
	return webtest.Open(t, address), address
}

func TestThePageAsksForNothing(t *testing.T) {
	for name, page := range map[string]string{
		"goose":   html(t, goose(t)),
		"tasks":   html(t, tasks(t)),
		"hostile": html(t, spoken(strings.Join(hostile, "\n\n"))),
	} {
		t.Run(name, func(t *testing.T) {
			tab, address := opened(t, page)
			tab.Shot("light")
			tab.Do(`document.querySelectorAll("details").forEach((d) => { d.open = true })`)
			tab.Await(`[...document.querySelectorAll("details")].every((d) => d.open)`)
			tab.Scheme("dark")
			tab.Shot("dark")
			tab.Size(390, 800)
			tab.Shot("narrow")
			require.LessOrEqual(t, webtest.Eval[int](tab, "document.documentElement.scrollWidth"), 390, "nothing is wider than the page")
			require.Equal(t, []string{address}, tab.Requests())
		})
	}
}

// Its style applies, and what is folded opens where a link leads into it.
func TestThePageWorksWithoutAScript(t *testing.T) {
	tab, _ := opened(t, html(t, sacks(t)))
	light := webtest.Eval[string](tab, "getComputedStyle(document.documentElement).backgroundColor")
	require.NotEqual(t, "rgba(0, 0, 0, 0)", light)
	tab.Scheme("dark")
	require.NotEqual(t, light, webtest.Eval[string](tab, "getComputedStyle(document.documentElement).backgroundColor"))

	require.False(t, webtest.Eval[bool](tab, `document.querySelector("#raw").open`))
	tab.Click("#e20 h2 a")
	tab.Await(`document.querySelector("#raw").open && location.hash == "#raw-20"`)
	tab.Click("#e3 summary")
	tab.Await(`document.querySelector("#e3 details").open`)
	tab.Shows("#e3 .text", "Counting the sacks.")
}

// The page has the colours and the scale of the web console.
func TestOneHouse(t *testing.T) {
	theirs, err := os.ReadFile("../web/static/tokens.css")
	require.NoError(t, err)
	ours, err := os.ReadFile("tokens.css")
	require.NoError(t, err)
	require.Equal(t, string(theirs), string(ours))
}
