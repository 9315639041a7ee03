package stage_test

import (
	"context"
	"encoding/json"
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

// frozen is the JetStream of a worker that stops at its first write on a subject, and with it all that it
// publishes, until it is woken up.
type frozen struct {
	jetstream.JetStream
	on    string
	once  sync.Once
	away  chan struct{}
	awake chan struct{}
}

func (f *frozen) wait(ctx context.Context) error {
	select {
	case <-f.away:
	default:
		return nil
	}
	select {
	case <-f.awake:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *frozen) PublishMsg(ctx context.Context, msg *nats.Msg, opts ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	if msg.Subject == f.on {
		f.once.Do(func() { close(f.away) })
	}
	if err := f.wait(ctx); err != nil {
		return nil, err
	}
	return f.JetStream.PublishMsg(ctx, msg, opts...)
}

func (f *frozen) Publish(ctx context.Context, subject string, data []byte, opts ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	if err := f.wait(ctx); err != nil {
		return nil, err
	}
	return f.JetStream.Publish(ctx, subject, data, opts...)
}

// leased makes a worker one of several.
func leased(js jetstream.JetStream, name string) stage.Options {
	return often(stage.Options{JS: js, Leases: &stage.Leases{Worker: name, TTL: time.Second}})
}

// TestZombiesFirstMark: a worker takes a partition, and is stopped when it first writes the mark. Its
// leases end; another one takes the partition, and stores marks. The first one wakes up before it hears
// that its leases are lost: its write is refused, and so is every later one. The other one's marks go on.
func TestZombiesFirstMark(t *testing.T) {
	s := natstest.Start(t)
	n := 1
	for identity(n).Partition(schema.Partitions) >= schema.Partitions/2 { // of two workers "w" keeps the lower half
		n++
	}
	tp := newTap(t, s.JS, identity(n))
	_, js := s.Connect(t)
	stopped := &frozen{JetStream: js, on: topology.ParkedSubject(markKey(tp.id)), away: make(chan struct{}), awake: make(chan struct{})}
	zombie, _ := run(t, leased(stopped, "z"))
	<-stopped.away
	w, _ := run(t, leased(s.JS, "w"))
	require.NoError(t, await(t, w, tp))
	marked(t, w, tp)
	close(stopped.awake)
	for range 20 { // it has the partition for a while
		tp.say(t, "tool 1 grep")
		require.NoError(t, await(t, w, tp))
		marked(t, w, tp)
	}
	until(t, zombie, func(p stage.Progress) bool { return partOf(p, tp.id).Mark == 0 })
	tp.say(t, script...)
	tp.say(t, "end 1")
	require.NoError(t, await(t, w, tp))
	marked(t, w, tp)
	check(t, s.JS, tp)
}

// await waits until the worker has the capture's partition, and has stored all of it.
func await(t testing.TB, w *stage.Worker, tp *tap) error {
	t.Helper()
	for ctx := bounded(t); ; {
		err := w.Committed(ctx, tp.id, uint64(len(tp.frames)))
		if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), stage.ErrNotOwned.Error()) {
			return err
		}
	}
}

// TestMarkIsTakenBack: somebody who has no lease writes the mark over the owner's, as a build did whose
// first write came late. The owner finds it, looks at its lease, and takes the partition and its mark anew.
func TestMarkIsTakenBack(t *testing.T) {
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	w, _ := run(t, leased(s.JS, "w"))
	require.NoError(t, await(t, w, tp))
	marked(t, w, tp)
	kv, err := s.JS.KeyValue(bounded(t), topology.Parked)
	require.NoError(t, err)
	entry, err := kv.Get(bounded(t), markKey(tp.id))
	require.NoError(t, err)
	var m map[string]any
	require.NoError(t, json.Unmarshal(entry.Value(), &m))
	m["writer"] = "somebody"
	text, err := json.Marshal(m)
	require.NoError(t, err)
	_, err = kv.Put(bounded(t), markKey(tp.id), text)
	require.NoError(t, err)
	tp.say(t, script...)
	tp.say(t, "end 1")
	require.NoError(t, await(t, w, tp))
	marked(t, w, tp)
	check(t, s.JS, tp)
}
