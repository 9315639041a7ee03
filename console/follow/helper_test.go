package follow_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/follow"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/sink"
)

// within bounds each wait, so that a fault fails the test instead of hanging it.
const within = 30 * time.Second

var transcript = schema.Transcript{Identity: schema.Identity{Namespace: "default", Workflow: "w", Run: "r", Attempt: 1}, Session: 1}

// ledger is a ledger in memory, of one transcript.
type ledger struct {
	mu     sync.Mutex
	events []sink.Event
	status schema.Status
	err    error
	skip   uint64 // a number that it has lost
	before func() // is called once, before events are read
}

func (l *ledger) Transcripts(context.Context, sink.Query) (sink.Page, error) {
	return sink.Page{}, errors.New("a follower lists nothing")
}

func (l *ledger) Transcript(_ context.Context, key schema.Transcript) (sink.Summary, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.err != nil:
		return sink.Summary{}, l.err
	case len(l.events) == 0 || key != transcript:
		return sink.Summary{}, sink.ErrNotFound
	}
	return sink.Summary{Transcript: key, Head: uint64(len(l.events)), Status: l.status}, nil
}

func (l *ledger) Events(_ context.Context, _ schema.Transcript, after uint64, limit int) iter.Seq2[sink.Event, error] {
	return func(yield func(sink.Event, error) bool) {
		l.mu.Lock()
		before := l.before
		l.before = nil
		l.mu.Unlock()
		if before != nil {
			before()
		}
		l.mu.Lock()
		events := l.events
		l.mu.Unlock()
		for _, e := range events {
			if e.Seq <= after || e.Seq == l.skip {
				continue
			}
			if !yield(e, nil) {
				return
			}
			if limit--; limit == 0 {
				return
			}
		}
	}
}

// store adds events, each from the given frame, without a wake-up.
func (l *ledger) store(frame uint64, kinds ...schema.Kind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, kind := range kinds {
		seq := uint64(len(l.events) + 1)
		e := schema.Event{Transcript: transcript, AgentRole: "agent", WorkerSeq: frame, Part: uint32(i), StoreSeq: seq,
			Frames: []schema.Range{{frame, frame}}, Kind: kind, EmittedAt: time.Unix(int64(frame), 0)}
		l.events = append(l.events, sink.Event{Seq: seq, Bytes: e.AppendJSON(nil)})
	}
}

func (l *ledger) set(status schema.Status) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status = status
}

// bench is a server with a ledger, and the test in the place of the stages.
type bench struct {
	*natstest.Server
	*ledger
	t *testing.T
}

func newBench(t *testing.T) *bench {
	return &bench{Server: natstest.StartWith(t, natstest.Options{Bare: true}), ledger: &ledger{status: schema.StatusOpen}, t: t}
}

func (b *bench) publish(subject string, data []byte) {
	b.t.Helper()
	require.NoError(b.t, b.NC.Publish(subject, data))
	require.NoError(b.t, b.NC.Flush())
}

func (b *bench) wake() {
	b.t.Helper()
	b.publish(schema.StoredSubject(transcript), []byte(strconv.Itoa(len(b.events))))
}

// piece sends a piece of an answer that came at a frame.
func (b *bench) piece(frame uint64, id string, index uint64, text string) {
	b.t.Helper()
	b.live(frame, &schema.Delta{MessageID: id, Index: index, TextFragment: text})
}

func (b *bench) live(frame uint64, kind schema.Kind) {
	b.t.Helper()
	e := schema.Event{Transcript: transcript, WorkerSeq: frame, Ephemeral: true, Frames: []schema.Range{{frame, frame}}, Kind: kind}
	b.publish(schema.DeltaSubject(transcript), e.AppendJSON(nil))
}

func (b *bench) heads(frame uint64, heads ...schema.Head) {
	b.t.Helper()
	h := schema.Heads{Frame: frame, Heads: heads}
	b.publish(schema.DeltaSubject(transcript), h.AppendJSON(nil))
}

// owner answers what is open.
type owner struct {
	mu    sync.Mutex
	reply schema.OpenReply
	asked int
}

func (o *owner) set(frame, ordinal uint64, messages ...schema.OpenMessage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reply = schema.OpenReply{Identity: transcript.Identity, Frame: frame, Translator: "acp/1",
		Ordinals: map[uint32]uint64{transcript.Session: ordinal, 7: 99}, Frames: map[uint32]uint64{}, Messages: messages}
}

func (o *owner) times() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.asked
}

func (b *bench) owner(frame, ordinal uint64, messages ...schema.OpenMessage) *owner {
	b.t.Helper()
	o := &owner{}
	o.set(frame, ordinal, messages...)
	_, err := b.NC.Subscribe(schema.OpenSubject(transcript.Identity, schema.Partitions), func(m *nats.Msg) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.asked++
		for _, page := range schema.CutOpenPages(o.reply.AppendJSON(nil), nats.NewInbox()) {
			_ = b.NC.PublishMsg(&nats.Msg{Subject: m.Reply, Header: page.Header, Data: page.Data}) // the server may be stopping
		}
	})
	require.NoError(b.t, err)
	require.NoError(b.t, b.NC.Flush())
	return o
}

// open is an open message of the transcript.
func open(id, text string, next uint64) schema.OpenMessage {
	return schema.OpenMessage{Session: transcript.Session, MessageID: id, Role: schema.Assistant, Channel: schema.Answer, Text: text, Next: next}
}

func message(id, text string) *schema.Message {
	return &schema.Message{Role: schema.Assistant, Channel: schema.Answer, MessageID: id, Text: text, Boundary: schema.BoundaryTurnEnd}
}

// reader is what a follower tells.
type reader struct {
	t      *testing.T
	items  chan string
	cancel context.CancelFunc
	done   chan error
}

// follow follows the bench's transcript.
func (b *bench) follow(o follow.Options) *reader {
	b.t.Helper()
	if o.Conn == nil {
		o.Conn, _ = b.Connect(b.t)
	}
	if o.Poll == 0 {
		o.Poll = time.Hour // nothing comes by itself
	}
	o.Reader, o.Partitions, o.Transcript = b.ledger, schema.Partitions, transcript
	return run(b.t, o, nil)
}

func run(t *testing.T, o follow.Options, hold chan struct{}) *reader {
	t.Helper()
	f, err := follow.New(o)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	r := &reader{t: t, items: make(chan string, 1<<16), cancel: cancel, done: make(chan error, 1)}
	go func() {
		r.done <- f.Run(ctx, func(i follow.Item) error {
			r.items <- brief(i)
			if hold != nil {
				<-hold
			}
			return nil
		})
	}()
	t.Cleanup(func() { cancel(); <-r.done })
	return r
}

// brief is an item in few words.
func brief(i follow.Item) string {
	switch i := i.(type) {
	case *follow.Event:
		return fmt.Sprintf("event %d %s", i.Seq, i.Event.Kind.Tag())
	case *follow.Delta:
		return fmt.Sprintf("delta %s %s %d %q", i.Channel, i.MessageID, i.Index, i.Text)
	case *follow.Snapshot:
		s := fmt.Sprintf("snapshot %d", i.Frame)
		for _, m := range i.Messages {
			s += fmt.Sprintf(" %s %q", m.MessageID, m.Text)
		}
		for _, tool := range i.Tools {
			s += " tool " + tool.State.ToolID
		}
		return s
	case *follow.Lag:
		return fmt.Sprintf("lag %s %d %s", i.Reason, i.Events, i.Detail)
	case *follow.End:
		return fmt.Sprintf("end %s %d", i.Status, i.Head)
	}
	return fmt.Sprintf("unexpected %T", i)
}

// reads is what the follower tells next, all of it and in this order.
func (r *reader) reads(want ...string) {
	r.t.Helper()
	for _, w := range want {
		select {
		case got := <-r.items:
			require.Equal(r.t, w, got)
		case err := <-r.done:
			r.done <- err
			require.NotEmpty(r.t, r.items, "follower ended with %v; want %s", err, w)
			require.Equal(r.t, w, <-r.items)
		case <-time.After(within):
			require.Fail(r.t, "nothing comes", "want %s", w)
		}
	}
}

// ends waits for the end of Run.
func (r *reader) ends() error {
	r.t.Helper()
	select {
	case err := <-r.done:
		r.done <- err
		return err
	case <-time.After(within):
		require.Fail(r.t, "follower does not end")
		return nil
	}
}
