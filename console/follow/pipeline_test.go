package follow_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/follow"
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

// conversation bounds a whole one, however many others share the machine.
const conversation = 5 * time.Minute

// pipeline is a server with the real stages and ledger on it.
type pipeline struct {
	*natstest.Server
	t       *testing.T
	ledger  *sqlite.Ledger
	hub     *follow.Hub // of every other viewer
	viewers int
}

func newPipeline(t *testing.T) *pipeline {
	p := &pipeline{Server: natstest.Start(t), t: t}
	l, err := sqlite.Open(filepath.Join(t.TempDir(), "ledger.db"), sqlite.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	p.ledger = l
	conn, js := p.Connect(t)
	p.hub, err = follow.NewHub(conn, l, p.Info.Partitions)
	require.NoError(t, err)
	k := sink.New(sink.Options{JS: js, Ledger: l})
	p.background(k.Run)
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

// worker runs a translator on a connection of its own.
func (p *pipeline) worker() (stop func()) {
	conn, js := p.Connect(p.t)
	w, err := stage.New(stage.Options{
		JS: js, Log: zerolog.Nop(),
		Catalogue: translate.NewCatalogue(map[schema.Protocol]translate.Translator{schema.ACP: acp.Translator{}, schema.A2A: a2a.Translator{}}),
	})
	require.NoError(p.t, err)
	end := p.background(w.Run)
	return func() { end(); conn.Close() }
}

// tap stores frames as the append does.
type tap struct {
	js    jetstream.JetStream
	id    schema.Identity
	seq   uint64
	last  uint64 // stream sequence of the last frame
	chain string
}

func (tp *tap) frame(t *testing.T, from schema.From, kind schema.FrameType, data string) {
	t.Helper()
	tp.store(t, schema.Frame{From: from, Type: kind, End: schema.EndLF, Data: []byte(data)})
}

func (tp *tap) store(t *testing.T, f schema.Frame) {
	t.Helper()
	tp.seq++
	f.Seq, f.At, f.Salt = tp.seq, time.Unix(1700000000, int64(tp.seq)).UTC(), fmt.Sprintf("%032x", tp.seq)
	f.Writer = schema.Writer{Journal: "j", Offset: tp.seq}
	chain, err := schema.ChainHash(tp.chain, &f)
	require.NoError(t, err)
	f.Chain, tp.chain = chain, chain
	msg := &nats.Msg{Subject: schema.RawSubject(tp.id, schema.Partitions), Header: f.Header(), Data: f.Data}
	for {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		ack, err := tp.js.PublishMsg(ctx, msg, jetstream.WithExpectLastSequencePerSubject(tp.last))
		cancel()
		if err == nil {
			tp.last = ack.Sequence
			return
		}
		if tp.stored(msg.Subject) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// stored looks whether the last frame was stored and the answer lost. The server may be away.
func (tp *tap) stored(subject string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	last, _, err := topology.Last(ctx, tp.js, topology.Raw, subject)
	if err != nil {
		return false
	}
	tp.last = last.Seq
	return last.Header.Get(schema.HeaderSeq) == fmt.Sprint(tp.seq)
}

func (tp *tap) client(t *testing.T, line string) {
	tp.frame(t, schema.FromClient, schema.TypeData, line)
}
func (tp *tap) agent(t *testing.T, line string) { tp.frame(t, schema.FromAgent, schema.TypeData, line) }

func (tp *tap) chunk(t *testing.T, variant, text string) {
	quoted, err := json.Marshal(text)
	require.NoError(t, err)
	tp.agent(t, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"`+variant+
		`","content":{"type":"text","text":`+string(quoted)+`}}}}`)
}

// begin opens a conversation up to its prompt.
func (p *pipeline) begin(run string) *tap {
	_, js := p.Connect(p.t)
	tp := &tap{js: js, id: schema.Identity{Namespace: "default", Workflow: "w", Run: run, Attempt: 1}}
	tp.frame(p.t, schema.FromControl, schema.TypeOpen, `{"protocol":"acp"}`)
	tp.client(p.t, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
	tp.agent(p.t, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`)
	tp.client(p.t, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w"}}`)
	tp.agent(p.t, `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`)
	tp.client(p.t, `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"Tell me"}]}}`)
	return tp
}

func (tp *tap) end(t *testing.T) {
	tp.agent(t, `{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}`)
	tp.frame(t, schema.FromControl, schema.TypeClose, `{"reason":"eof"}`)
}

// viewer keeps what a reader of a follower has on the screen, and checks it at every moment.
type viewer struct {
	want   map[schema.Channel]string // the whole texts
	text   map[schema.Channel]string
	next   map[schema.Channel]uint64
	closed map[schema.Channel]bool
	after  uint64
	events [][]byte

	began   time.Time
	first   time.Duration // until the first item
	partial int           // snapshots and pieces that showed a part of a text
	lags    map[follow.LagReason]int
	ends    int
	pause   time.Duration // between items, at random: a slow reader
	cut     int           // after so many items, on average, it goes away and comes again
	poll    time.Duration // of the follower

	firstText time.Duration // until the first item with text of the answer
	texted    chan struct{} // closed then
}

func newViewer(want map[schema.Channel]string, after uint64) *viewer {
	return &viewer{want: want, after: after, text: map[schema.Channel]string{}, next: map[schema.Channel]uint64{},
		closed: map[schema.Channel]bool{}, lags: map[follow.LagReason]int{}, texted: make(chan struct{}), poll: 200 * time.Millisecond}
}

func (v *viewer) emit(i follow.Item) error {
	if v.first == 0 {
		v.first = time.Since(v.began)
	}
	if v.pause > 0 {
		time.Sleep(rand.N(v.pause))
	}
	if err := v.take(i); err != nil || v.ends > 0 || v.cut == 0 || rand.N(v.cut) > 0 {
		return err
	}
	return follow.ErrStop
}

func (v *viewer) take(i follow.Item) error {
	switch i := i.(type) {
	case *follow.Event:
		if want := v.after + uint64(len(v.events)) + 1; i.Seq != want {
			return fmt.Errorf("want event %d, got %d", want, i.Seq)
		}
		v.events = append(v.events, i.Bytes)
		if m, ok := i.Event.Kind.(*schema.Message); ok && m.Role == schema.Assistant {
			if m.Text != v.want[m.Channel] {
				return fmt.Errorf("the stored text is %q", m.Text)
			}
			if !strings.HasPrefix(m.Text, v.text[m.Channel]) {
				return fmt.Errorf("shown was %q", v.text[m.Channel])
			}
			v.text[m.Channel], v.closed[m.Channel] = m.Text, true
			v.tell(m.Channel)
		}
	case *follow.Delta:
		if v.closed[i.Channel] {
			return fmt.Errorf("piece %d of %s after its message", i.Index, i.Channel)
		}
		if i.Index != v.next[i.Channel] {
			return fmt.Errorf("want piece %d of %s, got %d", v.next[i.Channel], i.Channel, i.Index)
		}
		v.next[i.Channel]++
		return v.show(i.Channel, v.text[i.Channel]+i.Text)
	case *follow.Snapshot:
		for _, m := range i.Messages {
			if v.closed[m.Channel] {
				return fmt.Errorf("snapshot %d opens %s again", i.Frame, m.Channel)
			}
			v.next[m.Channel] = m.Next
			if err := v.show(m.Channel, m.Text); err != nil {
				return err
			}
		}
	case *follow.Lag:
		v.lags[i.Reason]++
	case *follow.End:
		v.ends++
		return follow.ErrStop
	}
	return nil
}

// show holds a text against the whole one: always a prefix, and never less than was shown.
func (v *viewer) show(channel schema.Channel, text string) error {
	if !strings.HasPrefix(v.want[channel], text) {
		return fmt.Errorf("%s is not a prefix of the text: %q", channel, text)
	}
	if len(text) < len(v.text[channel]) {
		return fmt.Errorf("%s is less than was shown: %d of %d bytes", channel, len(text), len(v.text[channel]))
	}
	v.text[channel] = text
	v.partial++
	v.tell(channel)
	return nil
}

// tell notes when the answer's first text was there.
func (v *viewer) tell(channel schema.Channel) {
	if channel == schema.Answer && v.firstText == 0 && v.text[channel] != "" {
		v.firstText = time.Since(v.began)
		close(v.texted)
	}
}

// watch follows a transcript from a random moment on; the returned function waits for its end and
// checks that everything was seen.
func (p *pipeline) watch(key schema.Transcript, v *viewer) (wait func()) {
	o := follow.Options{Hub: p.hub, Transcript: key, Poll: v.poll}
	if p.viewers++; p.viewers%2 == 0 {
		conn, _ := p.Connect(p.t)
		o.Hub, o.Conn, o.Reader, o.Partitions = nil, conn, p.ledger, p.Info.Partitions
	}
	done := make(chan error, 1)
	ctx, cancel := context.WithTimeout(context.Background(), conversation)
	v.began = time.Now()
	go func() {
		for v.ends == 0 && ctx.Err() == nil {
			o.After = v.after + uint64(len(v.events))
			f, err := follow.New(o)
			if err == nil {
				err = f.Run(ctx, v.emit)
			}
			if err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	return func() {
		defer cancel()
		require.NoError(p.t, <-done, "lags %v", v.lags)
		require.Equal(p.t, 1, v.ends, "the transcript did not end in time; lags %v", v.lags)
		require.Equal(p.t, v.want, v.text)
		var stored [][]byte
		for e, err := range p.ledger.Events(ctx, key, v.after, 0) {
			require.NoError(p.t, err)
			stored = append(stored, e.Bytes)
		}
		require.True(p.t, bytes.Equal(bytes.Join(stored, nil), bytes.Join(v.events, nil)))
	}
}

func words(n int) (pieces []string) {
	for i := range n {
		pieces = append(pieces, fmt.Sprintf("w%d ", i))
	}
	return pieces
}

// TestJoinAtRandomWhileTheWorkerDies joins a long thought and a long answer at random moments, while
// the translator is stopped and started.
func TestJoinAtRandomWhileTheWorkerDies(t *testing.T) {
	p := newPipeline(t)
	stop := p.worker()
	partial, rounds := 0, 3
	var first []time.Duration
	if testing.Short() {
		rounds = 3
	}
	for round := range rounds {
		tp := p.begin(fmt.Sprintf("run-%d", round))
		thought, answer := words(60), words(300)
		want := map[schema.Channel]string{schema.Thought: strings.Join(thought, ""), schema.Answer: strings.Join(answer, "")}
		key := schema.Transcript{Identity: tp.id, Session: 1}
		var waits []func()
		var viewers []*viewer
		for i, piece := range append(thought, answer...) {
			if rand.N(36) == 0 && len(waits) < 12 {
				v := newViewer(want, 0)
				switch rand.N(4) {
				case 0:
					v.pause = 4 * time.Millisecond
				case 1:
					v.cut = 40
				}
				viewers, waits = append(viewers, v), append(waits, p.watch(key, v))
				time.Sleep(2 * time.Millisecond) // a peer types no faster than people join
			}
			if rand.N(150) == 0 {
				stop()
				stop = p.worker()
			}
			if i < len(thought) {
				tp.chunk(t, "agent_thought_chunk", piece)
			} else {
				tp.chunk(t, "agent_message_chunk", piece)
			}
		}
		tp.end(t)
		for i, wait := range waits {
			wait()
			partial += viewers[i].partial
			first = append(first, viewers[i].first)
		}
	}
	require.Positive(t, partial, "nothing was seen live")
	slices.Sort(first)
	t.Logf("%d joins, %d parts of texts shown; first item after %s at the median, %s at most",
		len(first), partial, first[len(first)/2], first[len(first)-1])
}

// TestFollowOverServerRestarts restarts the server while an answer is typed.
func TestFollowOverServerRestarts(t *testing.T) {
	p := newPipeline(t)
	p.worker()
	tp := p.begin("run")
	answer := words(150)
	want := map[schema.Channel]string{schema.Answer: strings.Join(answer, "")}
	v := newViewer(want, 0)
	wait := p.watch(schema.Transcript{Identity: tp.id, Session: 1}, v)
	for i, piece := range answer {
		if i == 50 || i == 100 {
			p.Restart(t)
		}
		tp.chunk(t, "agent_message_chunk", piece)
	}
	tp.end(t)
	wait()
	require.Positive(t, v.lags[follow.LagReconnected])
}

// TestFollowSessionZeroAndFromACursor follows the connection's own transcript, and an ended one from
// every cursor.
func TestFollowSessionZeroAndFromACursor(t *testing.T) {
	p := newPipeline(t)
	p.worker()
	tp := p.begin("run")
	zero := newViewer(map[schema.Channel]string{}, 0)
	wait := p.watch(schema.Transcript{Identity: tp.id}, zero)
	tp.chunk(t, "agent_message_chunk", "Once upon a time")
	tp.end(t)
	wait()
	require.Len(t, zero.events, 6, "open, initialize and session/new with their answers, close")

	key := schema.Transcript{Identity: tp.id, Session: 1}
	whole := newViewer(map[schema.Channel]string{schema.Answer: "Once upon a time"}, 0)
	p.watch(key, whole)()
	for after := range uint64(len(whole.events)) {
		var got [][]byte
		f, err := follow.New(follow.Options{Conn: p.NC, Reader: p.ledger, Partitions: p.Info.Partitions, Transcript: key, After: after})
		require.NoError(t, err)
		require.NoError(t, f.Run(t.Context(), func(i follow.Item) error {
			switch i := i.(type) {
			case *follow.Event:
				got = append(got, i.Bytes)
			case *follow.End:
				return follow.ErrStop
			case *follow.Lag:
				return errors.New("nothing lags")
			}
			return nil
		}))
		require.Equal(t, whole.events[after:], got)
	}
}
