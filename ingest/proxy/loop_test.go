package proxy

import (
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAProxyThatLeadsToItselfSaysSo: directly, and by way of another one.
func TestAProxyThatLeadsToItselfSaysSo(t *testing.T) {
	for name, between := range map[string]bool{"directly": false, "by another one": true} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			self := "http://" + l.Addr().String()
			up := self
			if between {
				up = start(t, newBook(t), self).url
			}
			b := newBook(t)
			p, err := New(Options{Upstream: up, Journals: b})
			require.NoError(t, err)
			server := &http.Server{Handler: p.Handler()}
			go func() { _ = server.Serve(l) }()
			t.Cleanup(func() { _ = server.Close(); p.transport.(*http.Transport).CloseIdleConnections() })
			res, body := ask(t, client(t, false), newRequest(t, "POST", self, `{"jsonrpc":"2.0","id":7,"method":"message/send"}`))
			require.Equal(t, http.StatusLoopDetected, res.StatusCode)
			require.JSONEq(t, `{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"steno proxy: got its own request back: its upstream leads to itself"}}`, body)
			all := b.closed(t, 2)
			require.Equal(t, "refused with 508: steno proxy got its own request back: its upstream leads to itself", all[1].closed.Error)
			require.Empty(t, all[0].closed.Error)
		})
	}
}

// TestProxiesInARowAreNoLoop, nor is a webhook that leads to a peer behind the same proxy.
func TestProxiesInARowAreNoLoop(t *testing.T) {
	var marks []string
	peer := upstream(t, func(_ http.ResponseWriter, r *http.Request) { marks = r.Header[markHeader] })
	first := start(t, newBook(t), peer.URL, withPush)
	second := start(t, newBook(t), first.url)
	res, _ := ask(t, client(t, false), newRequest(t, "GET", second.url, ""))
	require.Equal(t, 200, res.StatusCode)
	require.Equal(t, []string{second.id, first.id}, marks)
	res, _ = ask(t, client(t, false), newRequest(t, "POST", first.Proxy.push.address(first.url, false), "{}"))
	require.Equal(t, 200, res.StatusCode)
	require.Equal(t, []string{first.id + "-push", first.id}, marks)
}
