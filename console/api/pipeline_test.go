package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/api"
	"github.com/steno-io/steno/console/consoletest"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/sqlite"
)

// within bounds each wait, so that a fault fails the test instead of hanging it.
const within = consoletest.Within

// pipeline is a server with the real stages and ledger on it.
type pipeline struct {
	*consoletest.Pipeline
	t      *testing.T
	ledger *sqlite.Ledger
	conn   *nats.Conn // the API's own
	js     jetstream.JetStream
}

func newPipeline(t *testing.T) *pipeline {
	p := consoletest.New(t)
	return &pipeline{Pipeline: p, t: t, ledger: p.Ledger, conn: p.Conn, js: p.Streams}
}

// background runs something until the returned function is called, which waits for it.
func (p *pipeline) background(do func(context.Context) error) (stop func()) { return p.Background(do) }

// options fills in what of the pipeline is not given.
func (p *pipeline) options(o api.Options) api.Options { return p.Options(o) }

// site is a server of the API on loopback.
type site struct {
	*pipeline
	url  string
	stop func() // waits for its end
}

// serve serves the pipeline's transcripts.
func (p *pipeline) serve(o api.Options) *site {
	p.t.Helper()
	s := p.Serve(o)
	return &site{pipeline: p, url: s.URL, stop: s.Stop}
}

// tap stores frames as the append does.
type tap struct {
	*consoletest.Tap
	id schema.Identity
}

func (tp *tap) frame(t *testing.T, from schema.From, kind schema.FrameType, data string) {
	t.Helper()
	tp.Store(schema.Frame{From: from, Type: kind, End: schema.EndLF, Data: []byte(data)})
}

func (tp *tap) agent(t *testing.T, line string) {
	t.Helper()
	tp.frame(t, schema.FromAgent, schema.TypeData, line)
}

func (tp *tap) chunk(t *testing.T, text string) {
	t.Helper()
	quoted, err := json.Marshal(text)
	require.NoError(t, err)
	tp.agent(t, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":`+string(quoted)+`}}}}`)
}

// note stores a frame that gives one durable event at once.
func (tp *tap) note(t *testing.T, n int) {
	t.Helper()
	tp.agent(t, fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"session_info_update","title":"note %d"}}}`, n))
}

// begin opens a conversation up to its prompt, which is stored when it returns.
func (p *pipeline) begin(namespace, run string) (*tap, schema.Transcript) {
	p.t.Helper()
	id := schema.Identity{Namespace: namespace, Workflow: "w", Run: run, Attempt: 1}
	tp := &tap{Tap: p.Tap(id), id: id}
	tp.Steps(time.Unix(1700000000, 1), time.Nanosecond)
	tp.frame(p.t, schema.FromControl, schema.TypeOpen, `{"protocol":"acp","labels":{"run":"`+run+`"}}`)
	for _, line := range []struct {
		from schema.From
		data string
	}{
		{schema.FromClient, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`},
		{schema.FromAgent, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`},
		{schema.FromClient, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w"}}`},
		{schema.FromAgent, `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`},
		{schema.FromClient, `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"Tell <me>"}]}}`},
	} {
		tp.frame(p.t, line.from, schema.TypeData, line.data)
	}
	key := schema.Transcript{Identity: tp.id, Session: 1}
	p.stored(key, func(s sink.Summary) bool { return s.Head >= 2 })
	return tp, key
}

// end ends the turn and the capture.
func (tp *tap) end(t *testing.T) {
	t.Helper()
	tp.agent(t, `{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}`)
	tp.frame(t, schema.FromControl, schema.TypeClose, `{"reason":"eof"}`)
}

// stored waits until the ledger has that of a transcript.
func (p *pipeline) stored(key schema.Transcript, enough func(sink.Summary) bool) (s sink.Summary) {
	p.t.Helper()
	return p.Stored(key, enough)
}

// folded waits until all of a capture's frames are.
func (p *pipeline) folded(tp *tap) {
	p.t.Helper()
	p.Folded(tp.Tap)
}

func ended(s sink.Summary) bool { return s.Status == schema.StatusEnded }

// finished is a transcript with an answer, stored and ended.
func (p *pipeline) finished(namespace, run string) schema.Transcript {
	p.t.Helper()
	tp, key := p.begin(namespace, run)
	tp.chunk(p.t, "Once ")
	tp.chunk(p.t, "upon a time")
	tp.end(p.t)
	p.stored(key, ended)
	return key
}

// bytesOf are the stored events of a transcript.
func (p *pipeline) bytesOf(key schema.Transcript) (all []string) {
	p.t.Helper()
	for e, err := range p.ledger.Events(p.t.Context(), key, 0, 0) {
		require.NoError(p.t, err)
		all = append(all, string(e.Bytes))
	}
	return all
}

// found is a search of the same few hits.
type found []sink.Hit

func (f found) Indexing(context.Context) (sink.Indexing, error) { return sink.Indexing{}, nil }

func (f found) Search(_ context.Context, q sink.SearchQuery) (sink.HitPage, error) {
	switch {
	case q.Text == "":
		return sink.HitPage{}, sink.ErrNoWords
	case q.After != "" && q.After != "3":
		return sink.HitPage{}, sink.ErrCursor
	}
	page := sink.HitPage{Indexing: sink.Indexing{Behind: 1}}
	for _, h := range f {
		if (q.After == "" || h.Seq > 3) && q.Match(h.Summary) && len(page.Hits) < q.Limit {
			page.Hits = append(page.Hits, h)
		}
	}
	return page, nil
}
