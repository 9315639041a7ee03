package proxy

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGRPCIsRefused(t *testing.T) {
	peer := upstream(t, func(http.ResponseWriter, *http.Request) { t.Error("it was forwarded") })
	for _, kind := range []string{"application/grpc", "application/grpc+proto", "Application/GRPC-Web; x=y"} {
		b := newBook(t)
		p := start(t, b, peer.URL)
		const path = "/lf.a2a.v1.A2AService/SendMessage"
		res, body := ask(t, client(t, true), newRequest(t, "POST", p.url+path, "\x00\x00\x00\x00\x02ab", "Content-Type", kind, "Te", "trailers"))
		require.Equal(t, 200, res.StatusCode)
		require.Equal(t, "12", res.Header.Get("Grpc-Status"), "in the header, which is all there is")
		require.Equal(t, grpcText, res.Header.Get("Grpc-Message"))
		require.Equal(t, "application/grpc", res.Header.Get("Content-Type"))
		require.Empty(t, body)
		require.Empty(t, res.Trailer)
		res, body = ask(t, client(t, false), newRequest(t, "POST", p.url+path, "x", "Content-Type", kind))
		require.Equal(t, http.StatusUnsupportedMediaType, res.StatusCode)
		require.Contains(t, body, "does not carry gRPC: use the peer's JSON-RPC or REST binding")
		for _, x := range b.closed(t, 2) {
			require.Equal(t, path, x.ask.ev.Path)
			require.Empty(t, x.ask.body)
			require.False(t, x.answer.said)
			require.Equal(t, "refused with 415: "+grpcText, x.closed.Error)
		}
	}
}

func TestTunnelsAndOtherProtocolsAreRefused(t *testing.T) {
	peer := upstream(t, func(http.ResponseWriter, *http.Request) { t.Error("it was forwarded") })
	b := newBook(t)
	p := start(t, b, peer.URL)
	res, body := ask(t, client(t, false), newRequest(t, "GET", p.url, "", "Connection", "Upgrade", "Upgrade", "websocket"))
	require.Equal(t, http.StatusNotImplemented, res.StatusCode)
	require.Contains(t, body, `does not carry \"websocket\"`)
	req := newRequest(t, "CONNECT", p.url, "")
	req.Host = "elsewhere.example:443"
	res, err := client(t, false).Transport.RoundTrip(req)
	require.NoError(t, err)
	require.Equal(t, http.StatusNotImplemented, res.StatusCode)
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Contains(t, string(text), "opens no tunnels")
	all := b.closed(t, 2)
	require.Contains(t, all[0].closed.Error, "refused with 501: ")
	require.Equal(t, "CONNECT", all[1].ask.ev.Method)
	require.Equal(t, "elsewhere.example:443", all[1].ask.ev.Headers["host"])
}
