package proxy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

func TestCardsLeadThroughTheProxy(t *testing.T) {
	for _, c := range []struct{ name, up, card, want string }{
		{"0.3", "http://peer:1/a2a", `{"name":"x", "url" : "http://peer:1/a2a","preferredTransport":"JSONRPC","additionalInterfaces":[ {"url":"http://PEER:1/a2a/v1?x=1","transport":"HTTP+JSON"} ,{"url":"http://peer:2/","transport":"HTTP+JSON"}], "signatures" : [{"protected":"e30"}],"version":"1"}`,
			`{"name":"x", "url" : "BASE","preferredTransport":"JSONRPC","additionalInterfaces":[ {"url":"BASE/v1?x=1","transport":"HTTP+JSON"} ,{"url":"http://peer:2/","transport":"HTTP+JSON"}],"version":"1"}`},
		{"1.0", "http://peer:1", `{"supportedInterfaces":[{"url":"http://peer:1/rpc","protocolBinding":"JSONRPC"},{"url":"peer:5","protocolBinding":"GRPC"},{"url":"http://peer:1/","protocolBinding":"HTTP+JSON"}]}`,
			`{"supportedInterfaces":[{"url":"BASE/rpc","protocolBinding":"JSONRPC"},{"url":"BASE/","protocolBinding":"HTTP+JSON"}]}`},
		{"snake case", "http://peer", `{"supported_interfaces":[{"url":"http://peer:80/rpc","protocol_binding":"grpc"},{"url":"http://peer:80/rpc"}]}`,
			`{"supported_interfaces":[{"url":"BASE/rpc"}]}`},
		{"gRPC first and last", "http://peer", `{"supportedInterfaces":[{"url":"a","protocolBinding":"GRPC"}, {"url":"b","protocolBinding":"GRPC"} ,{"url":"http://peer/x","protocolBinding":"JSONRPC"},{"url":"c","protocolBinding":"GRPC"} , {"url":"d","protocolBinding":"GRPC"}]}`,
			`{"supportedInterfaces":[{"url":"BASE/x","protocolBinding":"JSONRPC"}]}`},
		{"gRPC alone in 1.0", "http://peer", `{"supportedInterfaces":[ {"url":"a","protocolBinding":"GRPC"},{"url":"b","protocolBinding":"GRPC"} ]}`, `{"supportedInterfaces":[  ]}`},
		{"gRPC main in 0.3", "http://peer", `{"signatures":[1],"url":"grpc://peer","preferredTransport":"GRPC","additionalInterfaces":[{"url":"grpc://peer","transport":"GRPC"},{"url":"http://peer/x","transport":"HTTP+JSON"}]}`,
			`{"url":"BASE/x","preferredTransport":"HTTP+JSON","additionalInterfaces":[{"url":"BASE/x","transport":"HTTP+JSON"}]}`},
		{"gRPC alone in 0.3", "http://peer", `{"url":"grpc://peer","preferredTransport":"GRPC"}`, `{"url":"BASE","preferredTransport":"GRPC"}`},
		{"a name of its own", "http://127.0.0.1:9000", `{"url":"https://agent.example/a2a","additionalInterfaces":[{"url":"https://agent.example:443/rest#f","transport":"HTTP+JSON"},{"url":"https://other.example/","transport":"JSONRPC"}],"provider":{"url":"https://agent.example/"}}`,
			`{"url":"BASE/a2a","additionalInterfaces":[{"url":"BASE/rest#f","transport":"HTTP+JSON"},{"url":"https://other.example/","transport":"JSONRPC"}],"provider":{"url":"https://agent.example/"}}`},
		{"a name of its own, a prefix here", "http://127.0.0.1:9000/agents/x/", `{"supportedInterfaces":[{"url":"https://x.example/rpc"},{"url":"https://x.example/agents/x/rest"}]}`,
			`{"supportedInterfaces":[{"url":"BASE/rpc"},{"url":"BASE/rest"}]}`},
		{"beside the prefix", "http://peer/a", `{"url":"http://peer/ab","signatures":[1]}`, `{"url":"http://peer/ab","signatures":[1]}`},
		{"signatures first", "http://peer", `{ "signatures":[1] , "url":"http://peer/"}`, `{ "url":"BASE/"}`},
		{"no signatures", "http://peer", `{"signatures":[ ], "url":"http://peer/"}`, `{"signatures":[ ], "url":"BASE/"}`},
		{"signatures last", "http://peer", `{"url":"http://peer/", "signatures":[1] }`, `{"url":"BASE/" }`},
		{"relative and odd", "http://peer", `{"url":"/a2a","additionalInterfaces":[1,"x",{"url":5},{}],"supportedInterfaces":{}}`, `{"url":"/a2a","additionalInterfaces":[1,"x",{"url":5},{}],"supportedInterfaces":{}}`},
		{"no JSON", "http://peer", `{"url":"http://peer/"`, `{"url":"http://peer/"`},
		{"no object", "http://peer", `["http://peer/"]`, `["http://peer/"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := New(Options{Upstream: c.up, Journals: &book{}})
			require.NoError(t, err)
			want := strings.ReplaceAll(c.want, "BASE", "http://tap:8090")
			require.Equal(t, want, string(p.rewriteCard([]byte(c.card), "http://tap:8090", false)))
			rpc := func(card string) string { return `{"jsonrpc":"2.0","id":1,"result":` + card + `}` }
			require.Equal(t, rpc(want), string(p.rewriteCard([]byte(rpc(c.card)), "http://tap:8090", true)))
		})
	}
}

func TestACardIsRecordedAsSent(t *testing.T) {
	var peerURL, encoding, status string
	card := func() string { return `{"name" : "x","url":"` + peerURL + `/a2a","signatures":[1]}` }
	peer := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		text := card()
		if r.URL.Path == "/rpc" {
			text = `{"result":` + text + `}`
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Digest", "sha-256=:x:")
		w.Header().Set("Etag", `"1"`)
		if encoding != "" {
			w.Header().Set("Content-Encoding", encoding)
		}
		if encoding == "gzip" {
			text = string(squeeze(t, 6, text))
		}
		require.Empty(t, r.Header.Get("Range"))
		if status != "" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, text)
	})
	peerURL = peer.URL
	var said []string
	b := newBook(t)
	p := start(t, b, peer.URL, func(o *Options) { o.Notice = func(s string) { said = append(said, s) } })
	c := client(t, false)
	want := `{"name" : "x","url":"` + p.url + `/a2a"}`
	n := 0
	for _, encoding = range []string{"", "gzip"} {
		for _, path := range []string{"/.well-known/agent-card.json", "/x/.well-known/agent.json", "/v1/card", "/extendedAgentCard", "/agent/authenticatedExtendedCard"} {
			res, got := ask(t, c, newRequest(t, "GET", p.url+path, "", "Range", "bytes=0-1"))
			require.Equal(t, want, got)
			require.Equal(t, int64(len(want)), res.ContentLength)
			require.Empty(t, res.Header.Get("Content-Encoding"))
			require.Empty(t, res.Header.Get("Content-Digest"))
			require.Equal(t, `"1"`, res.Header.Get("Etag"))
			n++
			x := b.closed(t, n)[n-1]
			require.Equal(t, schema.ChanCard, x.answer.chan_)
			require.Equal(t, card(), x.answer.body)
			require.False(t, x.answerCopy.said)
		}
		for _, method := range []string{"agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard"} {
			_, got := ask(t, c, newRequest(t, "POST", p.url+"/rpc", `{"method":"`+method+`"}`))
			require.Equal(t, `{"result":`+want+`}`, got)
			n++
			x := b.closed(t, n)[n-1]
			require.Equal(t, schema.ChanResponse, x.answer.chan_)
			require.Equal(t, `{"result":`+card()+`}`, x.answer.body)
		}
	}
	require.Equal(t, []string{"agent card: its signatures are left out: they do not hold for the proxy's URLs"}, said, "once")
	encoding = "br"
	_, got := ask(t, c, newRequest(t, "GET", p.url+"/.well-known/agent-card.json", ""))
	require.Equal(t, card(), got, "what cannot be read is passed on")
	encoding, status = "", "404"
	_, got = ask(t, c, newRequest(t, "GET", p.url+"/.well-known/agent-card.json", ""))
	require.Equal(t, card(), got)
	all := b.closed(t, n+2)
	require.Equal(t, schema.ChanCard, all[n].answer.chan_)
	require.Equal(t, schema.ChanResponse, all[n+1].answer.chan_, "an error is no card")
}

func TestACardOverTLSLeadsToTLS(t *testing.T) {
	var proto string
	peer := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		proto = r.Header.Get("X-Forwarded-Proto")
		_, _ = io.WriteString(w, `{"url":"http://`+r.Host+`/x"}`)
	})
	b := newBook(t)
	p := start(t, b, peer.URL)
	front := httptest.NewTLSServer(p.Handler())
	t.Cleanup(front.Close)
	_, got := ask(t, front.Client(), newRequest(t, "GET", front.URL+"/.well-known/agent-card.json", ""))
	require.Equal(t, `{"url":"`+front.URL+`/x"}`, got)
	require.Equal(t, "https", proto)
}

func TestACardThatBreaksOff(t *testing.T) {
	peer := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, `{"url":"http`)
	})
	b := newBook(t)
	p := start(t, b, peer.URL)
	res, body := ask(t, client(t, false), newRequest(t, "GET", p.url+"/.well-known/agent-card.json", ""))
	require.Equal(t, http.StatusBadGateway, res.StatusCode)
	require.Contains(t, body, "upstream: unexpected EOF")
	x := b.only(t)
	require.Equal(t, `{"url":"http`, x.answer.body)
	require.Equal(t, "upstream: unexpected EOF", x.closed.Error)
}

func TestACardAboveTheBound(t *testing.T) {
	peer := upstream(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 101)) })
	b := newBook(t)
	p := start(t, b, peer.URL)
	p.max = 100
	res, _ := ask(t, client(t, false), newRequest(t, "GET", p.url+"/.well-known/agent-card.json", ""))
	require.Equal(t, http.StatusBadGateway, res.StatusCode)
	require.Contains(t, b.only(t).closed.Error, "more than 100 bytes")
}
