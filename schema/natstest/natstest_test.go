package natstest_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
)

func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

const subject = "steno.raw.3.n.w.r.0.1"

func TestRestartKeepsStoreAndAddress(t *testing.T) {
	s := natstest.StartWith(t, natstest.Options{Config: topology.Config{Partitions: 8}})
	require.Equal(t, uint32(8), s.Info.Partitions)
	url := s.URL()
	_, err := s.JS.Publish(deadline(t), subject, []byte("before"))
	require.NoError(t, err)
	for range 2 {
		s.Restart(t)
		require.Equal(t, url, s.URL())
		require.Eventually(t, s.NC.IsConnected, 10*time.Second, 5*time.Millisecond)
		var m topology.Message
		require.Eventually(t, func() bool { // a server that has just begun answers when its disk lets it
			var ok bool
			var err error
			m, ok, err = topology.Last(deadline(t), s.JS, topology.Raw, subject)
			return err == nil && ok
		}, time.Minute, 10*time.Millisecond)
		require.Equal(t, "before", string(m.Data))
	}
	info, err := topology.Check(deadline(t), s.JS)
	require.NoError(t, err)
	require.Equal(t, s.Info, info)
}

func TestStopLeavesNobody(t *testing.T) {
	s := natstest.Start(t)
	s.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := s.JS.Publish(ctx, subject, nil)
	require.Error(t, err)
	s.Restart(t)
	require.Eventually(t, s.NC.IsConnected, 10*time.Second, 5*time.Millisecond)
	_, err = s.JS.Publish(deadline(t), subject, nil)
	require.NoError(t, err)
}

func TestInProcess(t *testing.T) {
	s := natstest.StartWith(t, natstest.Options{SyncAlways: true})
	_, js := s.InProcess(t)
	ack, err := js.Publish(deadline(t), subject, nil)
	require.NoError(t, err)
	require.Equal(t, topology.Raw, ack.Stream)
}

func TestClusterGoesOnWithoutAMember(t *testing.T) {
	c := natstest.StartCluster(t, topology.Config{Partitions: 4})
	require.Equal(t, uint32(4), c.Info.Partitions)
	require.Equal(t, 3, c.Info.Replicas)
	ack, err := c.JS.Publish(deadline(t), subject, nil)
	require.NoError(t, err)

	leader := c.Leader(t, topology.Raw)
	require.GreaterOrEqual(t, leader, 0)
	c.StopMember(leader)
	require.Eventually(t, func() bool {
		answered, cancel := context.WithTimeout(deadline(t), 2*time.Second) // one that went to the leader is not
		defer cancel()
		_, err := c.JS.Publish(answered, subject, nil, jetstream.WithExpectLastSequencePerSubject(ack.Sequence))
		return err == nil || topology.Classify(err) == topology.Refused // an earlier try whose answer was lost
	}, 30*time.Second, 50*time.Millisecond)
	require.NotEqual(t, leader, c.Leader(t, topology.Raw))
	c.StartMember(t, leader)

	var read int
	for _, err := range topology.Read(deadline(t), c.JS, topology.Raw, subject, 1) {
		require.NoError(t, err)
		read++
	}
	require.Equal(t, 2, read)
	_, js := c.Connect(t)
	blobs, err := topology.OpenBlobs(deadline(t), js)
	require.NoError(t, err)
	id := schema.Identity{Namespace: "n", Workflow: "w", Run: "r", Attempt: 1}
	sha, err := blobs.Put(deadline(t), id, make([]byte, 1<<20))
	require.NoError(t, err)
	data, err := blobs.Get(deadline(t), id, sha)
	require.NoError(t, err)
	require.Len(t, data, 1<<20)
}
