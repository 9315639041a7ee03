package web_test

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/steno-io/steno/console/api"
	"github.com/steno-io/steno/console/consoletest"
	"github.com/steno-io/steno/console/web"
	"github.com/steno-io/steno/console/web/webtest"
	"github.com/steno-io/steno/schema"
)

// all has what the tests share.
var all consoletest.Binary

func TestMain(m *testing.M) { os.Exit(all.End(webtest.Main(m))) }

var (
	pipeline = sync.OnceValue(func() *consoletest.Pipeline { return consoletest.New(&all) })
	sites    atomic.Int64
)

// site serves the page over the pipeline that the tests share: what one records, no other sees.
func site(t testing.TB) *consoletest.Site {
	t.Helper()
	return operated(t, nil)
}

// operated is a site that lets operators intervene.
func operated(t testing.TB, operators api.Operators) *consoletest.Site {
	t.Helper()
	p := pipeline().For(t, fmt.Sprintf("n%d", sites.Add(1)))
	return p.Serve(api.Options{Web: web.Handler(), Namespaces: []string{p.Namespace}, Operators: operators})
}

// alone serves the page over a pipeline of its own.
func alone(t testing.TB) *consoletest.Site {
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
