package proxy

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema/wire/a2a"
)

// TestEvidenceFitsAnEntry: the largest heads of a request and an answer that the proxy takes can be
// recorded, whatever is in them.
func TestEvidenceFitsAnEntry(t *testing.T) {
	long := strings.Repeat("<", maxHeader-2000) // six bytes each in JSON
	for name, c := range map[string]struct{ query, location, path string }{
		"long query":           {query: long, path: "/?" + long},
		"name of a secret":     {query: long + "token=x", path: "/?" + long + "token=***"},
		"names of two secrets": {query: long[:60000] + "token=x&" + long[:60000] + "secret=x", path: "/?" + long[:60000] + "token=***&" + long[:60000] + "secret=***"},
		"answer":               {location: "http://x/?" + long + "token=x", path: "/"},
	} {
		t.Run(name, func(t *testing.T) {
			peer := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
				if c.location != "" {
					w.Header().Set("Location", c.location)
				}
			})
			j := createJournal(t, journal.Options{})
			p := start(t, j, peer.URL)
			req := newRequest(t, "GET", p.url, "")
			req.URL.Path, req.URL.RawQuery = "/", c.query
			res, err := client(t, false).Do(req)
			require.NoError(t, err)
			require.Equal(t, 200, res.StatusCode)
			p.stop()
			p.ended(t)
			all := readBook(t, j).exchanges()
			require.Len(t, all, 1)
			require.Empty(t, all[0].closed.Error)
			require.Equal(t, c.path, all[0].ask.ev.Path)
			require.Equal(t, strings.ReplaceAll(c.location, "=x", "=***"), all[0].answer.ev.Headers["location"])
			for _, what := range append(all[0].ask.ev.Masked, all[0].answer.ev.Masked...) {
				require.Less(t, len(what), 2*maxName)
			}
		})
	}
}

// TestAFaultThatQuotesAPeerIsShort: the close entry has a bound, too.
func TestAFaultThatQuotesAPeerIsShort(t *testing.T) {
	j := createJournal(t, journal.Options{})
	p := start(t, j, "http://127.0.0.1:1")
	ask(t, client(t, false), newRequest(t, "POST", p.url, "x", "Content-Encoding", strings.Repeat("\"", maxHeader-2000)))
	p.stop()
	p.ended(t)
	x := readBook(t, j).exchanges()[0]
	require.Contains(t, x.closed.Error, "reads bodies plain or in gzip, not in ")
	require.LessOrEqual(t, len(x.closed.Error), maxBroken+len("…"))
}

func TestWhatIsTooLongIsCutAndSaysSo(t *testing.T) {
	whole := a2a.Evidence{Method: "GET", Path: "/x", Headers: map[string]string{"host": "h"}, Masked: []string{"cookie"}}
	require.Equal(t, whole, fitting(whole, 200))

	e := whole
	e.Path = "/" + strings.Repeat("<", 1000)
	got := fitting(e, 500)
	require.LessOrEqual(t, encoded(got), 500)
	require.Greater(t, encoded(got), 400, "no more than has to be")
	require.True(t, strings.HasPrefix(got.Path, "/<<<<<<<<<<"))
	require.True(t, strings.HasSuffix(got.Path, "<… (cut, it has 1001 bytes)"))
	require.Equal(t, "h", got.Headers["host"])

	e.Headers = map[string]string{"host": "h", "accept": strings.Repeat("ü\xff", 700), "etag": strings.Repeat("e", 300)}
	got = fitting(e, 600)
	require.LessOrEqual(t, encoded(got), 600)
	require.Contains(t, got.Path, "cut, it has 1001 bytes")
	require.Contains(t, got.Headers["accept"], "cut, it has 2100 bytes")
	require.Len(t, e.Headers["accept"], 2100, "what was given stays")

	for i := range 1000 {
		e.Headers[fmt.Sprintf("h%d", i)] = "x"
	}
	require.Equal(t, a2a.Evidence{Method: "GET"}, fitting(e, 600), "what no cut makes fit")
}
