package proxy

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

const soon = 10 * time.Second // for what should happen at once

// ways are the protocols on both sides.
var ways = []struct {
	name           string
	h2Client, h2Up bool
}{{name: "http1"}, {name: "h2 client", h2Client: true}, {name: "h2 peer", h2Up: true}, {name: "h2", h2Client: true, h2Up: true}}

func peerURL(url string, h2 bool) string {
	if h2 {
		return "h2c" + strings.TrimPrefix(url, "http")
	}
	return url
}

func stream(w http.ResponseWriter) func(string) error {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	c := http.NewResponseController(w)
	return func(s string) error {
		if _, err := io.WriteString(w, s); err != nil {
			return err
		}
		return c.Flush()
	}
}

func TestAnItemArrivesBeforeTheNextIsSent(t *testing.T) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			next := make(chan string)
			peer := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
				send := stream(w)
				_ = send("")
				for s := range next {
					_ = send(s)
				}
			})
			b := newBook(t)
			p := start(t, b, peerURL(peer.URL, way.h2Up))
			res, err := client(t, way.h2Client).Do(newRequest(t, "POST", p.url, "{}", "Accept", "text/event-stream", "Authorization", "Bearer "+headerSecret))
			require.NoError(t, err, "the header comes before any item")
			r := bufio.NewReader(res.Body)
			all := ""
			for i := range 20 {
				item := fmt.Sprintf("data: {\"n\":%d}\n\n", i)
				next <- item
				got := make([]byte, len(item))
				_, err := io.ReadFull(r, got)
				require.NoError(t, err)
				require.Equal(t, item, string(got))
				all += item
				require.Equal(t, all, b.exchanges()[0].answer.body, "recorded before it was passed on")
			}
			close(next)
			rest, err := io.ReadAll(r)
			require.NoError(t, err)
			require.Empty(t, rest)
			x := b.only(t)
			require.Equal(t, schema.ChanStream, x.answer.chan_)
			require.Equal(t, "text/event-stream", x.answer.ev.ContentType)
			require.Len(t, x.answer.parts, 20, "each as it came")
			require.Empty(t, x.closed.Error)
		})
	}
}

func TestAClientThatGoesAwayEndsTheRequestToThePeer(t *testing.T) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			gone := make(chan struct{})
			peer := upstream(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				_ = stream(w)("data: 1\n\n")
				<-r.Context().Done()
				close(gone)
			})
			b := newBook(t)
			p := start(t, b, peerURL(peer.URL, way.h2Up))
			ctx, leave := context.WithCancel(t.Context())
			res, err := client(t, way.h2Client).Do(newRequest(t, "POST", p.url, "{}").WithContext(ctx))
			require.NoError(t, err)
			_, err = io.ReadFull(res.Body, make([]byte, len("data: 1\n\n")))
			require.NoError(t, err)
			leave()
			select {
			case <-gone:
			case <-time.After(soon):
				require.Fail(t, "the peer is not told")
			}
			x := b.only(t)
			require.Equal(t, "client went away", x.closed.Error)
			require.Equal(t, "data: 1\n\n", x.answer.body)
		})
	}
}

func TestAClientThatGoesAwayBeforeTheAnswer(t *testing.T) {
	asked, gone := make(chan struct{}), make(chan struct{})
	peer := upstream(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(asked)
		<-r.Context().Done()
		close(gone)
	})
	b := newBook(t)
	p := start(t, b, peer.URL)
	ctx, leave := context.WithCancel(t.Context())
	go func() { <-asked; leave() }()
	_, err := client(t, false).Do(newRequest(t, "POST", p.url, "{}").WithContext(ctx))
	require.ErrorIs(t, err, context.Canceled)
	<-gone
	x := b.only(t)
	require.Equal(t, "client went away", x.closed.Error)
	require.Equal(t, "{}", x.ask.body)
}

func TestAPeerThatDiesInTheMiddleOfAnItem(t *testing.T) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			peer := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
				_ = stream(w)("data: {\"half\":")
				panic(http.ErrAbortHandler)
			})
			b := newBook(t)
			p := start(t, b, peerURL(peer.URL, way.h2Up))
			res, err := client(t, way.h2Client).Do(newRequest(t, "POST", p.url, "{}"))
			require.NoError(t, err)
			got, err := io.ReadAll(res.Body)
			require.Error(t, err, "the client sees that the answer is not whole")
			require.Equal(t, "data: {\"half\":", string(got))
			x := b.only(t)
			require.Contains(t, x.closed.Error, "upstream: ")
			require.Equal(t, "data: {\"half\":", x.answer.body)
		})
	}
}

func TestAPeerThatSendsLessThanItSays(t *testing.T) {
	peer := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "10")
		_, _ = io.WriteString(w, "12345")
	})
	b := newBook(t)
	p := start(t, b, peer.URL)
	res, err := client(t, false).Do(newRequest(t, "GET", p.url, ""))
	require.NoError(t, err)
	got, err := io.ReadAll(res.Body)
	require.Error(t, err)
	require.Equal(t, "12345", string(got))
	require.Equal(t, "upstream: unexpected EOF", b.only(t).closed.Error)
}

func TestAnItemOfTenMegabytes(t *testing.T) {
	item := "data: \"" + strings.Repeat("0123456789", 1<<20) + "\"\n\n"
	for _, n := range []int{0, 3} {
		way := ways[n]
		t.Run(way.name, func(t *testing.T) {
			peer := upstream(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				_ = stream(w)(item)
			})
			b := newBook(t)
			p := start(t, b, peerURL(peer.URL, way.h2Up))
			_, got := ask(t, client(t, way.h2Client), newRequest(t, "POST", p.url, "{}"))
			require.True(t, item == got)
			x := b.only(t)
			require.True(t, item == x.answer.body)
			require.Greater(t, len(x.answer.parts), 100, "it is not held until it is whole")
		})
	}
}

// TestSplitsAtEveryByte sends an answer in two chunks, cut at each byte, and byte by byte.
func TestSplitsAtEveryByte(t *testing.T) {
	text := "data: {\"text\":\"für 😀\"}\r\n\r\n: ping\n\ndata: 2\n\n"
	peer := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		send := stream(w)
		var at int
		if _, err := fmt.Sscanf(r.URL.Path, "/%d", &at); err == nil {
			_ = send(text[:at])
			_ = send(text[at:])
			return
		}
		for i := range len(text) {
			_ = send(text[i : i+1])
		}
	})
	b := newBook(t)
	p := start(t, b, peer.URL)
	c := client(t, false)
	for i := range len(text) + 1 {
		path := fmt.Sprintf("/%d", i)
		if i == len(text) {
			path = "/bytes"
		}
		_, got := ask(t, c, newRequest(t, "GET", p.url+path, ""))
		require.Equal(t, text, got)
	}
	for _, x := range b.closed(t, len(text)+1) {
		require.Equal(t, text, x.answer.body)
	}
}

// TestARequestSplitAtEveryByte sends the bytes of an HTTP/1.1 request one by one.
func TestARequestSplitAtEveryByte(t *testing.T) {
	got := make(chan string, 1)
	peer := upstream(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- fmt.Sprint(string(body), r.ContentLength)
	})
	b := newBook(t)
	p := start(t, b, peer.URL)
	c, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	for _, one := range []byte("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n") {
		_, err := c.Write([]byte{one})
		require.NoError(t, err)
	}
	answer, err := io.ReadAll(c)
	require.NoError(t, err)
	require.Contains(t, string(answer), "200 OK")
	require.Equal(t, "abcde5", <-got)
	require.Equal(t, "abcde", b.only(t).ask.body)
}

func TestTwoHundredStreamsAtOnceStayComplete(t *testing.T) {
	const streams, count = 200, 20
	for _, way := range []int{0, 3} {
		t.Run(ways[way].name, func(t *testing.T) {
			together := newBarrier(streams)
			peer := upstream(t, func(w http.ResponseWriter, r *http.Request) {
				name, _ := io.ReadAll(r.Body)
				send := stream(w)
				_ = send("")
				together.wait()
				for i := range count {
					_ = send(fmt.Sprintf("data: %s/%d\n\n", name, i))
				}
			})
			b := newBook(t)
			p := start(t, b, peerURL(peer.URL, ways[way].h2Up))
			c := client(t, ways[way].h2Client)
			want := func(name string) string {
				var all strings.Builder
				for i := range count {
					fmt.Fprintf(&all, "data: %s/%d\n\n", name, i)
				}
				return all.String()
			}
			var wg sync.WaitGroup
			for s := range streams {
				wg.Go(func() {
					name := fmt.Sprintf("stream %d", s)
					res, err := c.Do(newRequest(t, "POST", p.url, name))
					if !assert.NoError(t, err) {
						return
					}
					got, err := io.ReadAll(res.Body)
					assert.NoError(t, err)
					assert.Equal(t, want(name), string(got))
					_ = res.Body.Close()
				})
			}
			wg.Wait()
			for _, x := range b.closed(t, streams) {
				require.Empty(t, x.closed.Error)
				require.Equal(t, want(x.ask.body), x.answer.body)
			}
		})
	}
}

// barrier lets n go on together.
type barrier struct {
	mu   sync.Mutex
	left int
	open chan struct{}
}

func newBarrier(n int) *barrier { return &barrier{left: n, open: make(chan struct{})} }

func (b *barrier) wait() {
	b.mu.Lock()
	if b.left--; b.left == 0 {
		close(b.open)
	}
	b.mu.Unlock()
	<-b.open
}

func TestAGzippedStreamPassesAsSentAndIsRecordedDecoded(t *testing.T) {
	for _, flush := range []bool{true, false} {
		t.Run(fmt.Sprint("flushed ", flush), func(t *testing.T) {
			next := make(chan string)
			peer := upstream(t, func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, "gzip", r.Header.Get("Accept-Encoding"))
				w.Header().Set("Content-Encoding", "gzip")
				send := stream(w)
				_ = send("")
				z := gzip.NewWriter(writer(send))
				for s := range next {
					_, _ = io.WriteString(z, s)
					if flush {
						_ = z.Flush()
					}
				}
				_ = z.Close()
			})
			b := newBook(t)
			p := start(t, b, peer.URL)
			res, err := client(t, false).Do(newRequest(t, "POST", p.url, "{}", "Accept-Encoding", "gzip, br"))
			require.NoError(t, err)
			require.Equal(t, "gzip", res.Header.Get("Content-Encoding"))
			var z *gzip.Reader
			all := ""
			for i := range 10 {
				item := fmt.Sprintf("data: {\"n\":%d}\n\n", i)
				next <- item
				all += item
				if !flush {
					continue
				}
				if z == nil {
					z, err = gzip.NewReader(res.Body)
					require.NoError(t, err)
				}
				got := make([]byte, len(item))
				_, err := io.ReadFull(z, got)
				require.NoError(t, err)
				require.Equal(t, item, string(got))
				require.Equal(t, all, b.exchanges()[0].answer.body, "recorded before it was passed on")
			}
			close(next)
			if z == nil {
				z, err = gzip.NewReader(res.Body)
				require.NoError(t, err)
				got, err := io.ReadAll(z)
				require.NoError(t, err)
				require.Equal(t, all, string(got))
			} else {
				_, err := io.Copy(io.Discard, z)
				require.NoError(t, err)
			}
			x := b.only(t)
			require.Equal(t, all, x.answer.body)
			require.Equal(t, "gzip", x.answer.ev.Headers["content-encoding"])
			require.Empty(t, x.closed.Error)
		})
	}
}

type writer func(string) error

func (w writer) Write(b []byte) (int, error) { return len(b), w(string(b)) }

func TestBrokenGzipIsRecordedAsSentFromThereOn(t *testing.T) {
	whole := squeeze(t, 6, `{"a":1}`)
	for name, c := range map[string]struct {
		sent         []byte
		record, says string
	}{
		"no gzip":    {[]byte("plain text"), "plain text", "upstream: read gzip: gzip stream is damaged"},
		"a tail":     {append(bytes.Clone(whole), "tail"...), `{"a":1}tail`, "upstream: read gzip: gzip stream is damaged"},
		"cut":        {whole[:len(whole)-3], `{"a":1}`, "upstream: read gzip: unexpected EOF"},
		"whole":      {whole, `{"a":1}`, ""},
		"no body":    {nil, "", ""},
		"two pieces": {append(bytes.Clone(whole), whole...), `{"a":1}{"a":1}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			peer := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write(c.sent)
			})
			b := newBook(t)
			p := start(t, b, peer.URL)
			_, got := ask(t, client(t, false), newRequest(t, "GET", p.url, ""))
			require.Equal(t, string(c.sent), got, "the client gets what was sent")
			x := b.only(t)
			require.Equal(t, c.record, x.answer.body)
			require.Equal(t, c.says, x.closed.Error)
		})
	}
}

func TestAnotherEncodingIsRecordedAsItIs(t *testing.T) {
	peer := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "br")
		_, _ = io.WriteString(w, "\x8b\x02\x80hello\x03")
	})
	b := newBook(t)
	p := start(t, b, peer.URL)
	_, got := ask(t, client(t, false), newRequest(t, "GET", p.url, ""))
	require.Equal(t, "\x8b\x02\x80hello\x03", got)
	x := b.only(t)
	require.Equal(t, got, x.answer.body)
	require.Equal(t, "br", x.answer.ev.Headers["content-encoding"])
}

func TestAClientThatBreaksOffInItsRequest(t *testing.T) {
	peer := upstream(t, func(http.ResponseWriter, *http.Request) { t.Error("it was forwarded") })
	b := newBook(t)
	p := start(t, b, peer.URL)
	c, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	require.NoError(t, err)
	_, err = io.WriteString(c, "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n"+
		`{"method":"tasks/pushNotificationConfig/set","params":{"pushNotificationConfig":{"url":"https://h","token":"gehe`)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	x := b.only(t)
	require.Equal(t, "client went away in the middle of its request: unexpected EOF", x.closed.Error)
	require.Equal(t, `{"method":"tasks/pushNotificationConfig/set","params":{"pushNotificationConfig":{"url":"https://h","token":"***"`, x.ask.body)
	require.False(t, x.answer.said)
}

func TestARequestAboveTheBound(t *testing.T) {
	peer := upstream(t, func(http.ResponseWriter, *http.Request) { t.Error("it was forwarded") })
	for _, announced := range []bool{true, false} {
		for _, h2 := range []bool{true, false} {
			b := newBook(t)
			p := start(t, b, peer.URL)
			p.max = 1000
			req := newRequest(t, "POST", p.url, strings.Repeat("x", 1001))
			if !announced {
				req.Body, req.ContentLength = io.NopCloser(strings.NewReader(strings.Repeat("x", 1001))), -1
			}
			res, body := ask(t, client(t, h2), req)
			require.Equal(t, http.StatusRequestEntityTooLarge, res.StatusCode)
			require.Contains(t, body, `"message":"steno proxy: takes requests of 1000 bytes at most"`)
			x := b.only(t)
			require.Empty(t, x.ask.body)
			require.Equal(t, "refused with 413: steno proxy takes requests of 1000 bytes at most", x.closed.Error)
		}
	}
}

func TestAGzippedRequestIsRecordedDecoded(t *testing.T) {
	var got []byte
	peer := upstream(t, func(_ http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "gzip", r.Header.Get("Content-Encoding"))
		got, _ = io.ReadAll(r.Body)
	})
	b := newBook(t)
	p := start(t, b, peer.URL)
	body := squeeze(t, 6, `{"method":"x","params":{"token":"geheim"}}`)
	ask(t, client(t, false), newRequest(t, "POST", p.url, string(body), "Content-Encoding", "gzip"))
	require.Equal(t, body, got)
	x := b.only(t)
	require.Equal(t, `{"method":"x","params":{"token":"***"}}`, x.ask.body)

	res, answer := ask(t, client(t, false), newRequest(t, "POST", p.url, string(body[:20]), "Content-Encoding", "gzip"))
	require.Equal(t, http.StatusBadRequest, res.StatusCode)
	require.Contains(t, answer, "unexpected EOF")
	res, _ = ask(t, client(t, false), newRequest(t, "POST", p.url, "x", "Content-Encoding", "br"))
	require.Equal(t, http.StatusUnsupportedMediaType, res.StatusCode)
	require.Equal(t, "gzip", res.Header.Get("Accept-Encoding"))
	b.closed(t, 3)
}

var errFull = errors.New("no room")

// TestAJournalThatFailsAtEachEntry: what could not be recorded was not passed on.
func TestAJournalThatFailsAtEachEntry(t *testing.T) {
	for at := range 7 {
		for _, gz := range []bool{false, true} {
			t.Run(fmt.Sprint(at, " gzip ", gz), func(t *testing.T) {
				forwarded := false
				var once sync.Once
				kept := make(chan struct{}) // of the answer's first part, or nothing more is
				peer := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
					forwarded = true
					if gz {
						w.Header().Set("Content-Encoding", "gzip")
					}
					send := stream(w)
					for i, part := range []string{"one", "two"} {
						if gz {
							part = string(squeeze(t, 6, part))
						}
						if i > 0 {
							<-kept // two reads
						}
						_ = send(part)
					}
				})
				b := newBook(t)
				b.before = func(_ context.Context, n int, e entry) error {
					if n == 3 || n == at {
						once.Do(func() { close(kept) })
					}
					if n == at && e.typ != schema.TypeClose {
						return errFull
					}
					return nil
				}
				p := start(t, b, peer.URL)
				status, got := 0, []byte(nil)
				res, err := client(t, false).Do(newRequest(t, "POST", p.url, "ask"))
				if err == nil { // or the header was cut off, too
					status = res.StatusCode
					got, err = io.ReadAll(res.Body)
				}
				x := b.only(t)
				switch {
				case at < 3: // evidence and body of the request, evidence of the answer
					require.NoError(t, err)
					require.Equal(t, http.StatusServiceUnavailable, status)
					require.Contains(t, string(got), "nothing was passed on, because it could not be recorded: ")
					require.Contains(t, string(got), "no room")
					require.Equal(t, at == 2, forwarded)
					require.Contains(t, x.closed.Error, "no room")
				case at < 5:
					require.Error(t, err, "the answer breaks off")
					require.Equal(t, []string{"", "one"}[at-3], x.answer.body)
					require.Contains(t, x.closed.Error, "of stream: no room")
					if !gz {
						require.Equal(t, x.answer.body, string(got))
					}
				default:
					require.NoError(t, err)
					require.Empty(t, x.closed.Error)
				}
				require.NotNil(t, x.closed, "the end is written all the same")
				require.Equal(t, b.begun, b.ended)
			})
		}
	}
}

// TestAJournalThatFailsWhereAnswersAreRewritten: of a rewritten answer, too, nobody sees what is not
// recorded.
func TestAJournalThatFailsWhereAnswersAreRewritten(t *testing.T) {
	const item = "data: {\"result\":{\"statusUpdate\":{\"taskId\":\"t\",\"contextId\":\"c\",\"status\":{\"state\":\"TASK_STATE_WORKING\"}}}}\n\n"
	peer := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte("Streaming")) {
			send := stream(w)
			_ = send(item)
			_ = send(item)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"result":{"task":{"id":"t"}},"supportedInterfaces":[{"url":"`+"http://"+r.Host+`"}]}`)
	})
	for name, c := range map[string]struct {
		verb, path, body string
		entries          int // before the close entry
	}{
		"stream": {"POST", "/", `{"method":"message/stream"}`, 8},
		"JSON":   {"POST", "/", `{"method":"message/send"}`, 8},
		"card":   {"GET", "/.well-known/agent.json", "", 6},
		"push":   {"POST", "/", `{"method":"GetTaskPushNotificationConfig"}`, 4},
	} {
		for at := range c.entries {
			t.Run(fmt.Sprint(name, at), func(t *testing.T) {
				b := newBook(t)
				b.before = func(_ context.Context, n int, e entry) error {
					if n == at && e.typ != schema.TypeClose {
						return errFull
					}
					return nil
				}
				p := start(t, b, peer.URL, serveV03)
				got := ""
				res, err := client(t, false).Do(newRequest(t, c.verb, p.url+c.path, c.body))
				if err == nil {
					var body []byte
					body, err = io.ReadAll(res.Body)
					if got = string(body); res.StatusCode == http.StatusServiceUnavailable {
						require.Contains(t, got, "could not be recorded")
						got, err = "", errFull
					}
				}
				require.Error(t, err)
				x := b.only(t)
				require.Contains(t, x.closed.Error, "no room")
				require.True(t, strings.HasPrefix(x.answerCopy.body, got), "%q holds %q", x.answerCopy.body, got)
			})
		}
	}
}

func TestWithoutAJournal(t *testing.T) {
	peer := upstream(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "answer") })
	b := newBook(t)
	var said []string
	p := start(t, b, peer.URL, func(o *Options) { o.Notice = func(s string) { said = append(said, s) } })
	b.beginErr = errFull
	for range 2 {
		res, body := ask(t, client(t, false), newRequest(t, "POST", p.url, "ask"))
		require.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
		require.Contains(t, body, "no room")
	}
	require.Equal(t, []string{"begin the record of an exchange: no room"}, said, "said once")
	b.beginErr, b.none = nil, true
	_, body := ask(t, client(t, false), newRequest(t, "POST", p.url, "ask"))
	require.Equal(t, "answer", body, "nothing is recorded and all passes on")
	require.Empty(t, b.exchanges())
}

func TestAFullJournalHoldsTheExchange(t *testing.T) {
	peer := upstream(t, func(w http.ResponseWriter, _ *http.Request) { _ = stream(w)("item") })
	b := newBook(t)
	room := make(chan struct{})
	b.before = func(ctx context.Context, _ int, e entry) error {
		if e.typ != schema.TypeData || e.from != schema.FromAgent {
			return nil
		}
		select {
		case <-room:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	p := start(t, b, peer.URL)
	res, err := client(t, false).Do(newRequest(t, "POST", p.url, "ask"))
	require.NoError(t, err)
	got := make(chan string, 1)
	go func() { s, _ := io.ReadAll(res.Body); got <- string(s) }()
	select {
	case s := <-got:
		require.Fail(t, "passed on before it was recorded", s)
	case <-time.After(50 * time.Millisecond):
	}
	close(room)
	require.Equal(t, "item", <-got)
	require.Empty(t, b.only(t).closed.Error)

	room = make(chan struct{}) // nobody makes room any more, and the client goes away
	ctx, leave := context.WithCancel(t.Context())
	_, err = client(t, false).Do(newRequest(t, "POST", p.url, "ask").WithContext(ctx))
	require.NoError(t, err)
	leave()
	x := b.closed(t, 2)[1]
	require.Contains(t, x.closed.Error, "record 4 bytes of stream: ")
}
