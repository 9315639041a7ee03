package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/api"
	"github.com/steno-io/steno/console/consoletest"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/translate"
)

// lines asks for a transcript's typing.
func (s *site) lines(path string) []string {
	s.t.Helper()
	a := s.get(path)
	require.Equal(s.t, http.StatusOK, a.StatusCode, a.body)
	require.Equal(s.t, "application/x-ndjson", a.Header.Get("Content-Type"))
	require.Equal(s.t, "no", a.Header.Get("X-Accel-Buffering"))
	require.True(s.t, strings.HasSuffix(a.body, "\n"), a.body)
	return strings.Split(strings.TrimSuffix(a.body, "\n"), "\n")
}

func TestWhenPiecesWereTyped(t *testing.T) {
	p := newPipeline(t)
	tp, key := p.begin("oats", "run") // one nanosecond a frame
	id := tp.id.UUID("message/7").String()
	tp.chunk(t, "Once ")
	tp.chunk(t, "upon 🌾")
	tp.note(t, 1) // ends no message
	tp.chunk(t, " a time")
	p.folded(tp)
	s := p.serve(api.Options{})
	require.Equal(t, []string{
		`{"store_seq":null,"message_id":"` + id + `","channel":"answer","text":"Once upon 🌾 a time","pieces":[[0,5],[0,12],[0,19]]}`,
		`{"end":{"frames":10}}`,
	}, s.lines(path(key)+"/typing?after=3"))

	tp.end(t)
	p.stored(key, ended)
	whole := s.lines(path(key) + "/typing")
	require.Len(t, whole, 2)
	var line struct {
		StoreSeq uint64 `json:"store_seq"`
	}
	require.NoError(t, json.Unmarshal([]byte(whole[0]), &line))
	require.Equal(t, fmt.Sprintf(`{"store_seq":%d,"message_id":"%s","channel":"answer","pieces":[[0,5],[0,12],[0,19]]}`, line.StoreSeq, id), whole[0])
	require.Contains(t, p.bytesOf(key)[line.StoreSeq-1], `"message_id":"`+id+`"`, "the number is the ledger's")
	require.Equal(t, `{"end":{"frames":12}}`, whole[1])

	require.Equal(t, whole, s.lines(fmt.Sprintf("%s/typing?after=%d", path(key), line.StoreSeq-1)))
	require.Equal(t, whole[1:], s.lines(fmt.Sprintf("%s/typing?after=%d", path(key), line.StoreSeq)))
	connection := key
	connection.Session = 0
	require.Equal(t, whole[1:], s.lines(path(connection)+"/typing"), "nothing is typed on the connection itself")

	require.Equal(t, http.StatusOK, s.ask(http.MethodHead, path(key)+"/typing", "").StatusCode)
	s.refuses(http.StatusBadRequest, "bad_cursor", path(key)+"/typing?after=x")
	s.refuses(http.StatusBadRequest, "bad_parameter", path(key)+"/typing?last=1")
	key.Run = "none"
	s.refuses(http.StatusNotFound, "not_found", path(key)+"/typing")
}

func TestFramesThatAreGoneAreNamed(t *testing.T) {
	p := newPipeline(t)
	key := p.finished("oats", "run")
	stream, err := p.js.Stream(t.Context(), topology.Raw)
	require.NoError(t, err)
	subject := schema.RawSubject(key.Identity, p.Info.Partitions)
	require.NoError(t, stream.Purge(t.Context(), jetstream.WithPurgeSubject(subject), jetstream.WithPurgeKeep(2)))
	s := p.serve(api.Options{})
	require.Equal(t, []string{
		`{"error":{"code":"sealed","message":"fold ` + key.Identity.String() + ` again: frame 1 is wanted, and frame 9 is the next that is left: its first frames were sealed away"}}`,
	}, s.lines(path(key)+"/typing"))
}

// folder gives some events, and then waits to be told how it ends.
type folder struct {
	events []schema.Event
	begun  chan struct{}
	end    chan error
}

func (f *folder) Fold(ctx context.Context, id schema.Identity, each func(*schema.Event) bool) (*translate.Capture, error) {
	for i := range f.events {
		each(&f.events[i])
	}
	f.begun <- struct{}{}
	select {
	case err := <-f.end:
		return translate.NewCapture(id, consoletest.Catalogue(), ""), err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestFewCapturesAreFoldedAtATime(t *testing.T) {
	p := newPipeline(t)
	key := p.finished("oats", "run")
	f := &folder{begun: make(chan struct{}), end: make(chan error)}
	s := p.serve(api.Options{Folder: f})
	answers := make(chan string, 2)
	ask := func() {
		go func() {
			r, err := http.Get(s.url + path(key) + "/typing")
			if err != nil {
				answers <- err.Error()
				return
			}
			data, err := io.ReadAll(r.Body)
			if err = errors.Join(err, r.Body.Close()); err != nil {
				data = []byte(err.Error())
			}
			answers <- string(data)
		}()
		<-f.begun
	}
	ask()
	ask()
	s.refuses(http.StatusServiceUnavailable, "too_many_folds", path(key)+"/typing")
	require.Equal(t, "2", s.get(path(key)+"/typing").Header.Get("Retry-After"))

	for range 2 {
		f.end <- nil
		require.Equal(t, "{\"end\":{\"frames\":0}}\n", <-answers)
	}
	go func() { <-f.begun; f.end <- fmt.Errorf("fold frame 4: %w", translate.ErrFrame) }()
	require.Equal(t, []string{`{"error":{"code":"damaged","message":"fold frame 4: frame does not continue the capture"}}`}, s.lines(path(key)+"/typing"))
	go func() { <-f.begun; f.end <- errors.New("/home/me is full") }()
	require.Equal(t, []string{`{"error":{"code":"unavailable","message":"it cannot be read at the moment: /readyz says what is missing"}}`}, s.lines(path(key)+"/typing"), "what it is is logged")

	ask()
	s.stop() // ends it
	require.NotContains(t, <-answers, `"end"`)
}

// What is met in the frames is told before they are read to their end.
func TestLinesComeAsTheyAreMet(t *testing.T) {
	p := newPipeline(t)
	key := p.finished("oats", "run")
	at := schema.Transcript{Session: 1}
	f := &folder{begun: make(chan struct{}), end: make(chan error), events: []schema.Event{
		{Transcript: at, Ephemeral: true, Kind: &schema.Delta{MessageID: "m", TextFragment: "oats"}},
		{Transcript: at, StoreSeq: 1, Kind: &schema.Message{MessageID: "m", Text: "oats", Channel: schema.Answer}},
	}}
	s := p.serve(api.Options{Folder: f})
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path(key)+"/typing", nil)
	require.NoError(t, err)
	go func() { <-f.begun }()
	response, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	line := make([]byte, len(`{"store_seq":1,"message_id":"m","channel":"answer","pieces":[[0,4]]}`))
	_, err = io.ReadFull(response.Body, line)
	require.NoError(t, err)
	require.Equal(t, `{"store_seq":1,"message_id":"m","channel":"answer","pieces":[[0,4]]}`, string(line))
	cancel() // a client that goes ends the fold
	require.NoError(t, response.Body.Close())
	s.stop()
}
