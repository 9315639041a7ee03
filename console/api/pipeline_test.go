package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/api"
	"github.com/steno-io/steno/console/refold"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/sqlite"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/a2a"
	"github.com/steno-io/steno/translate/acp"
	"github.com/steno-io/steno/translate/stage"
)

// within bounds each wait, so that a fault fails the test instead of hanging it.
const within = time.Minute

var catalogue = translate.NewCatalogue(map[schema.Protocol]translate.Translator{schema.ACP: acp.Translator{}, schema.A2A: a2a.Translator{}})

// pipeline is a server with the real stages and ledger on it.
type pipeline struct {
	*natstest.Server
	t      *testing.T
	ledger *sqlite.Ledger
	conn   *nats.Conn // the API's own
	js     jetstream.JetStream
}

func newPipeline(t *testing.T) *pipeline {
	p := &pipeline{Server: natstest.Start(t), t: t}
	l, err := sqlite.Open(filepath.Join(t.TempDir(), "ledger.db"), sqlite.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	p.ledger = l
	_, js := p.Connect(t)
	p.background(sink.New(sink.Options{JS: js, Ledger: l, Index: l}).Run)
	_, js = p.Connect(t)
	w, err := stage.New(stage.Options{
		JS: js, Log: zerolog.Nop(),
		Catalogue: catalogue,
	})
	require.NoError(t, err)
	p.background(w.Run)
	p.conn, p.js = p.Connect(t)
	return p
}

// background runs something until the returned function is called, which waits for it.
func (p *pipeline) background(do func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			p.t.Errorf("background: %v", err)
		}
	})
	p.t.Cleanup(stop)
	return stop
}

// site is a server of the API on loopback.
type site struct {
	*pipeline
	url  string
	stop func() // waits for its end
}

// options fills in what of the pipeline is not given.
func (p *pipeline) options(o api.Options) api.Options {
	p.t.Helper()
	blobs, err := topology.OpenBlobs(p.t.Context(), p.js)
	require.NoError(p.t, err)
	o.Conn, o.JS, o.Blobs, o.Partitions = p.conn, p.js, blobs, p.Info.Partitions
	if o.Ledger == nil {
		o.Ledger = p.ledger
	}
	if o.Search == nil {
		o.Search = p.ledger
	}
	if o.Folder == nil {
		o.Folder = &refold.Source{JS: p.js, Blobs: blobs, Partitions: p.Info.Partitions, Versions: p.ledger, Catalogue: catalogue}
	}
	return o
}

// serve serves the pipeline's transcripts.
func (p *pipeline) serve(o api.Options) *site {
	p.t.Helper()
	server, err := api.New(p.options(o))
	require.NoError(p.t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(p.t, err)
	s := &site{pipeline: p, url: "http://" + l.Addr().String()}
	s.stop = p.background(func(ctx context.Context) error { return server.Serve(ctx, l) })
	return s
}

// tap stores frames as the append does.
type tap struct {
	js    jetstream.JetStream
	id    schema.Identity
	seq   uint64
	chain string
}

func (tp *tap) frame(t *testing.T, from schema.From, kind schema.FrameType, data string) {
	t.Helper()
	tp.seq++
	f := schema.Frame{From: from, Type: kind, End: schema.EndLF, Data: []byte(data)}
	f.Seq, f.At, f.Salt = tp.seq, time.Unix(1700000000, int64(tp.seq)).UTC(), fmt.Sprintf("%032x", tp.seq)
	f.Writer = schema.Writer{Journal: "j", Offset: tp.seq}
	chain, err := schema.ChainHash(tp.chain, &f)
	require.NoError(t, err)
	f.Chain, tp.chain = chain, chain
	_, err = tp.js.PublishMsg(t.Context(), &nats.Msg{Subject: schema.RawSubject(tp.id, schema.Partitions), Header: f.Header(), Data: f.Data})
	require.NoError(t, err)
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
	tp := &tap{js: p.JS, id: schema.Identity{Namespace: namespace, Workflow: "w", Run: run, Attempt: 1}}
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
	var err error
	require.Eventually(p.t, func() bool {
		s, err = p.ledger.Transcript(p.t.Context(), key)
		return err == nil && enough(s)
	}, within, 2*time.Millisecond, "%s is not stored", key)
	return s
}

// folded waits until all of a capture's frames are.
func (p *pipeline) folded(tp *tap) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		m, err := p.NC.Request(schema.OpenSubject(tp.id, schema.Partitions), nil, within)
		if err != nil {
			return false
		}
		reply, whole, err := new(schema.OpenPages).Add(m.Header, m.Data)
		return err == nil && whole && reply.Frame == tp.seq
	}, within, 2*time.Millisecond, "%s is not folded", tp.id)
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
