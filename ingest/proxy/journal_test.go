package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
)

// oneJournal gives every exchange the same journal.
type oneJournal struct{ *journal.Writer }

func (j oneJournal) Begin(context.Context) (Journal, func(), error) { return j.Writer, nil, nil }

func createJournal(t testing.TB, o journal.Options) oneJournal {
	t.Helper()
	o.Dir = t.TempDir()
	o.Head.Identity = schema.Identity{Namespace: "default", Workflow: "w", Run: "r", Attempt: 1}
	o.Head.Open = schema.OpenInfo{Protocol: schema.A2A, Tap: "proxy"}
	w, err := journal.Create(o)
	require.NoError(t, err)
	return oneJournal{w}
}

// readBook closes a journal and reads it back.
func readBook(t testing.TB, j oneJournal) *book {
	t.Helper()
	require.NoError(t, j.Close())
	r, err := journal.Open(j.Path())
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	b := &book{}
	for {
		e, err := r.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return b
		}
		require.NoError(t, err)
		b.entries = append(b.entries, entry{e.Lane, e.From, e.Type, append([]byte(nil), e.Data...)})
	}
}

// TestExchangesInAJournal lets streams of different length run into one journal at once, and reads it.
func TestExchangesInAJournal(t *testing.T) {
	peer := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		name, _ := io.ReadAll(r.Body)
		send := stream(w)
		for i := range 1 + len(name)%7*10 {
			_ = send(fmt.Sprintf("data: %s/%d\n\n", name[:min(10, len(name))], i))
		}
	})
	j := createJournal(t, journal.Options{})
	p := start(t, j, peer.URL)
	c := client(t, true)
	answers := map[string]string{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range 50 {
		question := fmt.Sprintf("%d %s", i, strings.Repeat("x", i*1000))
		if i == 49 {
			question = "49 " + strings.Repeat("y", 3<<20) // more than one entry
		}
		wg.Go(func() {
			res, err := c.Do(newRequest(t, "POST", p.url, question))
			if !assert.NoError(t, err) {
				return
			}
			got, err := io.ReadAll(res.Body)
			assert.NoError(t, err)
			_ = res.Body.Close()
			mu.Lock()
			defer mu.Unlock()
			answers[question] = string(got)
		})
	}
	wg.Wait()
	p.stop()
	p.ended(t)
	b := readBook(t, j)
	b.check(t)
	all := b.exchanges()
	require.Len(t, all, 50)
	for _, x := range all {
		require.Equal(t, answers[x.ask.body], x.answer.body)
		require.Empty(t, x.closed.Error)
	}
}

func TestAJournalAtItsBoundFailsTheExchangeInTheEnd(t *testing.T) {
	peer := upstream(t, func(w http.ResponseWriter, _ *http.Request) { _ = stream(w)(strings.Repeat("x", 300<<10)) })
	blocked := make(chan struct{})
	j := createJournal(t, journal.Options{Max: 256 << 10, Report: func(n journal.Notice) {
		if n.What == journal.Blocked {
			close(blocked)
		}
	}})
	p := start(t, j, peer.URL)
	ctx, leave := context.WithCancel(t.Context())
	res, err := client(t, false).Do(newRequest(t, "POST", p.url, "{}").WithContext(ctx))
	require.NoError(t, err)
	_, err = io.ReadFull(res.Body, make([]byte, 1000))
	require.NoError(t, err)
	<-blocked
	leave() // nobody makes room
	p.stop()
	p.ended(t)
	x := readBook(t, j).exchanges()[0]
	require.NotNil(t, x.closed, "the end has its place")
	require.Contains(t, x.closed.Error, journal.ErrFull.Error())
}

// TestEvidenceIsWhatReadersRead pins the names that evidence bears in a journal.
func TestEvidenceIsWhatReadersRead(t *testing.T) {
	peer := upstream(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	b := newBook(t)
	p := start(t, b, peer.URL)
	ask(t, client(t, false), newRequest(t, "POST", p.url+"/x", "{}", "A2A-Version", "1.0"))
	b.only(t)
	var keys []string
	for _, e := range b.entries {
		if e.typ == schema.TypeHTTP {
			m := map[string]any{}
			require.NoError(t, json.Unmarshal(e.data, &m))
			for k := range m {
				keys = append(keys, k)
			}
		}
	}
	require.ElementsMatch(t, []string{"method", "path", "a2a_version", "headers", "bytes", "status"}, keys)
}
