package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/api"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

var update = flag.Bool("update", false, "write testdata/stream.golden")

func parkedIs(ids ...schema.Identity) func(context.Context) ([]schema.Identity, error) {
	return func(context.Context) ([]schema.Identity, error) { return ids, nil }
}

// withoutLag leaves out what depends on how fast the stages are.
func withoutLag(text string) string {
	var kept []string
	for block := range strings.SplitSeq(text, "\n\n") {
		if !strings.HasPrefix(block, "event: lag\n") && block != ":" {
			kept = append(kept, block)
		}
	}
	return strings.Join(kept, "\n\n")
}

// A transcript that grows, as its bytes come: history, what is open, pieces, the end, and what comes
// behind it.
func TestAStreamAsItsBytesCome(t *testing.T) {
	p := newPipeline(t)
	tp, key := p.begin("oats", "run")
	tp.chunk(t, "Once ")
	s := p.serve(api.Options{})
	p.folded(tp)
	f := s.follow(path(key)+"/stream", "")
	f.until("snapshot")
	tp.chunk(t, "upon\na ")
	f.until("delta")
	tp.chunk(t, "time ↵")
	f.until("delta")
	tp.agent(t, `{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}`)
	tp.frame(t, schema.FromControl, schema.TypeClose, `{"reason":"eof"}`)
	f.until("end")
	late := f.text.Len()
	tp.note(t, 1) // reopens
	f.until("event")
	require.Contains(t, f.text.String()[late:], `"flags":["late"]`)
	tp.frame(t, schema.FromControl, schema.TypeClose, `{"reason":"operator"}`)
	f.until("end")
	got := withoutLag(f.text.String())
	if *update {
		require.NoError(t, os.WriteFile("testdata/stream.golden", []byte(got), 0o600))
	}
	want, err := os.ReadFile("testdata/stream.golden")
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// What ended answers like what runs: history, and the end. A cursor leaves out what stands before it.
func TestAFinishedTranscriptIsStreamedFromEveryCursor(t *testing.T) {
	p := newPipeline(t)
	key := p.finished("oats", "run")
	s := p.serve(api.Options{})
	events := p.bytesOf(key)
	for after := range len(events) {
		want := events[after:]
		for how, f := range map[string]*stream{
			"after":      s.follow(fmt.Sprintf("%s/stream?until=end&after=%d", path(key), after), ""),
			"last":       s.follow(fmt.Sprintf("%s/stream?until=end&last=%d", path(key), len(want)), ""),
			"the header": s.follow(path(key)+"/stream?until=end&after=1", strconv.Itoa(after)), // goes before
		} {
			var got []string
			ends := 0
			for m, ok := f.next(); ok; m, ok = f.next() {
				switch m.event {
				case "event":
					require.EqualValues(t, after+len(got)+1, m.id)
					fits(t, "/components/schemas/EventPage/properties/events/items", m.data)
					got = append(got, m.data)
				case "end":
					require.Equal(t, fmt.Sprintf(`{"status":"ended","head":%d}`, len(events)), m.data)
					fits(t, "/components/schemas/End", m.data)
					ends++
				default:
					require.Zero(t, m.id, m.event)
				}
			}
			require.NoError(t, f.lines.Err())
			require.Equal(t, want, got, how)
			require.Equal(t, 1, ends)
		}
	}
	// A browser that comes again behind the end is told to stay away; without until=end it waits there.
	for _, after := range []int{len(events), len(events) + 1} {
		response, err := open(t.Context(), s.url+path(key)+"/stream?until=end", strconv.Itoa(after))
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusNoContent, response.StatusCode)
	}
	again := s.follow(path(key)+"/stream", strconv.Itoa(len(events)))
	require.Equal(t, "end", again.until("end")[0].event)
	for _, id := range []string{"x", "-1", "1 "} {
		response, err := open(t.Context(), s.url+path(key)+"/stream", id)
		require.NoError(t, err)
		if id == "1 " { // a header has no space at its end
			require.Equal(t, http.StatusOK, response.StatusCode)
		} else {
			require.Equal(t, http.StatusBadRequest, response.StatusCode)
		}
		require.NoError(t, response.Body.Close())
	}
}

func TestACursorBeyondTheHeadWaits(t *testing.T) {
	p := newPipeline(t)
	tp, key := p.begin("oats", "run")
	head := p.stored(key, func(sink.Summary) bool { return true }).Head
	s := p.serve(api.Options{})
	f := s.follow(path(key)+"/stream", strconv.FormatUint(head+2, 10))
	for n := range 4 {
		tp.note(t, n)
	}
	all := f.until("event")
	require.Equal(t, head+3, all[len(all)-1].id)
}

func TestAStreamThatSaysNothingBeats(t *testing.T) {
	p := newPipeline(t)
	_, key := p.begin("oats", "run")
	s := p.serve(api.Options{Heartbeat: 10 * time.Millisecond})
	f := s.follow(path(key)+"/stream", "")
	lines := bufio.NewReader(f.body)
	for beats := 0; beats < 5; {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		if line == ":\n" {
			beats++
		}
	}
}

// Cut off at random 200 times, and come again each time: no event is missing and none comes twice.
func TestCutOffAtRandom(t *testing.T) {
	const cuts = 200
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	p := newPipeline(t)
	tp, key := p.begin("oats", "run")
	s := p.serve(api.Options{})
	go_, wrote := make(chan int, cuts), make(chan struct{})
	go func() {
		defer close(wrote)
		n := 0
		for more := range go_ {
			for range more {
				if n++; n%3 == 0 {
					tp.note(t, n)
				} else {
					tp.chunk(t, fmt.Sprintf("word %d ", n))
				}
			}
		}
		tp.end(t)
	}()

	c := &cutReader{}
	for range cuts {
		go_ <- random.IntN(5)
		require.NoError(t, c.come(s.url+path(key)+"/stream", random.IntN(4000), time.Duration(random.IntN(8000))*time.Microsecond))
	}
	require.Positive(t, c.broken, "no event was cut in two")
	close(go_)
	<-wrote
	p.stored(key, ended)
	for !c.over {
		require.NoError(t, c.come(s.url+path(key)+"/stream", 1<<30, within))
	}
	require.Equal(t, p.bytesOf(key), c.events)
	t.Logf("%d connections, %d events, %d cut in two", cuts, len(c.events), c.broken)
}

// cutReader takes part of a stream, again and again.
type cutReader struct {
	events []string
	over   bool
	broken int // events of which only a part came
}

// come opens the stream behind the last event and goes away after so many bytes, or so long.
func (c *cutReader) come(url string, size int, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	id := ""
	if len(c.events) > 0 {
		id = strconv.Itoa(len(c.events))
	}
	response, err := open(ctx, url, id)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // it was cut off
	defer time.AfterFunc(wait, cancel).Stop()
	lines := bufio.NewReader(io.LimitReader(response.Body, int64(size)))
	var m message
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			if m.id > 0 || strings.HasPrefix(line, "id") {
				c.broken++
			}
			return nil //nolint:nilerr // the cut
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "id":
			if m.id, err = strconv.ParseUint(value, 10, 64); err != nil {
				return err
			}
		case "event":
			m.event = value
		case "data":
			m.data = value
		case "":
			if m.event == "event" {
				if want := uint64(len(c.events)) + 1; m.id != want {
					return fmt.Errorf("want event %d, got %d", want, m.id)
				}
				c.events = append(c.events, m.data)
			}
			if m.event == "end" {
				c.over = true
				return nil
			}
			m = message{}
		}
	}
}

// shown is the text that a client has on its screen.
type shown struct {
	text  []byte
	next  uint64
	lags  map[string]int
	snaps int
}

func newShown() *shown { return &shown{lags: map[string]int{}} }

func (v *shown) takes(t *testing.T, all []message) {
	t.Helper()
	for _, m := range all {
		v.take(t, m)
	}
}

func (v *shown) take(t *testing.T, m message) {
	t.Helper()
	switch m.event {
	case "delta":
		e, err := schema.DecodeEvent([]byte(m.data))
		require.NoError(t, err)
		d := e.Kind.(*schema.Delta)
		require.Equal(t, v.next, d.Index)
		v.text, v.next = append(v.text, d.TextFragment...), v.next+1
	case "snapshot":
		fits(t, "/components/schemas/Snapshot", m.data)
		var snapshot struct {
			Messages []struct {
				Text string
				Next uint64
			}
		}
		require.NoError(t, json.Unmarshal([]byte(m.data), &snapshot))
		for _, open := range snapshot.Messages {
			require.True(t, strings.HasPrefix(open.Text, string(v.text)), "less than was shown")
			v.text, v.next = []byte(open.Text), open.Next
		}
		v.snaps++
	case "lag":
		fits(t, "/components/schemas/Lag", m.data)
		var lag struct{ Reason string }
		require.NoError(t, json.Unmarshal([]byte(m.data), &lag))
		v.lags[lag.Reason]++
	}
}

// A client that takes nothing for a while is told so, and sees all of the text; another one beside it
// misses nothing.
func TestASlowClientGetsLagAndThenASnapshot(t *testing.T) {
	p := newPipeline(t)
	tp, key := p.begin("oats", "run")
	tp.chunk(t, "0 ")
	s := p.serve(api.Options{})

	slow, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(t, err)
	defer slow.Close() //nolint:errcheck // the test is over
	require.NoError(t, slow.SetDeadline(time.Now().Add(within)))
	_, err = fmt.Fprintf(slow, "GET %s/stream HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path(key))
	require.NoError(t, err)
	response, err := http.ReadResponse(bufio.NewReaderSize(slow, 4096), nil)
	require.NoError(t, err)
	late := &stream{t: t, lines: bufio.NewScanner(response.Body)}
	late.lines.Buffer(nil, 64<<20)
	v := newShown()
	v.takes(t, late.until("snapshot"))

	beside := s.follow(path(key)+"/stream", "")
	quick := newShown()
	for string(quick.text) != "0 " { // by a piece, or by the snapshot
		m, ok := beside.next()
		require.True(t, ok)
		quick.take(t, m)
	}
	text := []byte("0 ")
	for n := range 170 {
		piece := strconv.Itoa(n+1) + strings.Repeat(" word", 12_000)
		text = append(text, piece...)
		tp.chunk(t, piece)
		quick.takes(t, beside.until("delta"))
	}
	require.Equal(t, text, quick.text)
	require.Zero(t, quick.lags["slow"]+quick.lags["missed"], "it was held up")
	require.Equal(t, 1, quick.snaps)

	for len(v.text) < len(text) {
		m, ok := late.next()
		require.True(t, ok, late.lines.Err())
		v.take(t, m)
		if m.event == "lag" {
			t.Logf("%s with %d of %d bytes shown", m.data, len(v.text), len(text))
		}
	}
	require.Equal(t, text, v.text)
	require.Positive(t, v.lags["slow"])
	require.Greater(t, v.snaps, 1)

	tp.end(t)
	all := late.until("end")
	require.Contains(t, all[0].data, `"kind":"Message"`)
	beside.until("end")
}

// A client that takes nothing for too long is cut off.
func TestAClientThatTakesNothingIsCutOff(t *testing.T) {
	p := newPipeline(t)
	tp, key := p.begin("oats", "run")
	s := p.serve(api.Options{Stall: 50 * time.Millisecond})
	before := p.conn.NumSubscriptions()
	stuck, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(t, err)
	defer stuck.Close() //nolint:errcheck // the test is over
	require.NoError(t, stuck.(*net.TCPConn).SetReadBuffer(4096))
	_, err = fmt.Fprintf(stuck, "GET %s/stream HTTP/1.1\r\nHost: localhost\r\n\r\n", path(key))
	require.NoError(t, err)
	eventually(t, func() bool { return p.conn.NumSubscriptions() > before }, "it does not follow")
	for n := 0; p.conn.NumSubscriptions() > before; n++ {
		require.Less(t, n, 2000, "it is never cut off")
		tp.chunk(t, strings.Repeat("x", 100_000))
	}
}

// Clients that go leave nothing behind.
func TestClientsThatGoLeaveNothing(t *testing.T) {
	p := newPipeline(t)
	_, key := p.begin("oats", "run")
	s := p.serve(api.Options{})
	s.get("/readyz") // whatever is made once
	http.DefaultClient.CloseIdleConnections()
	before, subscriptions := following(), p.conn.NumSubscriptions()
	var open []*stream
	for range 30 {
		f := s.follow(path(key)+"/stream", "")
		f.until("snapshot")
		open = append(open, f)
	}
	require.Greater(t, following(), before+len(open))
	require.Equal(t, subscriptions+3, p.conn.NumSubscriptions(), "streams of one transcript share")
	for _, f := range open {
		f.close()
	}
	eventually(t, func() bool { return p.conn.NumSubscriptions() == subscriptions }, "subscriptions are left")
	eventually(t, func() bool { return following() == before }, "goroutines are left")
}

// following counts the goroutines that stand in streams and followers, or were started there. Those of the
// server and the stages come and go.
func following() (n int) {
	stacks := make([]byte, 4<<20)
	for stack := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		if strings.Contains(stack, "api.(*Server).stream") || strings.Contains(stack, "console/follow.") {
			n++
		}
	}
	return n
}

// Told to stop, it is not ready, goes on for its grace, then ends its streams, stuck ones too.
func TestStoppingEndsStreams(t *testing.T) {
	p := newPipeline(t)
	tp, key := p.begin("oats", "run")
	s := p.serve(api.Options{Grace: 500 * time.Millisecond})
	require.Contains(t, s.get("/readyz").body, `"ready":true`)
	f := s.follow(path(key)+"/stream", "")
	f.until("snapshot")
	stuck, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(t, err)
	defer stuck.Close() //nolint:errcheck // the test is over
	require.NoError(t, stuck.(*net.TCPConn).SetReadBuffer(4096))
	_, err = fmt.Fprintf(stuck, "GET %s/stream HTTP/1.1\r\nHost: localhost\r\n\r\n", path(key))
	require.NoError(t, err)
	for range 40 {
		tp.chunk(t, strings.Repeat("x", 100_000))
	}
	stopped := make(chan struct{})
	began := time.Now()
	go func() { defer close(stopped); s.stop() }()
	eventually(t, func() bool { return strings.Contains(s.get("/readyz").body, `"server":"it stops"`) }, "it is ready all the same")
	require.Contains(t, s.get(path(key)).body, key.String(), "it still answers")
	for ok := true; ok; {
		_, ok = f.next()
	}
	require.NoError(t, f.lines.Err(), "the stream ends in good order")
	<-stopped
	require.Less(t, time.Since(began), 10*time.Second)
}

// A server whose listener fails ends what it answers before it says so.
func TestAServerThatFailsLeavesNothing(t *testing.T) {
	p := newPipeline(t)
	_, key := p.begin("oats", "run")
	server, err := api.New(p.options(api.Options{}))
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	before := p.conn.NumSubscriptions()
	served := make(chan error, 1)
	go func() { served <- server.Serve(context.Background(), l) }()
	f := (&site{pipeline: p, url: "http://" + l.Addr().String()}).follow(path(key)+"/stream", "")
	f.until("snapshot")
	require.NoError(t, l.Close())
	require.ErrorIs(t, <-served, net.ErrClosed)
	require.Equal(t, before, p.conn.NumSubscriptions(), "the stream goes on")
	for ok := true; ok; {
		_, ok = f.next()
	}
	require.NoError(t, f.lines.Err(), "it ends in good order")
}

// ill is a ledger that cannot be read.
type ill struct{ sink.Reader }

func (ill) Transcript(context.Context, schema.Transcript) (sink.Summary, error) {
	return sink.Summary{}, errors.New("secret.example: disk")
}

// A browser stays away for good after an answer that is not 200: it is told to come again instead.
func TestAnEventSourceIsToldToComeAgain(t *testing.T) {
	s := newPipeline(t).serve(api.Options{Ledger: ill{}})
	at := "/v1/transcripts/oats/w/run/0/1/1/stream"
	s.refuses(http.StatusServiceUnavailable, "unavailable", at)
	for name, value := range map[string]string{"Accept": "text/event-stream", "Last-Event-ID": "3"} {
		ask := func(query string) answer {
			t.Helper()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+at+query, nil)
			require.NoError(t, err)
			r.Header.Set(name, value)
			response, err := http.DefaultClient.Do(r)
			require.NoError(t, err)
			body, err := io.ReadAll(response.Body)
			require.NoError(t, err, "it ends in good order")
			require.NoError(t, response.Body.Close())
			a := answer{response, string(body)}
			described(t, a)
			return a
		}
		a := ask("")
		require.Equal(t, http.StatusOK, a.StatusCode, name)
		require.Equal(t, "text/event-stream", a.Header.Get("Content-Type"))
		require.Equal(t, "retry: 2000\n\n", a.body)
		require.Equal(t, http.StatusBadRequest, ask("?colour=red").StatusCode, "coming again does not mend it")
	}
}

func (ill) Transcripts(context.Context, sink.Query) (sink.Page, error) {
	return sink.Page{}, errors.New("secret.example: disk")
}

func TestReadinessNamesWhatFails(t *testing.T) {
	p := newPipeline(t)
	s := p.serve(api.Options{Ledger: ill{p.ledger}})
	a := s.get("/readyz")
	require.Equal(t, http.StatusServiceUnavailable, a.StatusCode)
	require.JSONEq(t, `{"ready":false,"checks":{"server":"ok","nats":"ok","streams":"ok","ledger":"it cannot be read"}}`, a.body)
	require.NotContains(t, s.refuses(http.StatusServiceUnavailable, "unavailable", "/v1/transcripts"), "secret")

	s = p.serve(api.Options{})
	p.Stop()
	eventually(t, func() bool { return s.get("/readyz").StatusCode == http.StatusServiceUnavailable }, "it is ready without NATS")
	require.JSONEq(t, `{"ready":false,"checks":{"server":"ok","nats":"not connected","streams":"not asked: NATS is not connected","ledger":"ok"}}`, s.get("/readyz").body)
	require.Equal(t, "{\"live\":true}\n", s.get("/livez").body)
	p.Restart(t)
	eventually(t, func() bool { return s.get("/readyz").StatusCode == http.StatusOK }, "it does not come back")
}
