package proxy

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestEachExchangeIsToldOfAtItsEnd(t *testing.T) {
	peer := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, "answer")
	})
	b := newBook(t)
	told := make(chan Exchange, 1)
	p := start(t, b, peer.URL, withPush, func(o *Options) { o.Done = func(e Exchange) { told <- e } })
	ask(t, client(t, false), newRequest(t, "PUT", p.url+"/a%2Fb?token=x", "ask"))
	e := <-told
	require.Equal(t, b.only(t).id, e.ID)
	require.Positive(t, e.Took)
	e.ID, e.Took = uuid.Nil, 0
	require.Equal(t, Exchange{Method: "PUT", Path: "/a%2Fb", Status: 201, Bytes: 6}, e)

	ask(t, client(t, false), newRequest(t, "POST", p.Proxy.push.address(peer.URL+"/hook", false), "{}"))
	e = <-told
	require.True(t, e.Push)
	require.Empty(t, e.Path)

	b.beginErr = errFull
	ask(t, client(t, false), newRequest(t, "HEAD", p.url, ""))
	e = <-told
	require.Equal(t, uuid.Nil, e.ID)
	require.Equal(t, 503, e.Status)
	require.Contains(t, e.Error, "no room")
}

// TestAnUpstreamThatGoesAndComesBackIsSaidOnceEach.
func TestAnUpstreamThatGoesAndComesBackIsSaidOnceEach(t *testing.T) {
	answers := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	said := make(chan string, 10)
	p := start(t, newBook(t), "http://"+address, withPush, func(o *Options) { o.Notice = func(s string) { said <- s } })
	request := func() int {
		res, _ := ask(t, client(t, false), newRequest(t, "GET", p.url, ""))
		return res.StatusCode
	}
	ctx, leave := context.WithCancel(t.Context())
	leave()
	_, err = client(t, false).Do(newRequest(t, "GET", p.url, "").WithContext(ctx))
	require.Error(t, err)
	for range 2 {
		for range 3 {
			require.Equal(t, 502, request())
		}
		l, err = net.Listen("tcp", address)
		require.NoError(t, err)
		server := &http.Server{Handler: answers}
		go func() { _ = server.Serve(l) }()
		for range 3 {
			require.Equal(t, 200, request())
		}
		require.NoError(t, server.Close())
		p.transport.(*http.Transport).CloseIdleConnections()
		require.True(t, strings.HasPrefix(<-said, "the upstream cannot be reached: connect to upstream: dial tcp "+address+": "))
		require.Equal(t, "the upstream is back", <-said)
	}
	require.Empty(t, said)
	ask(t, client(t, false), newRequest(t, "POST", p.Proxy.push.address("http://"+address, false), "{}"))
	require.Empty(t, said, "a receiver is no upstream")
}
