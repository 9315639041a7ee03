package proxy

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/schema/wire/a2a/compat"
)

func serveV03(o *Options) { o.ServeV03 = true }

func TestAnOldClientTalksToANewPeer(t *testing.T) {
	var got *http.Request
	var told string
	const answer = `{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}}`
	peer := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, told = r, string(b)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("A2A-Extensions", "https://e")
		_, _ = io.WriteString(w, answer)
	})
	b := newBook(t)
	p := start(t, b, peer.URL, serveV03, withPush)
	question := `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}]},` +
		`"configuration":{"pushNotificationConfig":{"url":"https://client.example/hook","token":"geheim"}}}}`
	res, back := ask(t, client(t, false), newRequest(t, "POST", p.url+"/?A2A-Version=0.3&x=1", question, "Content-Type", "application/json", "X-A2A-Extensions", "https://e"))
	up, err := compat.RequestUp([]byte(question))
	require.NoError(t, err)
	down, err := compat.ResponseDown("message/send", []byte(answer))
	require.NoError(t, err)
	require.NotEqual(t, question, string(up))
	require.NotEqual(t, answer, string(down))
	require.Equal(t, strings.Replace(string(up), "https://client.example/hook", p.Proxy.push.address("https://client.example/hook", true), 1), told)
	require.Equal(t, "1.0", got.Header.Get("A2A-Version"))
	require.Equal(t, "https://e", got.Header.Get("A2A-Extensions"))
	require.Empty(t, got.Header.Get("X-A2A-Extensions"))
	require.Equal(t, "/?x=1", got.RequestURI)
	require.Equal(t, string(down), back)
	require.Equal(t, int64(len(down)), res.ContentLength)
	require.Equal(t, "https://e", res.Header.Get("X-A2A-Extensions"))
	require.Empty(t, res.Header.Get("A2A-Extensions"))

	x := b.only(t)
	require.Equal(t, []string{"request evidence", "request bytes", "request copy's evidence", "request copy's bytes",
		"response evidence", "response bytes", "response copy's evidence", "response copy's bytes"}, x.order)
	require.Equal(t, strings.Replace(question, "geheim", mask, 1), x.ask.body)
	require.Equal(t, strings.Replace(told, "geheim", mask, 1), x.askCopy.body, "what the peer was told")
	require.Equal(t, []string{"body params.configuration.taskPushNotificationConfig.token"}, x.askCopy.ev.Masked)
	require.Equal(t, answer, x.answer.body)
	require.Equal(t, string(down), x.answerCopy.body)
	require.Equal(t, "1.0", x.askCopy.ev.Served)
	require.Equal(t, "1.0", x.askCopy.ev.Version)
	require.Equal(t, "/?x=1", x.askCopy.ev.Path)
	require.Equal(t, "/?A2A-Version=0.3&x=1", x.ask.ev.Path)
	require.Empty(t, x.ask.ev.Version)
	require.Equal(t, "0.3", x.answerCopy.ev.Served)
	require.Equal(t, 200, x.answerCopy.ev.Status)
	require.Equal(t, "https://e", x.answer.ev.Headers["a2a-extensions"])
	require.Equal(t, "https://e", x.answerCopy.ev.Headers["x-a2a-extensions"])
	require.Equal(t, schema.FromClient, x.askCopy.from)
	require.Equal(t, schema.FromAgent, x.answerCopy.from)
	require.NotContains(t, b.all(), "geheim")
}

func TestAnOldClientSeesItsOwnPushConfig(t *testing.T) {
	const hook = "https://client.example/hook"
	var p *proxied
	peer := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(squeeze(t, 6, `{"id":1,"result":{"taskId":"t","id":"c","url":"`+p.Proxy.push.address(hook, true)+`","token":"geheim"}}`))
	})
	b := newBook(t)
	p = start(t, b, peer.URL, serveV03, withPush)
	_, got := ask(t, client(t, false), newRequest(t, "POST", p.url, `{"id":1,"method":"tasks/pushNotificationConfig/get","params":{"id":"t"}}`))
	const want = `{"id":1,"result":{"taskId":"t","pushNotificationConfig":{"id":"c","url":"` + hook + `","token":"geheim"}}}`
	require.Equal(t, want, got)
	x := b.only(t)
	require.Equal(t, strings.Replace(want, "geheim", mask, 1), x.answerCopy.body)
	require.Contains(t, x.answer.body, p.push)
	require.Equal(t, "gzip", x.answer.ev.Headers["content-encoding"])
	require.NotContains(t, x.answerCopy.ev.Headers, "content-encoding")
	require.NotContains(t, b.all(), "geheim")
}

func TestAnOldClientReadsAStreamOfANewPeer(t *testing.T) {
	items := []string{
		": hello\r\nid: 1\r\nevent: message\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\r\ndata: \"result\":{\"task\":{\"id\":\"t\",\"contextId\":\"c\",\"status\":{\"state\":\"TASK_STATE_WORKING\"}}}}\r\n\r\n",
		"data: {\"result\":{\"artifactUpdate\":{\"taskId\":\"t\",\"contextId\":\"c\",\"artifact\":{\"artifactId\":\"a\",\"parts\":[{\"text\":\"x\"}]}}}}\n\n",
		": ping\n\n",
		"data: not json\n\n",
		"\n\n",
		"data: {\"result\":{\"statusUpdate\":{\"taskId\":\"t\",\"contextId\":\"c\",\"status\":{\"state\":\"TASK_STATE_COMPLETED\"}}}}\n\n",
	}
	wants := make([]string, len(items))
	for i, item := range items {
		wants[i] = string(editData([]byte(item), func(b []byte) []byte {
			down, err := compat.ResponseDown("message/stream", b)
			if err != nil {
				return b
			}
			return down
		}))
	}
	require.Contains(t, wants[0], ": hello\r\nid: 1\r\nevent: message\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,")
	require.Contains(t, wants[5], `"final":true`)
	for _, gz := range []bool{false, true} {
		for _, split := range []int{0, 1, 7} {
			t.Run(fmt.Sprint("gzip ", gz, " split ", split), func(t *testing.T) {
				next := make(chan string)
				peer := upstream(t, func(w http.ResponseWriter, r *http.Request) {
					if gz {
						w.Header().Set("Content-Encoding", "gzip")
					}
					send := stream(w)
					_ = send("")
					for s := range next {
						if gz {
							s = string(squeeze(t, 6, s))
						}
						for split > 0 && len(s) > split {
							_ = send(s[:split])
							s = s[split:]
						}
						_ = send(s)
					}
				})
				b := newBook(t)
				p := start(t, b, peer.URL, serveV03)
				res, err := client(t, false).Do(newRequest(t, "POST", p.url, `{"method":"message/stream","params":{}}`))
				require.NoError(t, err)
				require.Empty(t, res.Header.Get("Content-Encoding"))
				for i, item := range items {
					next <- item
					if item == "\n\n" {
						continue // stands before the next item, which it belongs to
					}
					want := wants[i]
					if i > 0 && items[i-1] == "\n\n" {
						want = "\n\n" + want
					}
					got := make([]byte, len(want))
					_, err := io.ReadFull(res.Body, got)
					require.NoError(t, err)
					require.Equal(t, want, string(got))
				}
				close(next)
				rest, err := io.ReadAll(res.Body)
				require.NoError(t, err)
				require.Empty(t, rest)
				x := b.only(t)
				require.Equal(t, strings.Join(items, ""), x.answer.body)
				require.Equal(t, strings.Join(wants, ""), x.answerCopy.body)
				require.Equal(t, "0.3", x.answerCopy.ev.Served)
				require.Equal(t, []string{"stream evidence", "stream copy's evidence", "stream bytes", "stream copy's bytes", "stream bytes", "stream copy's bytes"}, x.order[4:10])
				events, _ := a2a.AppendEvents(nil, []byte(x.answerCopy.body))
				require.Len(t, events, 4)
				require.Empty(t, x.closed.Error)
			})
		}
	}
}

func TestAServedStreamThatBreaksOff(t *testing.T) {
	peer := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		_ = stream(w)("data: {\"result\":{\"task\":{\"id\":\"t\"}}}\n\ndata: {\"half")
		panic(http.ErrAbortHandler)
	})
	b := newBook(t)
	p := start(t, b, peer.URL, serveV03)
	res, err := client(t, false).Do(newRequest(t, "POST", p.url, `{"method":"message/stream"}`))
	require.NoError(t, err)
	got, err := io.ReadAll(res.Body)
	require.Error(t, err)
	require.True(t, strings.HasSuffix(string(got), "\n\ndata: {\"half"))
	x := b.only(t)
	require.Contains(t, x.closed.Error, "upstream: ")
	require.True(t, strings.HasSuffix(x.answer.body, "\n\ndata: {\"half"))
	require.Equal(t, string(got), x.answerCopy.body)
}

func TestAServedItemAboveTheBound(t *testing.T) {
	peer := upstream(t, func(w http.ResponseWriter, _ *http.Request) { _ = stream(w)("data: " + strings.Repeat("x", 2000)) })
	b := newBook(t)
	p := start(t, b, peer.URL, serveV03)
	p.max = 1000
	res, err := client(t, false).Do(newRequest(t, "POST", p.url, `{"method":"message/stream"}`))
	if err == nil {
		_, err = io.ReadAll(res.Body)
	}
	require.Error(t, err)
	require.Contains(t, b.only(t).closed.Error, "more than 1000 bytes")
}

func TestAnOldClientGetsACardThatItCanRead(t *testing.T) {
	var asked string
	var card string
	peer := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.RequestURI
		text := card
		if r.Method == "POST" {
			text = `{"result":` + card + `}`
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, text)
	})
	card = `{"name":"x","supportedInterfaces":[{"url":"` + peer.URL + `/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"signatures":[1]}`
	b := newBook(t)
	p := start(t, b, peer.URL, serveV03)
	down, err := compat.CardDown([]byte(card))
	require.NoError(t, err)
	want := strings.ReplaceAll(string(down), peer.URL, p.url)
	require.Contains(t, want, `"url":"`+p.url+`/rpc","preferredTransport":"JSONRPC"`)
	for i, path := range []string{"/.well-known/agent.json?a=1", "/.well-known/agent-card.json"} {
		_, got := ask(t, client(t, false), newRequest(t, "GET", p.url+path, ""))
		require.Equal(t, want, got)
		x := b.closed(t, i+1)[i]
		require.Equal(t, card, x.answer.body)
		require.Equal(t, want, x.answerCopy.body)
		require.Equal(t, schema.ChanCard, x.answerCopy.chan_)
		require.Equal(t, path, x.ask.ev.Path)
		if i == 0 {
			require.Equal(t, "/.well-known/agent-card.json?a=1", asked)
			require.Equal(t, asked, x.askCopy.ev.Path)
			require.Equal(t, "1.0", x.askCopy.ev.Served)
		} else {
			require.False(t, x.askCopy.said)
		}
	}
	_, got := ask(t, client(t, false), newRequest(t, "POST", p.url, `{"id":1,"method":"agent/getAuthenticatedExtendedCard"}`))
	require.Contains(t, got, `"url":"`+p.url+`/rpc"`)
	require.Contains(t, b.closed(t, 3)[2].answer.body, peer.URL)
}

func TestWhatIsNotOldPassesUnchanged(t *testing.T) {
	peer := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Version", r.Header.Get("A2A-Version"))
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(b)
	})
	b := newBook(t)
	p := start(t, b, peer.URL, serveV03)
	for i, c := range []struct{ path, body, version string }{
		{"/", `{"method":"SendMessage","params":{"message":{"role":"user","kind":"message"}}}`, ""},
		{"/", `{"method":"message/send","params":{"message":{"role":"user","kind":"message"}}}`, "1.0"},
		{"/v1/message:send", `{"message":{"role":"ROLE_USER","content":[]}}`, "0.3"},
		{"/", `[{"method":"message/send","params":{}}]`, ""},
		{"/", `not json`, ""},
		{"/", `{"method":"message/send"} x`, ""},
	} {
		headers := []string{"A2A-Version", c.version}
		if c.version == "" {
			headers = nil
		}
		res, got := ask(t, client(t, false), newRequest(t, "POST", p.url+c.path, c.body, headers...))
		require.Equal(t, c.body, got)
		require.Equal(t, c.version, res.Header.Get("X-Version"))
		x := b.closed(t, i+1)[i]
		require.False(t, x.askCopy.said)
		require.False(t, x.answerCopy.said)
	}
	// What the peer answers may be none of what can be rewritten.
	_, got := ask(t, client(t, false), newRequest(t, "POST", p.url, `{"method":"message/send"}`))
	require.Equal(t, `{"method":"SendMessage"}`, got)
}

func TestAnAnswerThatCannotBeRewrittenPasses(t *testing.T) {
	kind := ""
	peer := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, "boom")
	})
	b := newBook(t)
	p := start(t, b, peer.URL, serveV03)
	for i, k := range []string{"application/json", "text/plain"} {
		kind = k
		res, got := ask(t, client(t, false), newRequest(t, "POST", p.url, `{"method":"message/send"}`))
		require.Equal(t, http.StatusInternalServerError, res.StatusCode)
		require.Equal(t, "boom", got)
		x := b.closed(t, i+1)[i]
		require.Equal(t, "boom", x.answer.body)
		require.False(t, x.answerCopy.said)
	}
}

func TestWebhooksToAnOldSubscriberAreRewritten(t *testing.T) {
	var got, kind string
	receiver := upstream(t, func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, kind = string(b), r.Header.Get("Content-Type")
	})
	b := newBook(t)
	p := start(t, b, "http://unused", serveV03, withPush)
	const event = `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}`
	down, err := compat.EventDown([]byte(event))
	require.NoError(t, err)
	ask(t, client(t, false), newRequest(t, "POST", p.Proxy.push.address(receiver.URL+"/h", true), event, "Content-Type", "application/a2a+json"))
	require.Equal(t, string(down), got)
	require.Equal(t, "application/json", kind)
	x := b.only(t)
	require.Equal(t, []string{"push evidence", "push bytes", "push copy's evidence", "push copy's bytes", "response evidence"}, x.order)
	require.Equal(t, event, x.ask.body)
	require.Equal(t, string(down), x.askCopy.body)
	require.Equal(t, "0.3", x.askCopy.ev.Served)
	require.Equal(t, "application/a2a+json", x.ask.ev.ContentType)
	require.Equal(t, "application/json", x.askCopy.ev.ContentType)
	require.Equal(t, "/h", x.askCopy.ev.Path)

	ask(t, client(t, false), newRequest(t, "POST", p.Proxy.push.address(receiver.URL+"/h", false), event))
	require.Equal(t, event, got)
	ask(t, client(t, false), newRequest(t, "POST", p.Proxy.push.address(receiver.URL+"/h", true), "no json"))
	require.Equal(t, "no json", got)
	require.False(t, b.closed(t, 3)[2].askCopy.said)
}

func TestBlocksEndAtBlankLines(t *testing.T) {
	text := "\n\ndata: 1\r\n\r\n: c\n\ndata: 2\rdata: 3\r\rid: 4\n\r\n\ndata: rest"
	want := []string{"\n\ndata: 1\r\n\r\n", ": c\n\n", "data: 2\rdata: 3\r\r", "id: 4\n\r\n", "\ndata: rest"}
	for split := 1; split <= len(text); split++ {
		var s blocks
		var got []string
		block := ""
		for rest := text; rest != ""; {
			piece := rest[:min(split, len(rest))]
			rest = rest[len(piece):]
			for piece != "" {
				n, ended := s.next([]byte(piece))
				block += piece[:n]
				piece = piece[n:]
				if ended && block == "\n" && len(got) > 0 { // its CR was the last byte before
					got[len(got)-1] += block
				} else if ended {
					got = append(got, block)
				}
				if ended {
					block = ""
				}
			}
		}
		require.Equal(t, want, append(got, block), "split %d", split)
	}
}

func TestDataIsEditedInItsPlace(t *testing.T) {
	two := func(b []byte) []byte { return append(append(b[:len(b):len(b)], '\n'), b...) }
	for in, want := range map[string]string{
		"data: 1\n\n":                        "data: 1\ndata: 1\n\n",
		"id: 7\ndata:1\r\n: c\ndata:  2\n\n": "id: 7\ndata: 1\r\ndata:  2\r\ndata: 1\r\ndata:  2\r\n: c\n\n",
		"\uFEFFdata: 1\r\r":                  "\uFEFFdata: 1\rdata: 1\r\r",
		"event: x\n\n":                       "event: x\n\n",
		"data\n\n":                           "data\n\n",
		"data: 1":                            "data: 1\ndata: 1",
		"database: 1\nretry: 5\ndata: 1\n\n": "database: 1\nretry: 5\ndata: 1\ndata: 1\n\n",
	} {
		require.Equal(t, want, string(editData([]byte(in), two)))
		require.Equal(t, in, string(editData([]byte(in), func(b []byte) []byte { return b })))
	}
}

// FuzzServedStream: whatever a peer sends and however it is split, the record of both wires is
// complete, and the other lines stay.
func FuzzServedStream(f *testing.F) {
	f.Add([]byte("data: {\"result\":{\"task\":{\"id\":\"t\"}}}\n\n: x\n\ndata: 1\r\r"), 3)
	f.Fuzz(func(t *testing.T, text []byte, split int) {
		b := &book{}
		x := &exchange{proxy: &Proxy{max: 1 << 20}, journal: b, serveUp: true, served: servedUp, answerer: schema.FromAgent, ctx: t.Context()}
		lane := x.lane(schema.ChanStream)
		i := &items{body: io.NopCloser(&slow{text, max(1, split%50)}), x: x, lane: lane, in: make([]byte, chunk)}
		i.serve = func(data []byte) []byte { down, _ := x.bodyDown(data, false); return down }
		got, err := io.ReadAll(i)
		require.NoError(t, err)
		var original, copied []byte
		for _, e := range b.entries {
			if e.Served {
				copied = append(copied, e.data...)
			} else {
				original = append(original, e.data...)
			}
		}
		require.Equal(t, string(text), string(original))
		require.Equal(t, string(got), string(copied))
		before, _ := a2a.AppendEvents(nil, text)
		after, _ := a2a.AppendEvents(nil, got)
		if !assert.Equal(t, len(before), len(after)) {
			return
		}
		for n := range before {
			require.Equal(t, string(before[n].ID), string(after[n].ID))
			want, _ := x.bodyDown(before[n].Data, false)
			require.Equal(t, string(want), string(after[n].Data))
		}
	})
}

// slow gives n bytes at once.
type slow struct {
	b []byte
	n int
}

func (s *slow) Read(b []byte) (int, error) {
	if len(s.b) == 0 {
		return 0, io.EOF
	}
	n := copy(b, s.b[:min(s.n, len(s.b))])
	s.b = s.b[n:]
	return n, nil
}
