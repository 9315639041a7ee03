package stage_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/translate/stage"
)

// late is a JetStream that holds the snapshot of one frame back until it is let go, and all snapshots
// after that one for ever.
type late struct {
	jetstream.JetStream
	frame      string
	away, back chan struct{}
	written    chan error // how the write that was held went
	once       sync.Once
}

func newLate(js jetstream.JetStream, frame string) *late {
	return &late{JetStream: js, frame: frame, away: make(chan struct{}), back: make(chan struct{}), written: make(chan error, 1)}
}

func (l *late) PublishMsg(ctx context.Context, msg *nats.Msg, opts ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	if !strings.HasPrefix(msg.Subject, "steno.state.") {
		return l.JetStream.PublishMsg(ctx, msg, opts...)
	}
	held := false
	if msg.Header.Get(schema.HeaderSeq) == l.frame {
		l.once.Do(func() { held = true; close(l.away) })
	}
	if held {
		<-l.back
		ack, err := l.JetStream.PublishMsg(ctx, msg, opts...)
		l.written <- err
		return ack, err
	}
	select {
	case <-l.away:
		<-ctx.Done()
		return nil, ctx.Err()
	default:
		return l.JetStream.PublishMsg(ctx, msg, opts...)
	}
}

// TestZombiesLateSnapshot: a worker has put the state of its snapshot of frame 3 into the bucket and is
// stopped before it publishes what names it. The next one goes on from the snapshot of frame 2, stores one
// of frame 3, which has the same state, and one of frame 4, and deletes the state of frame 3. The first one
// wakes up: its snapshot of frame 3 does not replace that of frame 4, else nothing could be gone on from
// once the frames before are purged.
func TestZombiesLateSnapshot(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	tp.say(t, "say 1 "+strings.Repeat("0123456789abcdef", 40<<10))
	js := newLate(s.JS, "3")
	_, stopZombie := run(t, each(js, tp))
	saved(t, s.JS, tp.id, 2)
	tp.say(t, "say 1 more ")
	<-js.away

	w, stop := run(t, each(s.JS, tp))
	saved(t, s.JS, tp.id, 3)
	tp.say(t, "say 1 and more ")
	saved(t, s.JS, tp.id, 4)
	until(t, w, func(p stage.Progress) bool { return p.Snapshots == 2 })
	stop()
	close(js.back)
	require.Equal(t, topology.Refused, topology.Classify(<-js.written))
	stopZombie()
	m := saved(t, s.JS, tp.id, 4)
	_, err := tp.blobs.States().Get(bounded(t), tp.id, m.Header.Get(schema.HeaderBlob))
	require.NoError(t, err)

	purge(t, s.JS, tp.id, 4)
	unmark(t, s.JS, tp.id)
	tp.say(t, "end 1")
	w, _ = run(t, stage.Options{JS: s.JS, Partitions: alone(tp)})
	require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	check(t, s.JS, tp)
}

// TestAStateOutlivesAZombiesBelief: a worker stores a snapshot of frame 2 and is stopped before it deletes
// the state of the one that it replaced. Meanwhile the snapshot that stands has the same bytes as that one
// again. The first one wakes up and deletes what it replaced: the one that stands keeps its state.
func TestAStateOutlivesAZombiesBelief(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	tp.say(t, "say 1 "+strings.Repeat("0123456789abcdef", 40<<10))
	_, stop := run(t, each(s.JS, tp))
	old := saved(t, s.JS, tp.id, 2)
	stop()
	states := tp.blobs.States()
	state, err := states.Get(bounded(t), tp.id, old.Header.Get(schema.HeaderBlob))
	require.NoError(t, err)

	again := nats.Header{}
	for name, values := range old.Header {
		again[name] = values
	}
	js := &fault{JetStream: s.JS, on: "steno.state."}
	n := 0
	js.after = func() {
		if n++; n != 1 { // the snapshot of frame 3 is stored; its worker does not know yet
			return
		}
		name, err := states.Put(bounded(t), tp.id, state)
		require.NoError(t, err)
		again.Set(schema.HeaderBlob, name)
		putBack(t, s.JS, tp.id, again, nil)
	}
	tp.say(t, "say 1 more ")
	w, stop := run(t, each(js, tp))
	until(t, w, func(p stage.Progress) bool { return p.Snapshots == 1 })
	require.Eventually(t, func() bool {
		_, err := states.Get(bounded(t), tp.id, old.Header.Get(schema.HeaderBlob))
		return errors.Is(err, topology.ErrBlob)
	}, time.Minute, time.Millisecond, "it deletes what it replaced")
	stop()
	saved(t, s.JS, tp.id, 2)
	purge(t, s.JS, tp.id, 3)
	unmark(t, s.JS, tp.id)
	tp.say(t, "end 1")
	w, _ = run(t, stage.Options{JS: s.JS, Partitions: alone(tp)})
	require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	check(t, s.JS, tp)
}
