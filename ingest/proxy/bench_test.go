package proxy

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/journal"
)

// BenchmarkStreamedItem is the time from before a peer writes an item to when its client has read it:
// on the bare connection, and through the proxy with a real journal that is synced as in use. The two
// take turns, so that both see the same machine.
func BenchmarkStreamedItem(b *testing.B) {
	for _, c := range []struct {
		name  string
		bytes int
		old   bool
	}{{"300B", 300, false}, {"64KiB", 64 << 10, false}, {"300B served to 0.3", 300, true}} {
		b.Run(c.name, func(b *testing.B) {
			item := "data: {\"result\":{\"artifactUpdate\":{\"taskId\":\"t\",\"contextId\":\"c\",\"artifact\":{\"artifactId\":\"a\",\"parts\":[{\"text\":\"" + strings.Repeat("x", c.bytes) + "\"}]}}}}\n\n"
			next := map[string]chan struct{}{"/bare": make(chan struct{}), "/tapped": make(chan struct{})}
			peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				send := stream(w)
				_ = send("")
				for range next[r.URL.Path] {
					_ = send(item)
				}
			}))
			defer peer.Close()
			j := createJournal(b, journal.Options{Max: 1 << 40})
			ctx, cancel := context.WithCancel(context.Background())
			synced := make(chan error, 1)
			go func() { synced <- j.Run(ctx) }()
			p := start(b, j, peer.URL, func(o *Options) { o.ServeV03 = c.old })
			open := func(url string) *bufio.Reader {
				res, err := client(b, false).Do(newRequest(b, "POST", url, `{"method":"message/stream"}`))
				require.NoError(b, err)
				return bufio.NewReaderSize(res.Body, 1<<20)
			}
			bare, tapped := open(peer.URL+"/bare"), open(p.url+"/tapped")
			var took [2][]time.Duration
			one := func(n int, r *bufio.Reader, path string) {
				began := time.Now()
				next[path] <- struct{}{}
				for n := 0; n != 1; { // up to the blank line
					line, err := r.ReadSlice('\n')
					if err != nil {
						b.Fatal(err)
					}
					n = len(line)
				}
				took[n] = append(took[n], time.Since(began))
			}
			for b.Loop() {
				one(0, bare, "/bare")
				one(1, tapped, "/tapped")
			}
			for n, name := range []string{"bare", "tapped"} {
				slices.Sort(took[n])
				b.ReportMetric(float64(took[n][len(took[n])/2].Nanoseconds())/1e3, "µs-p50-"+name)
				b.ReportMetric(float64(took[n][len(took[n])*99/100].Nanoseconds())/1e3, "µs-p99-"+name)
			}
			close(next["/bare"])
			close(next["/tapped"])
			_, err := io.Copy(io.Discard, tapped)
			require.NoError(b, err)
			p.stop()
			p.ended(b)
			cancel()
			require.NoError(b, <-synced)
			require.NoError(b, j.Close())
		})
	}
}

// BenchmarkRequest is a small request and its answer, each on a kept-alive connection.
func BenchmarkRequest(b *testing.B) {
	peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"result":{}}`)
	}))
	defer peer.Close()
	j := createJournal(b, journal.Options{Max: 1 << 40})
	p := start(b, j, peer.URL)
	for name, url := range map[string]string{"bare": peer.URL, "tapped": p.url} {
		b.Run(name, func(b *testing.B) {
			c := client(b, false)
			b.ReportAllocs()
			for b.Loop() {
				ask(b, c, newRequest(b, "POST", url, `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"role":"user"}}}`))
			}
		})
	}
	p.stop()
	p.ended(b)
	require.NoError(b, j.Close())
}
