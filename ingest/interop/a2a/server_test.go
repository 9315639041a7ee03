package interop

import (
	"log"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// server is an agent that listens on loopback, and what arrived at it.
type server struct {
	*agent
	url  string
	seen *arrivals
}

// line starts a server of one of the SDK's lines.
type line func(t *testing.T, o options) *server

// options are what servers differ in.
type options struct {
	alive bool // keeps its streams alive
	push  bool
	pure  bool // speaks v1.0 alone
}

// keepAlive is how often a stream is kept alive, if it is.
func (o options) keepAlive() time.Duration {
	if o.alive {
		return 20 * time.Millisecond
	}
	return 0
}

// listen serves what build makes for the address.
func listen(t *testing.T, o options, build func(a *agent, url string) http.Handler) *server {
	t.Helper()
	over := make(chan struct{})
	s := &server{agent: &agent{over: over, resume: make(chan struct{}), alive: o.alive, spread: newSpread()}, seen: &arrivals{}}
	var handler http.Handler
	s.url = serve(t, s.seen.before(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) })))
	handler = build(s.agent, s.url)
	t.Cleanup(func() { close(over) })
	return s
}

// serve listens on loopback until the test ends. (httptest would also close the idle connections of the
// default transport, which the SDKs use, and of those one may just be taken.)
func serve(t *testing.T, handler http.Handler) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{Handler: handler, ErrorLog: log.New(t.Output(), "server: ", 0)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		server.Serve(listener)
	}()
	t.Cleanup(func() {
		require.NoError(t, server.Close())
		<-ended
	})
	return "http://" + listener.Addr().String()
}

func silent() *slog.Logger { return slog.New(slog.DiscardHandler) }
