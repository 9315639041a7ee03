package proxy

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

var testKey = []byte("0123456789abcdef")

func withPush(o *Options) { o.Push = &Push{Key: testKey} }

func TestWebhooksComeThroughTheProxy(t *testing.T) {
	var got *http.Request
	var gotBody string
	receiver := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, gotBody = r, string(b)
		w.Header().Set("X-Hook", "1")
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, "thanks")
	})
	hook := strings.Replace(receiver.URL, "http://", "http://u:geheim@", 1) + "/hook%2F?token=geheim&a=1"
	var agentGot string
	peer := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		agentGot = string(b)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"result":%s}`, agentGot[strings.Index(agentGot, `"params":`)+9:len(agentGot)-1])
	})
	b := newBook(t)
	p := start(t, b, peer.URL, withPush)
	question := `{"method":"CreateTaskPushNotificationConfig", "params":{"url" : "` + hook + `","token":"geheim","data":{"url":"` + hook + `x"}}}`
	_, answer := ask(t, client(t, false), newRequest(t, "POST", p.url, question))
	address := p.Proxy.push.address(hook, false)
	require.True(t, strings.HasPrefix(address, p.push+"/push/"))
	require.Equal(t, strings.Replace(question, hook+`"`, address+`"`, 1), agentGot)
	require.Equal(t, `{"result":{"url" : "`+hook+`","token":"geheim","data":{"url":"`+hook+`x"}}}`, answer, "the client gets its own back")
	x := b.only(t)
	shownHook := strings.Replace(strings.Replace(hook, "u:geheim", mask, 1), "token=geheim", "token="+mask, 1)
	require.Equal(t, `{"method":"CreateTaskPushNotificationConfig", "params":{"url" : "`+shownHook+`","token":"***","data":{"url":"`+hook+`x"}}}`, x.ask.body)
	require.Equal(t, []string{"body params.url user", "body params.url token", "body params.token"}, x.ask.ev.Masked)
	require.Equal(t, `{"result":{"url" : "`+p.push+`/push/***","token":"***","data":{"url":"`+hook+`x"}}}`, x.answer.body, "our address holds the subscriber's")
	require.Equal(t, []string{"body result.url user", "body result.url token", "body result.token"}, x.answer.ev.Masked)

	res, body := ask(t, client(t, false), newRequest(t, "POST", address, `{"task":{"token":"kept"}}`, "Content-Type", "application/a2a+json",
		"Authorization", "Bearer geheim", "X-A2A-Notification-Token", "geheim", "X-Own", "1"))
	require.Equal(t, http.StatusAccepted, res.StatusCode)
	require.Equal(t, "thanks", body)
	require.Equal(t, "1", res.Header.Get("X-Hook"))
	require.Equal(t, "/hook%2F?token=geheim&a=1", got.RequestURI)
	require.Equal(t, "POST", got.Method)
	require.Equal(t, `{"task":{"token":"kept"}}`, gotBody)
	require.Equal(t, "Bearer geheim", got.Header.Get("Authorization"))
	require.Equal(t, "geheim", got.Header.Get("X-A2A-Notification-Token"))
	require.Equal(t, "application/a2a+json", got.Header.Get("Content-Type"))
	x = b.closed(t, 2)[1]
	require.Equal(t, schema.ChanPush, x.ask.chan_)
	require.Equal(t, schema.FromAgent, x.ask.from)
	require.Equal(t, "/hook%2F?token=***&a=1", x.ask.ev.Path)
	require.Equal(t, []string{"authorization", "x-a2a-notification-token", "query token"}, x.ask.ev.Masked)
	require.Equal(t, `{"task":{"token":"kept"}}`, x.ask.body)
	require.Equal(t, schema.ChanResponse, x.answer.chan_)
	require.Equal(t, schema.FromClient, x.answer.from)
	require.Equal(t, 202, x.answer.ev.Status)
	require.Equal(t, "thanks", x.answer.body)
	require.NotContains(t, strings.ReplaceAll(b.all(), hook+"x", ""), "geheim")

	// A subscriber may be asked first whether it is there.
	res, _ = ask(t, client(t, false), newRequest(t, "GET", address+"?validationToken=geheim2", ""))
	require.Equal(t, http.StatusAccepted, res.StatusCode)
	require.Equal(t, "/hook%2F?token=geheim&a=1&validationToken=geheim2", got.RequestURI)
	b.closed(t, 3)
	require.NotContains(t, b.all(), "geheim2")

	receiver.Close()
	res, _ = ask(t, client(t, false), newRequest(t, "POST", address, `{}`))
	require.Equal(t, http.StatusBadGateway, res.StatusCode)
	require.Contains(t, b.closed(t, 4)[3].closed.Error, "connect to receiver: ")
}

func TestNobodyElseMakesTheProxyPost(t *testing.T) {
	peer := upstream(t, func(http.ResponseWriter, *http.Request) { t.Error("it was posted") })
	b := newBook(t)
	p := start(t, b, peer.URL, withPush)
	good := p.Proxy.push.address(peer.URL, false)
	other := p.Proxy.push.address(peer.URL+"/other", false)
	for _, url := range []string{
		good + "x", good + "/v03", good + "/", strings.Replace(good, "/push/", "/push/0", 1), strings.Replace(good, "/push/", "/pull/", 1),
		good[:strings.LastIndex(good, "/")] + other[strings.LastIndex(other, "/"):],
		p.push + "/push/", p.push + "/push/x", p.push + "/", p.Proxy.push.address("ftp://x/", false), p.Proxy.push.address("http://%zz", false),
	} {
		res, _ := ask(t, client(t, false), newRequest(t, "POST", url, "{}"))
		require.Equal(t, http.StatusNotFound, res.StatusCode, url)
	}
	require.Empty(t, b.exchanges())
	none := start(t, b, peer.URL)
	res, _ := ask(t, client(t, false), newRequest(t, "POST", none.push+"/push/x/y", "{}"))
	require.Equal(t, http.StatusNotFound, res.StatusCode)
}

func TestAddressesOfSubscribers(t *testing.T) {
	p, err := newPusher(&Push{BaseURL: "https://tap.example/steno/", Key: testKey}, nil)
	require.NoError(t, err)
	other, err := newPusher(&Push{BaseURL: "https://tap.example/steno/", Key: []byte("another key, as long")}, nil)
	require.NoError(t, err)
	for _, v03 := range []bool{false, true} {
		for _, in := range []string{"https://h/ü?a=%2F", "x", ""} {
			address := p.address(in, v03)
			got, old, ok := p.subscriber(strings.TrimPrefix(address, "https://tap.example"))
			require.True(t, ok)
			require.Equal(t, in, got)
			require.Equal(t, v03, old)
			back, ok := p.made(address)
			require.True(t, ok)
			require.Equal(t, in, back)
			_, ok = other.made(address)
			require.False(t, ok)
		}
	}
	_, _, ok := p.subscriber(strings.TrimPrefix(p.address("x", false), "https://tap.example/steno"))
	require.True(t, ok, "a gateway may take off its part of the path")
	config := []config{{span{0, 40}, ""}}
	for _, in := range []string{`{"url":"ftp://x"}`, `{"url":"mailto:x"}`, `{"url":7}`, `{"url":"` + p.address("http://h", false) + `"}`} {
		config[0].at.to = len(in)
		require.Equal(t, in, string(p.redirect([]byte(in), config, false)))
	}
}

func TestAWebhookIsNoCallWhateverItsURL(t *testing.T) {
	var got string
	const body = `{"url":"https://h","token":"kept","params":{"configuration":{"pushNotificationConfig":{"url":"https://h"}}}}`
	receiver := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got = string(b)
		_, _ = w.Write(b)
	})
	b := newBook(t)
	p := start(t, b, receiver.URL, withPush)
	_, answer := ask(t, client(t, false), newRequest(t, "POST", p.Proxy.push.address(receiver.URL+"/tasks/t/pushNotificationConfigs", false), body))
	require.Equal(t, body, got)
	require.Equal(t, body, answer)
	x := b.only(t)
	require.Equal(t, body, x.ask.body)
	require.Equal(t, body, x.answer.body)
}

// TestPushConfigsOfEveryDialectComeThrough looks at what the agent is told and the client gets back.
func TestPushConfigsOfEveryDialectComeThrough(t *testing.T) {
	const hook = "https://client.example/hook"
	for _, c := range []struct{ verb, path, ask, answer string }{
		{"POST", "/", `{"method":"message/send","params":{"configuration":{"pushNotificationConfig":{"url":"URL"}}}}`, `{"result":{"kind":"task"}}`},
		{"POST", "/", `{"method":"tasks/pushNotificationConfig/set","params":{"pushNotificationConfig":{"url":"URL"}}}`, `{"result":{"pushNotificationConfig":{"url":"URL"}}}`},
		{"POST", "/", `{"method":"tasks/pushNotificationConfig/list","params":{}}`, `{"result":[{"pushNotificationConfig":{"url":"URL"}},{"pushNotificationConfig":{"url":"URL"}}]}`},
		{"POST", "/", `{"method":"GetTaskPushNotificationConfig","params":{}}`, `{"result":{"url":"URL"}}`},
		{"POST", "/", `{"method":"ListTaskPushNotificationConfigs","params":{}}`, `{"result":{"configs":[{"url":"URL"}]}}`},
		{"POST", "/", `[{"method":"SendMessage","params":{"configuration":{"taskPushNotificationConfig":{"url":"URL"}}}}]`, `[]`},
		{"POST", "/message:send", `{"configuration":{"taskPushNotificationConfig":{"url":"URL"}}}`, `{"task":{}}`},
		{"POST", "/tasks/t/pushNotificationConfigs", `{"url":"URL"}`, `{"url":"URL"}`},
		{"GET", "/tasks/t/pushNotificationConfigs", ``, `{"configs":[{"url":"URL"}]}`},
		{"GET", "/v1/tasks/t/pushNotificationConfigs/c", ``, `{"pushNotificationConfig":{"url":"URL"}}`},
	} {
		for _, gz := range []bool{false, true} {
			var told string
			var p *proxied
			in := func(text, url string) string { return strings.ReplaceAll(text, "URL", url) }
			peer := upstream(t, func(w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				told = string(b)
				w.Header().Set("Content-Type", "application/json")
				answer := in(c.answer, p.Proxy.push.address(hook, false))
				if gz {
					w.Header().Set("Content-Encoding", "gzip")
					answer = string(squeeze(t, 6, answer))
				}
				_, _ = io.WriteString(w, answer)
			})
			b := newBook(t)
			p = start(t, b, peer.URL, withPush)
			question, headers := in(c.ask, hook), []string(nil)
			if gz && question != "" {
				question, headers = string(squeeze(t, 6, question)), []string{"Content-Encoding", "gzip"}
			}
			res, got := ask(t, client(t, false), newRequest(t, c.verb, p.url+c.path, question, headers...))
			if strings.Contains(c.ask, "URL") {
				require.Equal(t, in(c.ask, p.Proxy.push.address(hook, false)), told)
			}
			if res.Header.Get("Content-Encoding") == "gzip" { // nothing had to be rewritten
				plain, err := gunzipWhole([]byte(got), 1<<20)
				require.NoError(t, err)
				got = string(plain)
			}
			require.Equal(t, in(c.answer, hook), got)
			x := b.only(t)
			require.Equal(t, in(c.ask, hook), x.ask.body, "recorded as the client sent it")
			require.Equal(t, in(c.answer, p.Proxy.push.address(hook, false)), x.answer.body, "recorded as the agent sent it")
			require.Empty(t, x.closed.Error)
		}
	}
}

func TestSecretsOfPushConfigsThatCannotBeReadAreNotRecorded(t *testing.T) {
	peer := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/br/tasks/t/pushNotificationConfigs":
			w.Header().Set("Content-Encoding", "br")
			_, _ = io.WriteString(w, "geheim")
		case "/text/tasks/t/pushNotificationConfigs":
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, `{"token":"geheim"}`)
		case "/stream/tasks/t/pushNotificationConfigs":
			_ = stream(w)("event: x\ndata: {\"token\":\ndata:  \"geheim\"}\n\ndata: {\"token\":\"gehe")
		}
	})
	b := newBook(t)
	p := start(t, b, peer.URL)
	for i, c := range []struct{ path, got, shown string }{
		{"/br", "geheim", `"***"`}, {"/text", `{"token":"geheim"}`, `{"token":"***"}`},
		{"/stream", "event: x\ndata: {\"token\":\ndata:  \"geheim\"}\n\ndata: {\"token\":\"gehe", "event: x\ndata: {\"token\":\ndata:  \"***\"}\n\ndata: {\"token\":\"***\""},
	} {
		_, got := ask(t, client(t, false), newRequest(t, "GET", p.url+c.path+"/tasks/t/pushNotificationConfigs", ""))
		require.Equal(t, c.got, got)
		x := b.closed(t, i+1)[i]
		require.Equal(t, c.shown, x.answer.body)
		require.NotEmpty(t, x.answer.ev.Masked)
	}
	require.NotContains(t, b.all(), "gehe")
}

// A subscriber whose address holds a user gets the same Authorization as from an agent that posts past
// the proxy, and the record has none of it.
func TestAWebhookWithAUser(t *testing.T) {
	var got string
	receiver := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		got = user + ":" + password
	})
	b := newBook(t)
	p, err := New(Options{Upstream: "http://127.0.0.1:9", Journals: b, Push: &Push{BaseURL: "http://tap:1", Key: make([]byte, 16)}})
	require.NoError(t, err)
	tap := httptest.NewServer(p.PushHandler())
	t.Cleanup(tap.Close)
	address := p.push.address(strings.Replace(receiver.URL, "http://", "http://me:s3cretword@", 1)+"/hook", false)
	response, err := http.Post(tap.URL+strings.TrimPrefix(address, "http://tap:1"), "application/json", strings.NewReader("{}"))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, 200, response.StatusCode)
	require.Equal(t, "me:s3cretword", got)
}
