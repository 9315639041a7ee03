package stage_test

import (
	"context"
	"fmt"
	"iter"
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

// say writes down that frames were given back, as the keeper does before they are purged.
func say(t testing.TB, js jetstream.JetStream, id schema.Identity, frame uint64) {
	t.Helper()
	require.NoError(t, topology.WriteReturned(bounded(t), js, id, topology.Returned{Frame: frame, Archive: "/srv/archive"}))
}

// meanwhile is a JetStream on which something happens just before the frames of one capture are read.
type meanwhile struct {
	jetstream.JetStream
	subject string
	once    sync.Once
	do      func()
}

func (m *meanwhile) CreateConsumer(ctx context.Context, stream string, c jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	if c.FilterSubject == m.subject {
		m.once.Do(m.do)
	}
	return m.JetStream.CreateConsumer(ctx, stream, c)
}

// TestFramesGoWhileTheyAreToBeRead: a worker finds no snapshot, and before it reads the frames another one has
// stored its snapshot and they were given back: it begins again, with that one. So does one that has begun
// from an older snapshot.
func TestFramesGoWhileTheyAreToBeRead(t *testing.T) {
	for _, older := range []bool{false, true} {
		s := natstest.Start(t)
		tp := newTap(t, s.JS, identity(1))
		tp.say(t, script[:2]...)
		w, stop := run(t, each(s.JS))
		require.NoError(t, w.Committed(bounded(t), tp.id, 3))
		before := saved(t, s.JS, tp.id, 3)
		tp.say(t, script[2:]...)
		n := uint64(len(tp.frames))
		require.NoError(t, w.Committed(bounded(t), tp.id, n))
		snapshot := saved(t, s.JS, tp.id, n)
		stop()
		if older {
			putBack(t, s.JS, tp.id, before.Header, before.Data)
		} else {
			state, err := s.JS.Stream(bounded(t), topology.State)
			require.NoError(t, err)
			require.NoError(t, state.Purge(bounded(t)))
		}
		tp.say(t, "say 1 and more", "end 1") // which the mark has not passed
		js := &meanwhile{JetStream: s.JS, subject: schema.RawSubject(tp.id, schema.Partitions), do: func() {
			putBack(t, s.JS, tp.id, snapshot.Header, snapshot.Data)
			say(t, s.JS, tp.id, n-1)
			purge(t, s.JS, tp.id, n)
		}}
		w, _ = run(t, stage.Options{JS: js})
		require.NoError(t, w.Committed(bounded(t), tp.id, n+2))
		progress, err := w.Progress(bounded(t))
		require.NoError(t, err)
		require.NotZero(t, progress.SnapshotsUsed)
		require.Zero(t, progress.Parked)
		check(t, s.JS, tp)
	}
}

// TestSealedAwayIsFoldedOutOfTheArchive: without its snapshot a capture of which frames were given back is
// parked, and says what to do. With the archive it is folded again, and goes on.
func TestSealedAwayIsFoldedOutOfTheArchive(t *testing.T) {
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	tp.say(t, script...)
	n := uint64(len(tp.frames))
	w, stop := run(t, each(s.JS))
	require.NoError(t, w.Committed(bounded(t), tp.id, n))
	m := saved(t, s.JS, tp.id, n)
	stop()
	events := schema.EventSubject(tp.id, schema.Partitions)
	before, _, err := topology.Last(bounded(t), s.JS, topology.Events, events)
	require.NoError(t, err)
	say(t, s.JS, tp.id, n-1)
	purge(t, s.JS, tp.id, n)
	m.Header.Set(schema.HeaderSHA, strings.Repeat("0", 64)) // it is damaged
	putBack(t, s.JS, tp.id, m.Header, m.Data)
	unmark(t, s.JS, tp.id)
	tp.say(t, "say 1 late", "end 1")

	w, stop = run(t, stage.Options{JS: s.JS})
	require.ErrorIs(t, w.Committed(bounded(t), tp.id, n+2), stage.ErrParked)
	listed, err := stage.ListParked(bounded(t), s.JS)
	require.NoError(t, err)
	require.Len(t, listed, 1, "what was given back is no parked capture")
	require.Equal(t, stage.ReasonSealed, listed[0].Reason)
	require.Contains(t, listed[0].Error, "are in archive /srv/archive")
	require.Contains(t, listed[0].Error, "give the translator the archive (--archive), then steno redrive")
	require.Contains(t, listed[0].Error, "snapshot not to be trusted")
	stop()
	record, _, err := topology.Last(bounded(t), s.JS, topology.Events, events)
	require.NoError(t, err)
	require.Equal(t, before.Seq, record.Seq, "nothing was stored")

	_, err = stage.Redrive(bounded(t), s.JS, listed[0])
	require.NoError(t, err)
	asked := 0
	archived := func(_ context.Context, _ schema.Identity, first, last uint64) iter.Seq2[schema.Frame, error] {
		return func(yield func(schema.Frame, error) bool) {
			asked++
			for _, f := range tp.frames[first-1 : last] {
				if asked < 3 && f.Seq == 2*uint64(asked) { // on the way, twice
					yield(schema.Frame{}, fmt.Errorf("%w: %w", topology.ErrReturned, topology.ErrAway))
					return
				}
				if !yield(f, nil) {
					return
				}
			}
		}
	}
	w, _ = run(t, stage.Options{JS: s.JS, Returned: archived, SnapshotEvery: 1})
	require.NoError(t, w.Committed(bounded(t), tp.id, n+2))
	check(t, s.JS, tp)
	saved(t, s.JS, tp.id, n+2)
	require.Equal(t, 3, asked, "an archive that cannot be read is asked again, and parks nothing")
}

// stating notes the frames of the snapshots that are published.
type stating struct {
	jetstream.JetStream
	mu     sync.Mutex
	frames []string
}

func (s *stating) PublishMsg(ctx context.Context, msg *nats.Msg, opts ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	if strings.HasPrefix(msg.Subject, "steno.state.") {
		s.mu.Lock()
		s.frames = append(s.frames, msg.Header.Get(schema.HeaderSeq))
		s.mu.Unlock()
	}
	return s.JetStream.PublishMsg(ctx, msg, opts...)
}

// TestADistrustedSnapshotIsNotMovedBack: a fold that began from a false snapshot fails and begins again at frame 1.
// What it saves on its way is behind the one that stands, which it replaces when it has come as far: the frames
// in between may be gone by then.
func TestADistrustedSnapshotIsNotMovedBack(t *testing.T) {
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	tp.say(t, script[:2]...)
	w, stop := run(t, each(s.JS))
	require.NoError(t, w.Committed(bounded(t), tp.id, 3))
	m := saved(t, s.JS, tp.id, 3)
	stop()
	one, err := schema.DecodeSnapshot(tp.id, m.Header, m.Data)
	require.NoError(t, err)
	one.State = []byte(strings.Replace(string(one.State), "Good", "Evil", 1))
	tp.say(t, script[2]) // ends the message
	w, stop = run(t, stage.Options{JS: s.JS})
	require.NoError(t, w.Committed(bounded(t), tp.id, 4))
	stop()
	putBack(t, s.JS, tp.id, one.Header(tp.id), one.State)
	unmark(t, s.JS, tp.id)
	js := &stating{JetStream: s.JS}
	w, _ = run(t, each(js))
	tp.say(t, "tool 1 grep")
	n := uint64(len(tp.frames))
	require.NoError(t, w.Committed(bounded(t), tp.id, n))
	saved(t, s.JS, tp.id, n)
	progress, err := w.Progress(bounded(t))
	require.NoError(t, err)
	require.EqualValues(t, 1, progress.SnapshotsDistrusted)
	js.mu.Lock()
	defer js.mu.Unlock()
	require.NotContains(t, js.frames, "1")
	require.NotContains(t, js.frames, "2")
	check(t, s.JS, tp)
}
