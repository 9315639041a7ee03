package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httputil"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/api"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

type listing struct {
	Transcripts []json.RawMessage
	Next        string
}

func (s *site) list(query string) (l listing) {
	s.t.Helper()
	a := s.get("/v1/transcripts" + query)
	require.Equal(s.t, http.StatusOK, a.StatusCode, a.body)
	require.NoError(s.t, json.Unmarshal([]byte(a.body), &l))
	require.NotNil(s.t, l.Transcripts)
	return l
}

func (l listing) keys(t *testing.T) (keys []string) {
	t.Helper()
	for _, row := range l.Transcripts {
		var s sink.Summary
		require.NoError(t, json.Unmarshal(row, &s))
		keys = append(keys, s.Key)
	}
	return keys
}

func TestTheListComesInPages(t *testing.T) {
	p := newPipeline(t)
	for i := range 3 {
		p.finished([]string{"oats", "rye", "oats"}[i], fmt.Sprint("run-", i))
	}
	var rows []string
	var keys []string
	for line, err := range sink.All(t.Context(), p.ledger) {
		require.NoError(t, err)
		var row bytes.Buffer
		e := json.NewEncoder(&row)
		e.SetEscapeHTML(false)
		require.NoError(t, e.Encode(line)) // as ls --json prints it
		rows, keys = append(rows, row.String()), append(keys, line.Key)
	}
	require.Len(t, rows, 6, "each with its connection")

	s := p.serve(api.Options{})
	for _, limit := range []int{1, 4, 6, 7} {
		var got []string
		next := ""
		for pages := 0; pages == 0 || next != ""; pages++ {
			require.Less(t, pages, 8)
			l := s.list(fmt.Sprintf("?limit=%d&after=%s", limit, next))
			require.LessOrEqual(t, len(l.Transcripts), limit)
			for _, row := range l.Transcripts {
				got = append(got, string(row)+"\n")
			}
			next = l.Next
		}
		require.Equal(t, rows, got, limit)
	}
	require.Equal(t, keys, s.list("").keys(t))
	require.Equal(t, rows[0], s.get("/v1/transcripts/"+keys[0]).body)

	// A console of some namespaces lists what is in them, in pages that are as full.
	var oats []string
	for _, key := range keys {
		if strings.HasPrefix(key, "oats/") {
			oats = append(oats, key)
		}
	}
	several := p.serve(api.Options{Namespaces: []string{"oats", "barley"}})
	require.Equal(t, oats, several.list("").keys(t))
	first := several.list("?limit=3")
	require.Equal(t, oats[:3], first.keys(t))
	require.Equal(t, oats[3:], several.list("?limit=3&after="+first.Next).keys(t))
	require.Empty(t, several.list("?namespace=rye").keys(t))
	require.Empty(t, several.list("?namespace=none").keys(t))
}

func TestWhatTranslatorsParkedIsListedAsParked(t *testing.T) {
	p := newPipeline(t)
	key, other := p.finished("oats", "bad"), p.finished("oats", "good")
	s := p.serve(api.Options{Parked: parkedIs(key.Identity)})
	require.Equal(t, []string{path(other)[16:]}, s.list("?status=ended&label=run=good&limit=1").keys(t)[:1])
	require.NotContains(t, strings.Join(s.list("?status=ended").keys(t), " "), key.Run)
	require.Contains(t, s.list("?status=parked").keys(t), key.String())
	require.NotContains(t, strings.Join(s.list("?status=parked").keys(t), " "), other.Run)
	require.Contains(t, s.get(path(key)).body, `"status":"parked"`)

	// And found as parked.
	hits := func(query string) (runs []string) {
		t.Helper()
		a := s.get("/v1/search?q=upon" + query)
		require.Equal(t, http.StatusOK, a.StatusCode, a.body)
		var page sink.HitPage
		require.NoError(t, json.Unmarshal([]byte(a.body), &page))
		for _, h := range page.Hits {
			runs = append(runs, h.Summary.Labels["run"]+" "+string(h.Summary.Status))
		}
		return runs
	}
	eventually(t, func() bool { return len(hits("")) == 2 }, "not both are found")
	require.ElementsMatch(t, []string{"bad parked", "good ended"}, hits(""))
	require.Equal(t, []string{"bad parked"}, hits("&status=parked&limit=1"))
	require.Equal(t, []string{"good ended"}, hits("&status=ended&limit=1"))
	require.Empty(t, hits("&status=open"))
}

// asked remembers what the ledger was asked for, and gives what it has all the same.
type asked struct {
	sink.Reader
	list chan sink.Query
}

func (a asked) Transcripts(ctx context.Context, q sink.Query) (sink.Page, error) {
	a.list <- q
	return a.Reader.Transcripts(ctx, q)
}

// However many rows others have, none of them is read: a page is whole, and has no cursor of theirs.
func TestPagesOfSomeNamespacesReadNoOthers(t *testing.T) {
	p := newPipeline(t)
	key := p.finished("oats", "run")
	p.finished("rye", "run")
	l := asked{p.ledger, make(chan sink.Query, 1)}
	s := p.serve(api.Options{Ledger: l, Namespaces: []string{"oats", "barley"}})
	page := s.list("?limit=2")
	require.Equal(t, key.String(), page.keys(t)[0])
	require.Len(t, page.Transcripts, 2)
	require.Empty(t, page.Next, "rye is behind it")
	q := <-l.list
	require.Equal(t, []string{"oats", "barley"}, q.Namespaces)
	require.Equal(t, 2, q.Limit)
	require.Empty(t, l.list, "it reads once")
}

// While NATS does not answer, lists are those of the ledger, with what was parked last.
func TestListsOutliveNATS(t *testing.T) {
	p := newPipeline(t)
	key := p.finished("oats", "run")
	s, fresh := p.serve(api.Options{Parked: parkedIs(key.Identity)}), p.serve(api.Options{Parked: parkedIs(key.Identity)})
	require.Contains(t, s.list("?status=parked").keys(t), key.String())
	p.Stop()
	eventually(t, func() bool { return !p.conn.IsConnected() }, "it is connected")
	require.Contains(t, s.list("?status=parked").keys(t), key.String())
	require.Contains(t, s.get(path(key)).body, `"status":"parked"`)
	fresh.refuses(http.StatusServiceUnavailable, "unavailable", "/v1/transcripts") // nothing is known yet
	p.Restart(t)
	eventually(t, func() bool { return fresh.get("/v1/transcripts").StatusCode == http.StatusOK }, "it does not come back")
}

type page struct {
	Events    []json.RawMessage
	Frames    []json.RawMessage
	NextAfter uint64 `json:"next_after"`
	HeadSeq   uint64 `json:"head_seq"`
}

func (s *site) page(path string) (p page) {
	s.t.Helper()
	a := s.get(path)
	require.Equal(s.t, http.StatusOK, a.StatusCode, a.body)
	require.NoError(s.t, json.Unmarshal([]byte(a.body), &p))
	return p
}

func TestEventsAndFramesComeInPages(t *testing.T) {
	p := newPipeline(t)
	key := p.finished("oats", "run")
	p.finished("oats", "beside") // its frames stand between in the stream, as far as the search for one goes
	s := p.serve(api.Options{})
	events := p.bytesOf(key)
	require.Greater(t, len(events), 3)
	const frames = 10
	for _, kind := range []struct {
		name string
		head uint64
		of   func(page) []json.RawMessage
	}{
		{"events", uint64(len(events)), func(p page) []json.RawMessage { return p.Events }},
		{"frames", frames, func(p page) []json.RawMessage { return p.Frames }},
	} {
		at := path(key) + "/" + kind.name
		whole := s.page(at)
		require.Equal(t, kind.head, whole.HeadSeq)
		require.Equal(t, kind.head, whole.NextAfter)
		all := kind.of(whole)
		require.Len(t, all, int(kind.head))
		for limit := 1; limit <= int(kind.head)+1; limit++ {
			var got []json.RawMessage
			for after := uint64(0); after < kind.head; {
				one := s.page(fmt.Sprintf("%s?after=%d&limit=%d", at, after, limit))
				require.LessOrEqual(t, len(kind.of(one)), limit)
				require.Greater(t, one.NextAfter, after)
				require.Equal(t, kind.head, one.HeadSeq)
				got, after = append(got, kind.of(one)...), one.NextAfter
			}
			require.Equal(t, all, got, limit)
		}
		require.Equal(t, all[kind.head-2:], kind.of(s.page(at+"?last=2")))
		require.Equal(t, all, kind.of(s.page(at+"?last=99999")))
		require.Equal(t, all[kind.head-2:kind.head-1], kind.of(s.page(at+"?last=2&limit=1")))
		for _, query := range []string{"?last=0", fmt.Sprint("?after=", kind.head)} {
			none := s.page(at + query)
			require.Empty(t, kind.of(none))
			require.Equal(t, kind.head, none.NextAfter)
		}
		beyond := s.page(at + "?after=9223372036854775807")
		require.Empty(t, kind.of(beyond))
		require.EqualValues(t, uint64(9223372036854775807), beyond.NextAfter, "a cursor beyond the head waits")
		require.Equal(t, kind.head, beyond.HeadSeq)
	}
	for i, e := range s.page(path(key) + "/events").Events {
		require.Equal(t, events[i], string(e), "the stored bytes")
	}
	first := s.page(path(key) + "/frames?limit=1").Frames[0]
	require.JSONEq(t, `{"seq":1,"at":"2023-11-14T22:13:20.000000001Z","from":"control","type":"open","protocol":"acp","end":"lf","text":"{\"protocol\":\"acp\",\"labels\":{\"run\":\"run\"}}"}`, string(first))
}

// A page ends before it is too large, however large one entry is.
func TestAPageOfLargeEntriesIsShort(t *testing.T) {
	p := newPipeline(t)
	tp, key := p.begin("oats", "run")
	for range 6 {
		tp.agent(t, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"`+strings.Repeat("x", 900_000)+`"}}}}`)
		tp.note(t, 1)
	}
	p.stored(key, func(s sink.Summary) bool { return s.Head >= 8 })
	s := p.serve(api.Options{})
	frames := s.page(path(key) + "/frames")
	require.Greater(t, len(frames.Frames), 6)
	require.Less(t, frames.NextAfter, frames.HeadSeq)
	rest := s.page(fmt.Sprintf("%s/frames?after=%d", path(key), frames.NextAfter))
	require.Equal(t, rest.HeadSeq, rest.NextAfter)
	require.Equal(t, frames.HeadSeq, uint64(len(frames.Frames)+len(rest.Frames)))
}

// bare is an answer without what differs from moment to moment.
func bare(t *testing.T, a answer) string {
	t.Helper()
	a.Header.Del("Date")
	head, err := httputil.DumpResponse(a.Response, false)
	require.NoError(t, err)
	return string(head) + a.body
}

// What is in a namespace that is not served, what is nowhere and what is no key: one answer.
func TestForeignAndUnknownAreOneAnswer(t *testing.T) {
	p := newPipeline(t)
	foreign, own := p.finished("rye", "run"), p.finished("oats", "run")
	s := p.serve(api.Options{Namespaces: []string{"oats"}})
	for _, suffix := range []string{"", "/events", "/frames", "/stream", "/events?after=0&limit=1", "/stream?until=end"} {
		a := s.get(path(own) + strings.ReplaceAll(suffix, "/stream", "/events")[:strings.IndexAny(suffix+"?", "?")])
		require.Equal(t, http.StatusOK, a.StatusCode, "%s: %s", suffix, a.body)
		unknown := own
		unknown.Run = "nowhere"
		want := s.get(path(unknown) + suffix)
		require.Equal(t, http.StatusNotFound, want.StatusCode)
		for _, key := range []string{
			foreign.String(), strings.Replace(foreign.String(), "/1/1", "/1/0", 1), "rye/w/nowhere/0/1/1", "none/w/run/0/1/1",
			"oats/w/run/0/1/2", "oats/w/run/0/01/1", "oats/w/run/-1/1/1", "oats/w/run/0/1/x", "oats/w/run/0/99999999999/1",
			"o%2Fats/w/run/0/1/1", "oats/%2E%2E/run/0/1/1", "oats/w/%00/0/1/1", "oats/w%20/run/0/1/1", "oats/%C5%81%C3%B3d%C5%BA/run/0/1/1",
			"oats/" + strings.Repeat("w", 65) + "/run/0/1/1", "*/%3E/run/0/1/1",
		} {
			got := s.get("/v1/transcripts/" + key + suffix)
			require.Equal(t, bare(t, want), bare(t, got), key+suffix)
			a := s.ask(http.MethodHead, "/v1/transcripts/"+key+suffix, "")
			require.Equal(t, http.StatusNotFound, a.StatusCode)
			require.Empty(t, a.body)
		}
	}
}

// What has too few parts, or too many, is no key either.
func TestAKeyHasSixParts(t *testing.T) {
	s := newPipeline(t).serve(api.Options{})
	want := bare(t, s.get("/v1/transcripts/oats/w/nowhere/0/1/1"))
	for _, key := range []string{"oats", "oats/w/nowhere/0/1", "oats/w/nowhere/0/1/1/", "oats/w/nowhere/0/1/1/1", "oats/w/nowhere/0/1/1/event"} {
		require.Equal(t, want, bare(t, s.get("/v1/transcripts/"+key)), key)
	}
}

func TestWhatCannotBeAskedIsRefused(t *testing.T) {
	p := newPipeline(t)
	key := p.finished("oats", "run")
	s := p.serve(api.Options{})
	for _, at := range []string{path(key) + "/events", path(key) + "/frames", path(key) + "/stream"} {
		for _, cursor := range []string{"x", "-1", "1.5", "", "0x1", "9223372036854775808", "+1"} {
			require.Contains(t, s.refuses(http.StatusBadRequest, "bad_cursor", at+"?after="+cursor), "want the number of an event")
		}
		s.refuses(http.StatusBadRequest, "bad_parameter", at+"?last=x")
		s.refuses(http.StatusBadRequest, "bad_parameter", at+"?after=1&last=1")
		s.refuses(http.StatusBadRequest, "bad_parameter", at+"?after=1&after=2")
		require.Contains(t, s.refuses(http.StatusBadRequest, "bad_parameter", at+"?afer=1"), `there is no parameter \"afer\"; there is after,`)
		s.refuses(http.StatusBadRequest, "bad_parameter", at+"?after=%zz")
	}
	s.refuses(http.StatusBadRequest, "bad_parameter", path(key)+"/stream?until=noon")
	s.refuses(http.StatusBadRequest, "bad_parameter", path(key)+"?limit=1")
	for _, query := range []string{
		"limit=0", "limit=1001", "limit=x", "protocol=smoke", "status=happy", "label=x", "label==x", "label=a=1&label=a=2",
		"since=soon", "until=2026-02-30", "namespace=a/b", "namespace=", "colour=red",
	} {
		if query == "namespace=" {
			s.list("?" + query) // as if it were not there
			continue
		}
		s.refuses(http.StatusBadRequest, "bad_parameter", "/v1/transcripts?"+query)
	}
	s.refuses(http.StatusBadRequest, "bad_parameter", "/v1/search?q=")
	s.refuses(http.StatusBadRequest, "bad_cursor", "/v1/search?q=x&after=nothing")
	for _, at := range []string{"/v1", "/v1/", "/v1/transcript", path(key) + "/", path(key) + "/event", "/", "/readyz/"} {
		s.refuses(http.StatusNotFound, "not_found", at)
	}
}

func TestItOnlyReads(t *testing.T) {
	p := newPipeline(t)
	key := p.finished("oats", "run")
	s := p.serve(api.Options{})
	for _, at := range []string{"/v1/transcripts", path(key), path(key) + "/events", path(key) + "/frames", path(key) + "/stream", "/v1/search?q=x", "/v1/openapi.json", "/readyz", "/livez"} {
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions} {
			a := s.ask(method, at, "")
			require.Equal(t, http.StatusMethodNotAllowed, a.StatusCode, at)
			require.Equal(t, "GET, HEAD", a.Header.Get("Allow"))
			require.Contains(t, a.body, `"code":"method_not_allowed"`)
		}
		require.Equal(t, http.StatusMethodNotAllowed, s.ask(http.MethodPost, at, "{}").StatusCode)
		require.Equal(t, http.StatusBadRequest, s.ask(http.MethodGet, at, "{}").StatusCode)
		head := s.ask(http.MethodHead, at, "")
		require.Equal(t, http.StatusOK, head.StatusCode, at)
		require.Empty(t, head.body)
		require.Empty(t, head.Header.Get("Access-Control-Allow-Origin"))
		require.Equal(t, "nosniff", head.Header.Get("X-Content-Type-Options"))
		if !strings.HasSuffix(at, "/stream") {
			require.EqualValues(t, len(s.get(at).body), head.ContentLength, at)
		}
	}
}

// A web page whose name leads to loopback is not let in.
func TestOnLoopbackItAnswersForLocalhostOnly(t *testing.T) {
	s := newPipeline(t).serve(api.Options{Hosts: []string{"mill.test"}})
	ask := func(host string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/v1/transcripts", nil)
		require.NoError(t, err)
		r.Host = host
		response, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode
	}
	for _, host := range []string{"localhost", "localhost:9", "LOCALHOST:80", "127.0.0.1", "127.9.9.9:7070", "[::1]", "[::1]:7070", "mill.test", "Mill.Test:443"} {
		require.Equal(t, http.StatusOK, ask(host), host)
	}
	for _, host := range []string{"evil.test", "evil.test:7070", "localhost.evil.test", "127.0.0.1.evil.test", "192.0.2.7:7070", "0.0.0.0:7070"} {
		require.Equal(t, http.StatusForbidden, ask(host), host)
	}
}

func TestSearchIsOfWhatIsServed(t *testing.T) {
	p := newPipeline(t)
	var hits found
	for i, namespace := range []string{"oats", "rye", "oats", "rye", "oats"} {
		key := schema.Transcript{Identity: schema.Identity{Namespace: namespace, Workflow: "w", Run: "r", Attempt: 1}, Session: 1}
		hits = append(hits, sink.Hit{
			Summary: sink.Summary{Key: key.String(), Transcript: key, Protocol: schema.ACP, Labels: map[string]string{}, Status: schema.StatusOpen},
			Seq:     uint64(i) + 1, At: time.Unix(int64(i), 0).UTC(), Kind: "Message", Role: schema.User, Channel: schema.Answer, Snippet: "a sack", Matches: [][2]int{{2, 6}},
		})
	}
	seqs := func(s *site, query string) (seqs []uint64) {
		t.Helper()
		a := s.get("/v1/search?q=sack" + query)
		require.Equal(t, http.StatusOK, a.StatusCode, a.body)
		var page sink.HitPage
		require.NoError(t, json.Unmarshal([]byte(a.body), &page))
		for _, h := range page.Hits {
			seqs = append(seqs, h.Seq)
		}
		return seqs
	}
	require.Equal(t, []uint64{1, 2, 3, 4, 5}, seqs(p.serve(api.Options{Search: hits}), ""))
	require.Equal(t, []uint64{4, 5}, seqs(p.serve(api.Options{Search: hits}), "&after=3"))
	require.Equal(t, []uint64{2, 4}, seqs(p.serve(api.Options{Search: hits}), "&namespace=rye"))
	for _, namespaces := range [][]string{{"oats"}, {"oats", "barley"}} {
		s := p.serve(api.Options{Search: hits, Namespaces: namespaces})
		require.Equal(t, []uint64{1, 3, 5}, seqs(s, ""))
		require.Empty(t, seqs(s, "&namespace=rye"))
		require.NotContains(t, s.get("/v1/search?q=sack").body, "indexing", "it counts what others store")
	}
	require.Contains(t, p.serve(api.Options{Search: hits}).get("/v1/search?q=sack").body, `"indexing":{"behind":1,"failed":0}`)
}

// What is said is found, and what is found opens at its event.
func TestWhatIsSaidIsFound(t *testing.T) {
	p := newPipeline(t)
	key := p.finished("oats", "run")
	p.finished("rye", "run")
	s := p.serve(api.Options{Namespaces: []string{"oats", "barley"}})
	var page sink.HitPage
	eventually(t, func() bool {
		a := s.get("/v1/search?q=upon&label=run%3Drun&protocol=acp")
		require.Equal(t, http.StatusOK, a.StatusCode, a.body)
		require.NoError(t, json.Unmarshal([]byte(a.body), &page))
		return page.Indexing.Behind == 0 && len(page.Hits) > 0
	}, "nothing is found")
	require.Len(t, page.Hits, 1)
	hit := page.Hits[0]
	require.Equal(t, key.String(), hit.Summary.Key)
	event := s.page(fmt.Sprintf("%s/events?after=%d&limit=1", path(key), hit.Seq-1)).Events[0]
	require.Contains(t, string(event), "Once upon a time")
	require.Equal(t, []string{key.String()}, s.list("?text=upon").keys(t))
	require.Empty(t, s.list("?text=upon&agent=nobody").keys(t))
	require.Empty(t, s.list("?text=upon&until=2001-01-01").keys(t))
	require.Equal(t, []string{key.String()}, s.list("?text=upon&since=2001-01-01T00:00:00Z&status=ended").keys(t))
	// How long ago, as the command reads it; the tap's frames are of the year 2023.
	require.Equal(t, []string{key.String()}, s.list("?text=upon&since=5200w&until=1d").keys(t))
	require.Empty(t, s.list("?text=upon&since=7d").keys(t))
	require.Empty(t, s.list("?text=upon&until=5200w").keys(t))
	require.Contains(t, s.refuses(http.StatusBadRequest, "bad_parameter", "/v1/search?q=upon&since=7x"), "want how long ago")
	s.refuses(http.StatusBadRequest, "bad_parameter", "/v1/search?q=%20")
	s.refuses(http.StatusBadRequest, "bad_parameter", "/v1/transcripts?text=%22%22")
	s.refuses(http.StatusBadRequest, "bad_cursor", "/v1/transcripts?after=x")
	s.refuses(http.StatusBadRequest, "bad_cursor", "/v1/search?q=x&after=x")
}
