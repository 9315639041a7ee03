package stage_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/translate/stage"
)

// ask requests what is open in a capture, as a console does.
func ask(t *testing.T, nc *nats.Conn, id schema.Identity) schema.OpenReply {
	t.Helper()
	inbox := nc.NewInbox()
	sub, err := nc.SubscribeSync(inbox)
	require.NoError(t, err)
	defer func() { require.NoError(t, sub.Unsubscribe()) }()
	require.NoError(t, nc.PublishRequest(schema.OpenSubject(id, schema.Partitions), inbox, nil))
	var pages schema.OpenPages
	for {
		m, err := sub.NextMsg(within)
		if errors.Is(err, nats.ErrNoResponders) { // the worker is still starting
			require.NoError(t, nc.PublishRequest(schema.OpenSubject(id, schema.Partitions), inbox, nil))
			continue
		}
		require.NoError(t, err)
		reply, whole, err := pages.Add(m.Header, m.Data)
		require.NoError(t, err)
		if whole {
			return reply
		}
	}
}

func TestOpenReply(t *testing.T) {
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	tp.say(t, "say 1 Good ", "say 1 morning", "tool 2 grep", "say 2 else")
	w, _ := run(t, stage.Options{JS: s.JS})
	require.NoError(t, w.Committed(bounded(t), tp.id, 5))
	want := schema.OpenReply{
		Identity: tp.id, Frame: 5, Translator: "words/1",
		Ordinals: map[uint32]uint64{0: 1, 2: 2}, // session 1 has no durable event yet
		Frames:   map[uint32]uint64{1: 2, 2: 1},
		Messages: []schema.OpenMessage{
			{Session: 1, MessageID: "m2", Role: schema.Assistant, Channel: schema.Answer, Text: "Good morning", Next: 2},
			{Session: 2, MessageID: "m5", Role: schema.Assistant, Channel: schema.Answer, Text: "else", Next: 1},
		},
	}
	require.Equal(t, want, ask(t, s.NC, tp.id))

	large := strings.Repeat("é\n", schema.MaxInline)
	tp.say(t, "say 1 "+large)
	require.NoError(t, w.Committed(bounded(t), tp.id, 6))
	reply := ask(t, s.NC, tp.id)
	require.EqualValues(t, 6, reply.Frame)
	require.Equal(t, "Good morning"+large, reply.Messages[0].Text)

	unknown := ask(t, s.NC, identity(99))
	require.Zero(t, unknown.Frame)
	progress, err := w.Progress(bounded(t))
	require.NoError(t, err)
	captures := 0
	for _, p := range progress.Partitions {
		captures += p.Captures
	}
	require.Equal(t, 1, captures, "asking for what is not there leaves nothing behind")
}

// TestOpenReplyBeforeItsFramesAreDelivered asks for a capture while its partition is held: its frames
// are read for the reply, and are not folded twice when they are delivered.
func TestOpenReplyBeforeItsFramesAreDelivered(t *testing.T) {
	s := natstest.Start(t)
	held := newTap(t, s.JS, identity(1))
	n := 2
	for identity(n).Partition(schema.Partitions) != held.id.Partition(schema.Partitions) {
		n++
	}
	other := newTap(t, s.JS, identity(n))
	release := make(chan struct{})
	js := &fault{JetStream: s.JS, before: func() { <-release }}
	held.say(t, script...)
	other.say(t, script[:4]...)
	w, _ := run(t, stage.Options{JS: js, Backlog: 1})
	reply := ask(t, s.NC, other.id)
	require.EqualValues(t, 5, reply.Frame)
	progress, err := w.Progress(bounded(t))
	require.NoError(t, err)
	var lag uint64
	for _, p := range progress.Partitions {
		lag += p.Lag
	}
	require.NotZero(t, lag)
	close(release)
	other.say(t, script[4:]...)
	for _, tp := range []*tap{held, other} {
		require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	}
	check(t, s.JS, held, other)
}

func TestOpenReplyOfAParkedCapture(t *testing.T) {
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	tp.say(t, "say 1 Good ", "panic", "say 1 morning")
	for range 2 {
		w, stop := run(t, stage.Options{JS: s.JS})
		require.ErrorIs(t, w.Committed(bounded(t), tp.id, 4), stage.ErrParked)
		reply := ask(t, s.NC, tp.id)
		require.Equal(t, string(stage.ReasonPanic), reply.Parked)
		require.EqualValues(t, 2, reply.Frame)
		require.Equal(t, "words/1", reply.Translator)
		stop()
	}
}

// TestBacklogHoldsThePartition: while nothing can be stored, frames wait in the stream, not in memory.
func TestBacklogHoldsThePartition(t *testing.T) {
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	for range 50 {
		tp.say(t, "title 1 "+strings.Repeat("x", 1000))
	}
	held, release := make(chan struct{}), make(chan struct{})
	first := true
	js := &fault{JetStream: s.JS, before: func() {
		if first {
			first = false
			close(held)
		}
		<-release
	}}
	const limit = 10_000
	w, _ := run(t, stage.Options{JS: js, InFlight: 1, Backlog: limit})
	<-held
	p := tp.id.Partition(schema.Partitions)
	for {
		progress, err := w.Progress(bounded(t))
		require.NoError(t, err)
		one := progress.Partitions[p]
		require.LessOrEqual(t, one.Backlog, limit+2000, "at most one frame above the bound")
		require.Less(t, one.Folded, one.Last)
		if one.Backlog >= limit {
			break
		}
	}
	close(release)
	require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	check(t, s.JS, tp)
}
