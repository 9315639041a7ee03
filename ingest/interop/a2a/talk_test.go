package interop

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// form is a way to speak: two peers, a dialect and a binding.
type form struct {
	name   string
	server line
	dial   dial
	noTask string // how a task ends that the agent never announces; none: it goes on
}

const (
	wrong     = "processor error: execution failed before a task was created: first event must be a Task or a message: invalid agent response"
	wrongRPC  = `stop Error "-32006 ` + wrong + `"`
	wrongREST = `stop Error "INTERNAL ` + wrong + `"`
)

// The old line has JSON-RPC alone; v0.3 over REST is spoken by the new one.
var forms = []form{
	{"v0.3 JSON-RPC", v03server, dialV03, ""},
	{"v0.3 JSON-RPC, new client", v03server, dialCompatJSONRPC, ""},
	{"v0.3 JSON-RPC, new server", v10server, dialV03, wrongRPC},
	{"v0.3 JSON-RPC, new client and server", v10server, dialCompatJSONRPC, wrongRPC},
	{"v0.3 REST", v10server, dialCompatREST, wrongREST},
	{"v1.0 JSON-RPC", v10server, dialV10JSONRPC, wrongRPC},
	{"v1.0 REST", v10server, dialV10REST, wrongREST},
}

// patience bounds everything that is waited for.
const patience = 30 * time.Second

// talk is one conversation: what the client's wire saw, what its SDK made of it, and what reached the server.
type talk struct {
	exchanges, arrived []*exchange
	heard              []heard
}

// talk lets a client that is made from the card at the address speak.
func (f form) talk(t *testing.T, s *server, url string, leaves bool, speak func(ctx context.Context, p peer) []heard) talk {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	pool := &http.Transport{}
	defer pool.CloseIdleConnections()
	wire, before := &recorder{base: pool, whole: !leaves}, s.seen.count()
	if s.alive {
		wire.alive = sync.OnceFunc(func() { s.resume <- struct{}{} })
	}
	p, said := f.dial(ctx, url, &http.Client{Transport: wire})
	if p != nil {
		said = append(said, speak(ctx, p)...)
	}
	require.NoError(t, ctx.Err(), "%s at %s", f.name, url)
	return talk{wire.all, s.seen.since(before), said}
}

// same requires that a conversation with the proxy and one without are the same.
func same(t *testing.T, s *server, p *tap, direct, proxied talk) {
	t.Helper()
	hears(t, s, p, direct, proxied)
	bare, tapped := newMask(s.url, "<agent>"), newMask(s.url, "<agent>", p.url, "<proxy>")
	require.Equal(t, bare.exchanges(direct.arrived), tapped.exchanges(proxied.arrived), "the bytes that the server sees")
}

// hears requires it of the client's side alone.
func hears(t *testing.T, s *server, p *tap, direct, proxied talk) {
	t.Helper()
	bare, tapped := newMask(s.url, "<agent>"), newMask(p.url, "<agent>", s.url, "<upstream>")
	require.Equal(t, bare.exchanges(direct.exchanges), tapped.exchanges(proxied.exchanges), "the bytes that the client sees")
	require.Equal(t, bare.heard(direct.heard), tapped.heard(proxied.heard), "what the client's SDK makes of them")
}

// calm takes keep-alives out of streams: how many there are is a matter of time.
func (x talk) calm() (keepAlives int) {
	const comment = ": keep-alive\n\n"
	for _, e := range x.exchanges {
		text := e.answered.String()
		keepAlives += strings.Count(text, comment)
		e.answered.Reset()
		e.answered.WriteString(strings.ReplaceAll(text, comment, ""))
	}
	return keepAlives
}

// never is not satisfied with anything: it listens to the end.
func never(heard) bool { return false }

// in is satisfied once the task is in the state.
func in(state string) func(heard) bool { return func(h heard) bool { return h.state == state } }
