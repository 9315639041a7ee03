package topology_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
)

// lossy is a JetStream whose requests that lose accepts are not answered, as those are not that a server took
// which then went away.
func lossy(t *testing.T, s *natstest.Server, lose func(subject string) bool) jetstream.JetStream {
	_, err := s.NC.Subscribe("LOSSY.>", func(m *nats.Msg) {
		if !lose(m.Subject) {
			_ = s.NC.PublishRequest("$JS.API."+strings.TrimPrefix(m.Subject, "LOSSY."), m.Reply, m.Data) // else it is lost, too
		}
	})
	require.NoError(t, err)
	nc, err := nats.Connect(s.URL())
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.NewWithAPIPrefix(nc, "LOSSY")
	require.NoError(t, err)
	return js
}

func TestTheLastMessageIsAskedForAgain(t *testing.T) {
	t.Parallel()
	ctx := deadline(t)
	s := natstest.Start(t)
	var asked atomic.Int64
	js := lossy(t, s, func(subject string) bool { return strings.Contains(subject, ".MSG.GET.") && asked.Add(1) == 1 })
	_, ok, err := topology.Last(ctx, js, topology.Raw, "steno.raw.0.default.a.b.0.1")
	require.NoError(t, err)
	require.False(t, ok)
	require.EqualValues(t, 2, asked.Load())
}

// A caller's time is not all spent on one answer that does not come.
func TestApplyAsksAgainWithinItsContext(t *testing.T) {
	t.Parallel()
	s := natstest.StartWith(t, natstest.Options{Bare: true})
	var asked atomic.Int64
	js := lossy(t, s, func(subject string) bool { return strings.Contains(subject, ".STREAM.CREATE.") && asked.Add(1) == 1 })
	_, err := topology.Apply(deadline(t), js, topology.Config{})
	require.NoError(t, err)
	require.Greater(t, asked.Load(), int64(1))
}

// So may the server go away that was asked for a bucket.
func TestABucketThatNobodyAnswersForIsGivenUp(t *testing.T) {
	t.Parallel()
	ctx := deadline(t)
	s := natstest.Start(t)
	var asked atomic.Int64
	js := lossy(t, s, func(subject string) bool { return strings.Contains(subject, ".STREAM.INFO.") && asked.Add(1) == 1 })
	_, err := topology.Bucket(ctx, js, topology.Parked)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, topology.Parked)
	require.NoError(t, ctx.Err())
	_, err = topology.Bucket(ctx, js, topology.Parked)
	require.NoError(t, err)
}

func TestAWatchThatNobodyAnswersEnds(t *testing.T) {
	t.Parallel()
	ctx := deadline(t)
	s := natstest.Start(t)
	var lost atomic.Bool
	lost.Store(true)
	kv, err := lossy(t, s, func(subject string) bool { return lost.Load() && strings.Contains(subject, ".CONSUMER.CREATE.") }).
		KeyValue(ctx, topology.Leases)
	require.NoError(t, err)
	list := func(keys string) (found []string, err error) {
		for e, err := range topology.Entries(ctx, kv, keys) {
			if err != nil {
				return nil, err
			}
			found = append(found, e.Key())
		}
		return found, nil
	}
	_, err = list("*")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, topology.Leases)
	lost.Store(false)
	found, err := list("*")
	require.NoError(t, err)
	require.Empty(t, found)
	there, err := s.JS.KeyValue(ctx, topology.Leases)
	require.NoError(t, err)
	for _, key := range []string{"a", "b", "c"} {
		_, err := there.PutString(ctx, key, "1")
		require.NoError(t, err)
	}
	require.NoError(t, there.Delete(ctx, "b"))
	found, err = list("*")
	require.NoError(t, err)
	require.Equal(t, []string{"a", "c"}, found)
}
