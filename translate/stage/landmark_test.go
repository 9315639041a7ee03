package stage_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/translate/stage"
)

// heldStreams is a JetStream of which one stream is not found until it is let go; others are as they are.
type heldStreams struct {
	jetstream.JetStream
	mu   sync.Mutex
	held map[string]*hold
}

// hold holds a call.
type hold struct{ reached, goOn chan struct{} }

// next holds the next call that asks for a stream.
func (h *heldStreams) next(name string) *hold {
	h.mu.Lock()
	defer h.mu.Unlock()
	one := &hold{make(chan struct{}), make(chan struct{})}
	if h.held == nil {
		h.held = map[string]*hold{}
	}
	h.held[name] = one
	return one
}

func (h *heldStreams) Stream(ctx context.Context, name string) (jetstream.Stream, error) {
	h.mu.Lock()
	one := h.held[name]
	delete(h.held, name)
	h.mu.Unlock()
	if one != nil {
		close(one.reached)
		<-one.goOn
	}
	return h.JetStream.Stream(ctx, name)
}

// TestOlderCopyWithANewPastBehindIt: a partition is behind, and one capture of it was read beyond that, to
// frame 4. A copy of the store comes back that ends at frame 3; other frames are stored at once, more than
// were lost, and the first of another capture is read before anybody has looked at the streams. That one is
// where it should be; the lost frame is found missing all the same.
func TestOlderCopyWithANewPastBehindIt(t *testing.T) {
	s := natstest.Start(t)
	p := identity(1).Partition(schema.Partitions)
	n := 1
	neighbour := func() schema.Identity {
		for n++; identity(n).Partition(schema.Partitions) != p; n++ {
		}
		return identity(n)
	}
	slow := newTap(t, s.JS, identity(1))
	slow.say(t, "say 1 "+strings.Repeat("0123456789abcdef", 40<<10))
	ahead := newTap(t, s.JS, neighbour())
	ahead.say(t, "say 1 x ", "tool 1 grep")
	first, kill := killed(t, s, stage.Options{Partitions: []uint32{p}})
	require.NoError(t, first.Committed(bounded(t), slow.id, 1))
	require.NoError(t, first.Committed(bounded(t), ahead.id, 3))
	kill()
	kv, err := s.JS.KeyValue(bounded(t), topology.Parked)
	require.NoError(t, err)
	require.NoError(t, kv.Delete(bounded(t), markKey(slow.id)))
	back := copyStore(t, s)
	good := ahead.frames
	ahead.say(t, "say 1 lost ")

	conn, js := s.Connect(t)
	streams := &heldStreams{JetStream: js}
	blobs := &heldBlobs{JetStream: streams, away: make(chan struct{}), back: make(chan struct{})}
	w, _ := run(t, stage.Options{JS: blobs, Partitions: []uint32{p}})
	<-blobs.away
	require.EqualValues(t, 4, ask(t, s.NC, ahead.id).Frame)
	look := streams.next("KV_STENO_LEASES") // which only whoever checks the streams asks for
	read := streams.next(topology.Raw)
	late := neighbour()
	require.NoError(t, s.NC.PublishRequest(schema.OpenSubject(late, schema.Partitions), s.NC.NewInbox(), nil))
	<-read.reached
	back()
	ahead.frames = good[:3:3]
	ahead.say(t, "say 2 it went otherwise ", "say 2 and on ")
	other := newTap(t, s.JS, late)
	reconnected(t, conn)
	<-look.reached
	close(read.goOn)
	other.say(t, script...)
	close(look.goOn)
	close(blobs.back)
	ahead.say(t, "end 1", "end 2")
	require.NoError(t, w.Committed(bounded(t), ahead.id, uint64(len(ahead.frames))))
	check(t, s.JS, slow, ahead, other)
}

// TestARecordsNumberIsGivenAgain: the last records are lost, and made again by another worker before this one
// has looked. The newest is where it was. So is one of another capture, by its number; but it holds less than
// the one that was there, and what comes next must not be stored behind it.
func TestARecordsNumberIsGivenAgain(t *testing.T) {
	s := natstest.Start(t)
	p := identity(1).Partition(schema.Partitions)
	n := 2
	for identity(n).Partition(schema.Partitions) != p {
		n++
	}
	back := copyStream(t, s, topology.Events)
	conn, js := s.Connect(t)
	streams := &heldStreams{JetStream: js}
	w, _ := run(t, stage.Options{JS: streams, Partitions: []uint32{p}})
	tp := newTap(t, s.JS, identity(1))
	require.NoError(t, w.Committed(bounded(t), tp.id, 1))
	tp.say(t, "tool 1 grep")
	require.NoError(t, w.Committed(bounded(t), tp.id, 2))
	newest := newTap(t, s.JS, identity(n))
	for identity(n).Partition(schema.Partitions) == p {
		n++
	}
	require.NoError(t, w.Committed(bounded(t), newest.id, 1))
	var records []topology.Message
	for m, err := range topology.Read(bounded(t), s.JS, topology.Events, "steno.event.>", 1) {
		require.NoError(t, err)
		records = append(records, m)
	}
	require.Len(t, records, 3)

	look := streams.next("KV_STENO_LEASES")
	back()
	reconnected(t, conn)
	<-look.reached
	elsewhere := newTap(t, s.JS, identity(n))
	other, _ := run(t, stage.Options{JS: s.JS, Partitions: []uint32{elsewhere.id.Partition(schema.Partitions)}})
	require.NoError(t, other.Committed(bounded(t), elsewhere.id, 1))
	for i, m := range []topology.Message{records[0], records[2]} {
		ack, err := s.JS.PublishMsg(bounded(t), &nats.Msg{Subject: m.Subject, Header: m.Header, Data: m.Data})
		require.NoError(t, err)
		require.EqualValues(t, 2+i, ack.Sequence)
	}
	close(look.goOn)
	tp.say(t, "tool 1 make", "end 1")
	require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	check(t, s.JS, tp, newest, elsewhere)
}
