package proxy

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

func TestAnExchangePassesUnchangedAndIsRecorded(t *testing.T) {
	var got *http.Request
	var sent string
	peer := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, sent = r, string(b)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Set-Cookie", "id=geheim")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"task" : {}}`)
	})
	b := newBook(t)
	p := start(t, b, peer.URL+"/a2a")
	req := newRequest(t, "POST", p.url+"/message:send?x=%2F&api_key=geheim&y", `{"message" :1}`,
		"Content-Type", "application/json", "Authorization", "Bearer geheim", "A2A-Version", "1.0", "X-Own", "1",
		"Cookie", "a=geheim", "X-Api-Key", "geheim", "Proxy-Authorization", "geheim", "A2A-Notification-Token", "geheim",
		"Mcp-Session-Id", "geheim", "X-Client-Secret", "geheim", "X-Password", "geheim", "X-Credential", "geheim",
		"Traceparent", "00-1-2-01", "User-Agent", "tester", "Accept", "a/b", "Accept", "c/d")
	res, body := ask(t, client(t, false), req)
	require.Equal(t, 201, res.StatusCode)
	require.Equal(t, `{"task" : {}}`, body)
	require.Equal(t, "id=geheim", res.Header.Get("Set-Cookie"))
	require.Equal(t, `{"message" :1}`, sent)
	require.Equal(t, "/a2a/message:send?x=%2F&api_key=geheim&y", got.RequestURI)
	require.Equal(t, "Bearer geheim", got.Header.Get("Authorization"))
	require.Equal(t, "1", got.Header.Get("X-Own"))
	require.Equal(t, int64(14), got.ContentLength)
	require.Equal(t, strings.TrimPrefix(peer.URL, "http://"), got.Host)

	r := b.only(t)
	require.Empty(t, r.closed.Error)
	require.Equal(t, "POST", r.ask.ev.Method)
	require.Equal(t, "/message:send?x=%2F&api_key=***&y", r.ask.ev.Path)
	require.Equal(t, []string{"a2a-notification-token", "authorization", "cookie", "mcp-session-id", "proxy-authorization",
		"x-api-key", "x-client-secret", "x-credential", "x-password", "query api_key"}, r.ask.ev.Masked)
	require.Equal(t, "1.0", r.ask.ev.Version)
	require.Equal(t, "application/json", r.ask.ev.ContentType)
	require.Equal(t, map[string]string{"host": strings.TrimPrefix(p.url, "http://"), "traceparent": "00-1-2-01",
		"user-agent": "tester", "accept": "a/b, c/d"}, r.ask.ev.Headers)
	require.Equal(t, `{"message" :1}`, r.ask.body)
	require.Equal(t, schema.FromClient, r.ask.from)
	require.Equal(t, schema.ChanRequest, r.ask.chan_)
	require.Equal(t, schema.ChanResponse, r.answer.chan_)
	require.Equal(t, 201, r.answer.ev.Status)
	require.Equal(t, []string{"set-cookie"}, r.answer.ev.Masked)
	require.Equal(t, `{"task" : {}}`, r.answer.body)
	require.Equal(t, schema.FromAgent, r.answer.from)
	require.NotContains(t, b.all(), "geheim")
}

// TestAnAnswerIsTheOneWithoutTheProxy compares what a client gets with and without it.
func TestAnAnswerIsTheOneWithoutTheProxy(t *testing.T) {
	peer := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Date", "Mon, 01 Jan 2026 00:00:00 GMT")
		w.Header().Set("X-Verb", r.Method)
		w.Header()["X-Twice"] = []string{"a", "b"}
		switch r.URL.Path {
		case "/204":
			w.WriteHeader(http.StatusNoContent)
		case "/304":
			w.Header().Set("Etag", `"x"`)
			w.WriteHeader(http.StatusNotModified)
		case "/404":
			http.Error(w, "nothing here", http.StatusNotFound)
		case "/500":
			http.Error(w, "boom", http.StatusInternalServerError)
		case "/trailer":
			w.Header().Set("Trailer", "X-Sum")
			_, _ = io.WriteString(w, "body")
			w.Header().Set("X-Sum", "4")
		case "/empty":
		case "/length":
			w.Header().Set("Content-Length", "5")
			_, _ = io.WriteString(w, "12345")
		default:
			_, _ = w.Write(append([]byte(r.URL.RequestURI()+"\n"), body...))
		}
	})
	b := newBook(t)
	n := 0
	for _, h2 := range []bool{false, true} {
		c := client(t, h2)
		p := start(t, b, peer.URL)
		if h2 {
			p = start(t, b, "h2c"+strings.TrimPrefix(peer.URL, "http"))
		}
		for _, verb := range []string{"GET", "HEAD", "OPTIONS", "POST", "DELETE"} {
			for _, path := range []string{"/", "/a%2Fb//c?q=1;2&%zz", "/204", "/304", "/404", "/500", "/trailer", "/empty", "/length", "/x?"} {
				if verb == "HEAD" && path == "/trailer" {
					continue // the header that announces one goes no further than to the next hop
				}
				body := ""
				if verb == "POST" {
					body = "some body"
				}
				direct, want := ask(t, c, newRequest(t, verb, peer.URL+path, body))
				through, got := ask(t, c, newRequest(t, verb, p.url+path, body))
				require.Equal(t, direct.Status, through.Status)
				require.Equal(t, direct.Header, through.Header, "%s %s", verb, path)
				require.Equal(t, direct.ContentLength, through.ContentLength, "%s %s", verb, path)
				require.Equal(t, direct.Trailer, through.Trailer, "%s %s", verb, path)
				require.Equal(t, want, got)
				n++
				all := b.closed(t, n)
				r := all[n-1]
				require.Empty(t, r.closed.Error)
				require.Equal(t, verb, r.ask.ev.Method)
				require.Equal(t, path, r.ask.ev.Path)
				require.Equal(t, body, r.ask.body)
				require.Equal(t, want, r.answer.body)
				require.Equal(t, direct.StatusCode, r.answer.ev.Status)
			}
		}
	}
}

func TestThePathIsMappedOntoTheUpstreams(t *testing.T) {
	var got string
	peer := upstream(t, func(_ http.ResponseWriter, r *http.Request) { got = r.RequestURI })
	for _, c := range []struct{ up, ask, want string }{
		{"", "/", "/"}, {"/", "/x", "/x"}, {"/a2a", "/", "/a2a"}, {"/a2a/", "/", "/a2a/"}, {"/a2a/", "/x/", "/a2a/x/"},
		{"/a%2Fb", "/c%2Fd?e=%2F", "/a%2Fb/c%2Fd?e=%2F"}, {"/a?t=1", "/", "/a?t=1"}, {"/a?t=1", "/b?u", "/a/b?t=1&u"},
		{"", "//x", "//x"}, {"", "/?", "/?"},
	} {
		p := start(t, newBook(t), peer.URL+c.up)
		ask(t, client(t, false), newRequest(t, "GET", p.url+c.ask, ""))
		require.Equal(t, c.want, got, "%v", c)
	}
}

func TestForwardedHeadersAreKeptAndExtended(t *testing.T) {
	var got http.Header
	peer := upstream(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header })
	p := start(t, newBook(t), peer.URL)
	c := client(t, false)
	ask(t, c, newRequest(t, "GET", p.url, ""))
	require.Equal(t, "127.0.0.1", got.Get("X-Forwarded-For"))
	require.Equal(t, strings.TrimPrefix(p.url, "http://"), got.Get("X-Forwarded-Host"))
	require.Equal(t, "http", got.Get("X-Forwarded-Proto"))
	ask(t, c, newRequest(t, "GET", p.url, "", "X-Forwarded-For", "10.0.0.1", "X-Forwarded-For", "10.0.0.2",
		"X-Forwarded-Host", "public", "X-Forwarded-Proto", "https", "Forwarded", "for=x"))
	require.Equal(t, "10.0.0.1, 10.0.0.2, 127.0.0.1", got.Get("X-Forwarded-For"))
	require.Equal(t, "public", got.Get("X-Forwarded-Host"))
	require.Equal(t, "https", got.Get("X-Forwarded-Proto"))
	require.Equal(t, "for=x", got.Get("Forwarded"))
}

func TestRedirectsOfTheUpstreamLeadThroughTheProxy(t *testing.T) {
	location := ""
	peer := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", location)
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	b := newBook(t)
	p := start(t, b, peer.URL+"/a2a")
	public := start(t, b, peer.URL, func(o *Options) { o.PublicURL = "https://steno.example/tap/" })
	for i, c := range []struct{ in, out, public string }{
		{peer.URL + "/a2a/x?y=1#z", p.url + "/x?y=1#z", "https://steno.example/tap/a2a/x?y=1#z"},
		{peer.URL + "/a2a", p.url + "/", "https://steno.example/tap/a2a"},
		{strings.TrimPrefix(peer.URL, "http:") + "/a2a/", p.url + "/", "https://steno.example/tap/a2a/"},
		{"/a2a/x", "/x", "/tap/a2a/x"},
		{"x", "x", "x"},
		{peer.URL + "/other", peer.URL + "/other", "https://steno.example/tap/other"},
		{peer.URL + "/a2ab", peer.URL + "/a2ab", "https://steno.example/tap/a2ab"},
		{"https://login.example/x?token=geheim", "https://login.example/x?token=geheim", "https://login.example/x?token=geheim"},
	} {
		location = c.in
		res, _ := ask(t, client(t, false), newRequest(t, "GET", p.url, ""))
		require.Equal(t, c.out, res.Header.Get("Location"))
		res, _ = ask(t, client(t, false), newRequest(t, "GET", public.url, ""))
		require.Equal(t, c.public, res.Header.Get("Location"))
		require.Len(t, b.closed(t, 2*i+2), 2*i+2)
	}
	require.Equal(t, "http://%zz", p.upstream.redirect("http://%zz", p.url), "what nobody can read stays")
	require.Contains(t, b.all(), peer.URL+"/a2a/x?y=1#z", "recorded as sent")
	require.NotContains(t, b.all(), "geheim")
}

func TestEncodingsAreNarrowedToWhatTheRecordCanRead(t *testing.T) {
	for in, want := range map[string]string{
		"gzip, deflate, br": "gzip", "br": "identity", "*": "gzip", "gzip;q=0, br": "identity", "x-gzip; q=0.5": "gzip",
		"identity": "identity", "gzip;q=x": "gzip", "gzip;level=1": "gzip",
	} {
		h := http.Header{"Accept-Encoding": {in}}
		narrowEncodings(h)
		require.Equal(t, want, h.Get("Accept-Encoding"), in)
	}
	h := http.Header{}
	narrowEncodings(h)
	require.Empty(t, h, "what was not said stays unsaid")
}

func TestHTTP2OnBothSides(t *testing.T) {
	var proto string
	peer := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		proto = r.Proto
		b, _ := io.ReadAll(r.Body)
		w.Header().Set("Trailer", "X-End")
		_, _ = w.Write(b)
		w.Header().Set("X-End", "1")
	})
	b := newBook(t)
	p := start(t, b, "h2c://"+strings.TrimPrefix(peer.URL, "http://"))
	res, body := ask(t, client(t, true), newRequest(t, "POST", p.url, "hello"))
	require.Equal(t, "HTTP/2.0", res.Proto)
	require.Equal(t, "HTTP/2.0", proto)
	require.Equal(t, "hello", body)
	require.Equal(t, "1", res.Trailer.Get("X-End"))
	require.Equal(t, "hello", b.only(t).answer.body)
}

func TestATLSPeerIsReachedOverHTTP2(t *testing.T) {
	var proto string
	peer := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		proto = r.Proto
		_, _ = io.WriteString(w, "x")
	}))
	peer.EnableHTTP2 = true
	peer.StartTLS()
	t.Cleanup(peer.Close)
	b := newBook(t)
	p := start(t, b, peer.URL, func(o *Options) {
		o.TLS = peer.Client().Transport.(*http.Transport).TLSClientConfig
	})
	_, body := ask(t, client(t, false), newRequest(t, "GET", p.url, ""))
	require.Equal(t, "x", body)
	require.Equal(t, "HTTP/2.0", proto)
}

func TestOptionsOfTheServerItself(t *testing.T) {
	var got string
	peer := upstream(t, func(_ http.ResponseWriter, r *http.Request) { got = r.RequestURI })
	peer.Config.DisableGeneralOptionsHandler = true
	b := newBook(t)
	p := start(t, b, peer.URL+"/a2a")
	c, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	_, err = io.WriteString(c, "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	require.NoError(t, err)
	_, err = io.ReadAll(c)
	require.NoError(t, err)
	require.Equal(t, "*", got)
	require.Equal(t, "*", b.only(t).ask.ev.Path)
}

// TestAnOfferOfHTTP2IsPassedOver: Java's client makes it with every request.
func TestAnOfferOfHTTP2IsPassedOver(t *testing.T) {
	var got http.Header
	peer := upstream(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header })
	p := start(t, newBook(t), peer.URL)
	res, _ := ask(t, client(t, false), newRequest(t, "POST", p.url, "x", "Connection", "Upgrade, HTTP2-Settings",
		"Upgrade", "h2c", "HTTP2-Settings", "AAEAAEAA"))
	require.Equal(t, 200, res.StatusCode)
	require.Empty(t, got.Get("Upgrade"))
	require.Empty(t, got.Get("HTTP2-Settings"))
}

func TestTrailersOfARequestPass(t *testing.T) {
	var got string
	peer := upstream(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		got = r.Trailer.Get("X-Sum")
	})
	p := start(t, newBook(t), peer.URL)
	req := newRequest(t, "POST", p.url, "")
	req.Body, req.ContentLength = io.NopCloser(strings.NewReader("body")), -1
	req.Trailer = http.Header{"X-Sum": {"4"}}
	ask(t, client(t, false), req)
	require.Equal(t, "4", got)
}

func TestAPeerThatCannotBeReached(t *testing.T) {
	peer := upstream(t, func(http.ResponseWriter, *http.Request) {})
	peer.Close()
	b := newBook(t)
	p := start(t, b, peer.URL)
	res, body := ask(t, client(t, false), newRequest(t, "POST", p.url, "x"))
	require.Equal(t, http.StatusBadGateway, res.StatusCode)
	require.Contains(t, body, `{"error":{"code":502,"status":"UNAVAILABLE","message":"steno proxy: connect to upstream: `)
	r := b.only(t)
	require.Contains(t, r.closed.Error, "connect to upstream: ")
	require.Equal(t, "x", r.ask.body)
	require.False(t, r.answer.said)
	_, body = ask(t, client(t, false), newRequest(t, "HEAD", p.url, ""))
	require.Empty(t, body)
}

func TestAPeerThatSwitchesProtocolsUnasked(t *testing.T) {
	peer := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
			_ = c.Close()
		}
	})
	b := newBook(t)
	p := start(t, b, peer.URL)
	res, _ := ask(t, client(t, false), newRequest(t, "GET", p.url, ""))
	require.Equal(t, http.StatusBadGateway, res.StatusCode)
	require.Contains(t, b.only(t).closed.Error, "upstream: ")
}

func TestNewNamesTheBadOption(t *testing.T) {
	key := make([]byte, 16)
	for want, set := range map[string]func(*Options){
		"Upstream: URL \"\"":               func(o *Options) { o.Upstream = "" },
		"Upstream: URL \"ftp://x\"":        func(o *Options) { o.Upstream = "ftp://x" },
		"Upstream: parse URL":              func(o *Options) { o.Upstream = "http://u:geheim@%zz" },
		"Upstream: URL \"http://***@x":     func(o *Options) { o.Upstream = "http://u:geheim@x" },
		"Upstream: URL \"http://x#y\"":     func(o *Options) { o.Upstream = "http://x#y" },
		"Journals":                         func(o *Options) { o.Journals = nil },
		"Grace":                            func(o *Options) { o.Grace = -1 },
		"PublicURL: URL":                   func(o *Options) { o.PublicURL = "h2c://x" },
		"Push.BaseURL: URL":                func(o *Options) { o.Push = &Push{BaseURL: "x", Key: key} },
		"Push.BaseURL: URL \"http://x?y\"": func(o *Options) { o.Push = &Push{BaseURL: "http://x?y", Key: key} },
		"Push.Key: 15 bytes":               func(o *Options) { o.Push = &Push{BaseURL: "http://x", Key: key[1:]} },
	} {
		o := Options{Upstream: "http://x", Journals: &book{}}
		set(&o)
		_, err := New(o)
		require.ErrorContains(t, err, "read option "+want)
		require.NotContains(t, err.Error(), "geheim")
	}
	_, err := New(Options{Upstream: "HTTP://x", Journals: &book{}})
	require.NoError(t, err)
}
