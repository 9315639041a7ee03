package web_test

import (
	"os"
	"testing"

	"github.com/steno-io/steno/console/api"
	"github.com/steno-io/steno/console/consoletest"
	"github.com/steno-io/steno/console/web"
	"github.com/steno-io/steno/console/web/webtest"
	"github.com/steno-io/steno/schema"
)

func TestMain(m *testing.M) { os.Exit(webtest.Main(m)) }

// site serves the page over a pipeline of its own.
func site(t testing.TB) *consoletest.Site {
	t.Helper()
	return consoletest.New(t).Serve(api.Options{Web: web.Handler()})
}

// address is where a transcript is shown.
func address(s *consoletest.Site, key schema.Transcript) string { return s.URL + "/t/" + key.String() }

// open opens a page in a tab and waits until it shows what it was asked for.
func open(t testing.TB, address string) *webtest.Tab {
	t.Helper()
	tab := webtest.Open(t, address)
	tab.There("body[data-ready]")
	return tab
}

// item selects the items of a kind.
func item(kind string) string { return `[data-item][data-kind="` + kind + `"]` }
