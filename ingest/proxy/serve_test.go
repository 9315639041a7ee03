package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

func TestServeLetsRunningExchangesEnd(t *testing.T) {
	for _, way := range []int{0, 3} {
		t.Run(ways[way].name, func(t *testing.T) {
			finish := make(chan struct{})
			peer := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
				send := stream(w)
				_ = send("data: 1\n\n")
				<-finish
				_ = send("data: 2\n\n")
			})
			b := newBook(t)
			p := start(t, b, peerURL(peer.URL, ways[way].h2Up), func(o *Options) { o.Grace = soon })
			res, err := client(t, ways[way].h2Client).Do(newRequest(t, "POST", p.url, "{}"))
			require.NoError(t, err)
			p.stop()
			require.Eventually(t, func() bool {
				c, err := net.Dial("tcp", p.url[len("http://"):])
				if err == nil {
					_ = c.Close()
				}
				return err != nil
			}, soon, time.Millisecond, "nothing more is taken")
			close(finish)
			got, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			require.Equal(t, "data: 1\n\ndata: 2\n\n", string(got))
			p.ended(t)
			require.Empty(t, b.exchanges()[0].closed.Error)
		})
	}
}

// TestServeCutsOffWhatRunsOn: streams, requests that do not come whole, clients that do not read, and
// exchanges that a full journal holds.
func TestServeCutsOffWhatRunsOn(t *testing.T) {
	peer := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		send := stream(w)
		for send("data: 1\n\n") == nil && r.URL.Path == "/flood" {
		}
		<-r.Context().Done()
	})
	for name, c := range map[string]struct {
		h2, hold bool
		path     string
		says     string
	}{
		"stream":    {path: "/", says: "the proxy was stopped"},
		"h2 stream": {h2: true, path: "/", says: "the proxy was stopped"},
		"flood":     {path: "/flood", says: "the proxy was stopped"},
		"held":      {path: "/", hold: true, says: "record 9 bytes of stream: the proxy was stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBook(t)
			held := make(chan struct{}, 1)
			if c.hold {
				b.before = func(ctx context.Context, _ int, e entry) error {
					if e.typ != schema.TypeData || e.from != schema.FromAgent {
						return nil
					}
					held <- struct{}{}
					<-ctx.Done()
					return context.Cause(ctx)
				}
			}
			p := start(t, b, peer.URL, func(o *Options) { o.Grace = 50 * time.Millisecond })
			res, err := client(t, c.h2).Do(newRequest(t, "POST", p.url+c.path, "{}"))
			require.NoError(t, err)
			if c.hold {
				<-held
			}
			if c.path == "/flood" {
				time.Sleep(100 * time.Millisecond) // until nothing more fits between the two
			}
			began := time.Now()
			p.stop()
			p.ended(t)
			require.Less(t, time.Since(began), 5*time.Second)
			x := b.exchanges()[0] // closed when Serve has returned
			require.NotNil(t, x.closed)
			require.Equal(t, c.says, x.closed.Error)
			_, err = io.ReadAll(res.Body)
			require.Error(t, err, "the client sees that the answer is not whole")
		})
	}
	t.Run("half a request", func(t *testing.T) {
		b := newBook(t)
		p := start(t, b, peer.URL, func(o *Options) { o.Grace = 50 * time.Millisecond })
		c, err := net.Dial("tcp", p.url[len("http://"):])
		require.NoError(t, err)
		defer func() { _ = c.Close() }()
		_, err = io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n")
		require.NoError(t, err)
		_, err = io.ReadFull(c, make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n")))
		require.NoError(t, err)
		_, err = io.WriteString(c, "{")
		require.NoError(t, err)
		p.stop()
		p.ended(t)
		x := b.exchanges()[0]
		require.Contains(t, x.closed.Error, "the proxy was stopped in the middle of its request: ")
		require.Equal(t, "{", x.ask.body)
	})
}

// TestHurryCutsTheGraceShort, and every exchange has its end all the same.
func TestHurryCutsTheGraceShort(t *testing.T) {
	peer := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		_ = stream(w)("data: 1\n\n")
		<-r.Context().Done()
	})
	b := newBook(t)
	p := start(t, b, peer.URL, func(o *Options) { o.Grace = time.Hour })
	for range 3 {
		res, err := client(t, false).Do(newRequest(t, "POST", p.url, "{}"))
		require.NoError(t, err)
		defer res.Body.Close()
	}
	require.EqualValues(t, 3, p.Running())
	p.stop()
	select {
	case <-p.done:
		require.Fail(t, "it does not wait")
	case <-time.After(50 * time.Millisecond):
	}
	p.Hurry()
	p.Hurry()
	p.ended(t)
	require.Zero(t, p.Running())
	for _, x := range b.closed(t, 3) {
		require.Equal(t, "the proxy was stopped", x.closed.Error)
	}
}

func TestAPanicIsSaidAloud(t *testing.T) {
	said := make(chan string, 1)
	p, err := New(Options{Upstream: "http://x", Journals: &book{}, Notice: func(s string) { said <- s }})
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- p.Serve(ctx, l, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a bug") }))
	}()
	_, err = client(t, false).Do(newRequest(t, "GET", "http://"+l.Addr().String(), ""))
	require.Error(t, err)
	require.Contains(t, <-said, "a bug")
	cancel()
	require.NoError(t, <-done)
}

func TestServeSaysThatItsListenerFailed(t *testing.T) {
	p, err := New(Options{Upstream: "http://x", Journals: &book{}})
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	err = p.Serve(t.Context(), l, p.Handler())
	require.ErrorContains(t, err, "serve on "+l.Addr().String())
	require.True(t, errors.Is(err, net.ErrClosed))
}
