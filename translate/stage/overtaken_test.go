package stage_test

import (
	"context"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/translate/stage"
)

// parking is a JetStream with something that happens around the first write that parks a capture.
type parking struct {
	jetstream.JetStream
	subject       string
	once          sync.Once
	before, after func() // after: the answer is lost
}

func (p *parking) PublishMsg(ctx context.Context, msg *nats.Msg, opts ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	if msg.Subject != p.subject {
		return p.JetStream.PublishMsg(ctx, msg, opts...)
	}
	var err error
	p.once.Do(func() {
		if p.before != nil {
			p.before()
			return
		}
		if _, err = p.JetStream.PublishMsg(ctx, msg, opts...); err == nil {
			p.after()
			err = errInjected
		}
	})
	if err != nil {
		return nil, err
	}
	return p.JetStream.PublishMsg(ctx, msg, opts...)
}

// bringBack puts the missing bytes back and asks for the capture, which is parked.
func bringBack(t *testing.T, s *natstest.Server, tp *tap, lost []byte) (revision uint64) {
	t.Helper()
	_, err := tp.blobs.Put(bounded(t), tp.id, lost)
	require.NoError(t, err)
	revision, err = stage.Redrive(bounded(t), s.JS, onlyParked(t, s))
	require.NoError(t, err)
	return revision
}

// The write that parks a capture is stored and its answer lost, and before its worker hears of that the
// capture is to be folded again: the write is not made again.
func TestAParkIsStoredAndRedrivenBeforeItsWorkerKnows(t *testing.T) {
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	lost := missingBlob(t, s, tp)
	asked := make(chan uint64, 1)
	js := &parking{JetStream: s.JS, subject: topology.ParkedSubject(tp.id.Subject()), after: func() { asked <- bringBack(t, s, tp, lost) }}
	w, _ := run(t, stage.Options{JS: js})
	again, err := stage.AwaitRedrive(bounded(t), s.JS, tp.id, <-asked)
	require.NoError(t, err)
	require.Nil(t, again)
	tp.say(t, script...)
	require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	listed, err := stage.ListParked(bounded(t), s.JS)
	require.NoError(t, err)
	require.Empty(t, listed)
	check(t, s.JS, tp)
}

// A worker that was away for long comes to park what another one has parked, and what has come through
// since.
func TestAParkThatIsOvertaken(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	_, otherJS := s.Connect(t)
	tp := newTap(t, s.JS, identity(1))
	lost := missingBlob(t, s, tp)
	js := &parking{JetStream: s.JS, subject: topology.ParkedSubject(tp.id.Subject()), before: func() {
		other, stop := run(t, stage.Options{JS: otherJS})
		require.ErrorIs(t, other.Committed(bounded(t), tp.id, uint64(len(tp.frames))), stage.ErrParked)
		again, err := stage.AwaitRedrive(bounded(t), s.JS, tp.id, bringBack(t, s, tp, lost))
		require.NoError(t, err)
		require.Nil(t, again)
		stop()
	}}
	w, _ := run(t, stage.Options{JS: js})
	require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	tp.say(t, script...)
	require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	listed, err := stage.ListParked(bounded(t), s.JS)
	require.NoError(t, err)
	require.Empty(t, listed)
	check(t, s.JS, tp)
}

// One key that cannot be read parks its capture, and no other.
func TestAParkedKeyThatCannotBeRead(t *testing.T) {
	s := natstest.Start(t)
	bad, good := newTap(t, s.JS, identity(1)), newTap(t, s.JS, identity(2))
	bad.say(t, script...)
	good.say(t, script...)
	_, err := s.JS.Publish(bounded(t), topology.ParkedSubject(bad.id.Subject()), []byte("{"))
	require.NoError(t, err)
	w, _ := run(t, stage.Options{JS: s.JS})
	require.NoError(t, w.Committed(bounded(t), good.id, uint64(len(good.frames))))
	require.ErrorIs(t, w.Committed(bounded(t), bad.id, 1), stage.ErrParked)
	require.Equal(t, stage.ReasonKey, onlyParked(t, s).Reason)
	require.Nil(t, redrive(t, s, onlyParked(t, s)))
	check(t, s.JS, bad, good)
}
