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

// A server that goes between a request and its answer leaves it unanswered, whatever comes in its place.
func TestAWatchThatNobodyAnswersEnds(t *testing.T) {
	t.Parallel()
	ctx := deadline(t)
	s := natstest.Start(t)
	var lost atomic.Bool
	lost.Store(true)
	_, err := s.NC.Subscribe("LOSSY.>", func(m *nats.Msg) {
		if !lost.Load() || !strings.Contains(m.Subject, ".CONSUMER.CREATE.") {
			_ = s.NC.PublishRequest("$JS.API."+strings.TrimPrefix(m.Subject, "LOSSY."), m.Reply, m.Data) // else it is lost, too
		}
	})
	require.NoError(t, err)
	nc, err := nats.Connect(s.URL())
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.NewWithAPIPrefix(nc, "LOSSY")
	require.NoError(t, err)
	kv, err := js.KeyValue(ctx, topology.Leases)
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
