package proxy

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFaultsAreInTheAskersWords: who speaks JSON-RPC finds its id in the proxy's own answers.
func TestFaultsAreInTheAskersWords(t *testing.T) {
	peer := upstream(t, func(http.ResponseWriter, *http.Request) {})
	peer.Close()
	long := strings.Repeat("x", 2000)
	for name, c := range map[string]struct {
		path, body string
		status     int
		full       bool
		unknown    bool // of what length it is
		starts     string
	}{
		"no peer":         {body: `{"jsonrpc":"2.0","id":"a\u0062","method":"message/send"}`, status: 502, starts: `{"jsonrpc":"2.0","id":"a\u0062","error":{"code":-32603,"message":"steno proxy: connect to upstream: `},
		"number":          {body: `{"method":"message/send","id":1.50}`, status: 502, starts: `{"jsonrpc":"2.0","id":1.50,"error":`},
		"no id":           {body: `{"jsonrpc":"2.0","method":"message/send"}`, status: 502, starts: `{"jsonrpc":"2.0","id":null,"error":`},
		"batch":           {body: `[{"jsonrpc":"2.0","id":1},{"jsonrpc":"2.0","id":2}]`, status: 502, starts: `[{"jsonrpc":"2.0","id":1,"error":`},
		"full":            {body: `{"jsonrpc":"2.0","id":1,"method":"message/send"}`, full: true, status: 503, starts: `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"steno proxy: nothing was passed on, because it could not be recorded: `},
		"too long":        {body: `{"jsonrpc":"2.0","id":1,"method":"message/send","params":"` + long + `"}`, status: 413, starts: `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"steno proxy: takes requests of 1000 bytes at most"}}`},
		"too long, piece": {body: `{"jsonrpc":"2.0","id":1,"method":"message/send","params":"` + long + `"}`, unknown: true, status: 413, starts: `{"jsonrpc":"2.0","id":1,"error":`},
		"REST":            {path: "/message:send", body: `{"message":{}}`, status: 502, starts: `{"error":{"code":502,"status":"UNAVAILABLE","message":"steno proxy: connect to upstream: `},
		"long id":         {body: `{"jsonrpc":"2.0","method":"x","id":"` + strings.Repeat("x", 900) + `"}`, status: 502, starts: `{"jsonrpc":"2.0","id":"xxx`},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBook(t)
			if c.full {
				b.beginErr = errFull
			}
			p := start(t, b, peer.URL)
			p.max = 1000
			req := newRequest(t, "POST", p.url+c.path, c.body)
			if c.unknown {
				req.Body, req.ContentLength = io.NopCloser(strings.NewReader(c.body)), -1
			}
			res, got := ask(t, client(t, false), req)
			require.Equal(t, c.status, res.StatusCode)
			require.Equal(t, "application/json", res.Header.Get("Content-Type"))
			require.True(t, strings.HasPrefix(got, c.starts), got)
			require.True(t, isJSON([]byte(got)))
			if name == "batch" {
				require.Equal(t, 2, strings.Count(got, `"error"`))
			}
		})
	}
	x := &exchange{}
	x.request.plain = []byte(`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", maxIDs) + `"}`)
	require.Contains(t, string(x.rpcFault("y")), `"id":null`)
	x.request.plain = []byte("[" + strings.Repeat(`{"jsonrpc":"2.0","id":12345678},`, 1<<20) + "0]")
	require.Less(t, len(x.rpcFault("y")), 2<<20)
}
