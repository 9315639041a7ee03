package topology_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
)

func TestReturnedIsWrittenBehindWhatWasRead(t *testing.T) {
	ctx := deadline(t)
	s := natstest.Start(t)
	r, err := topology.ReadReturned(ctx, s.JS, identity)
	require.NoError(t, err)
	require.Zero(t, r)
	r = topology.Returned{Frame: 3, Archive: "/srv/archive", Writers: map[string]uint64{"j": 9}}
	require.NoError(t, topology.WriteReturned(ctx, s.JS, identity, r))
	err = topology.WriteReturned(ctx, s.JS, identity, r)
	require.Equal(t, topology.Refused, topology.Classify(err), "somebody has written it since")
	there, err := topology.ReadReturned(ctx, s.JS, identity)
	require.NoError(t, err)
	require.NotZero(t, there.Revision)
	r.Revision = there.Revision
	require.Equal(t, r, there)

	other := identity
	other.Attempt++
	require.NoError(t, topology.WriteReturned(ctx, s.JS, other, topology.Returned{Frame: 1}))
	_, err = s.JS.Publish(ctx, topology.ParkedSubject("low.3"), []byte("{}"))
	require.NoError(t, err)
	all, err := topology.ListReturned(ctx, s.JS)
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, there, all[identity])
}

func TestPurgeKeepsTheLastMessage(t *testing.T) {
	ctx := deadline(t)
	s := natstest.Start(t)
	subject := schema.RawSubject(identity, s.Info.Partitions)
	_, ok, err := topology.First(ctx, s.JS, topology.Raw, subject)
	require.NoError(t, err)
	require.False(t, ok)
	require.ErrorContains(t, topology.Purge(ctx, s.JS, topology.Raw, subject, 1), "it would take the last message")
	for range 3 {
		_, err := s.JS.Publish(ctx, subject, nil)
		require.NoError(t, err)
	}
	require.ErrorContains(t, topology.Purge(ctx, s.JS, topology.Raw, subject, 4), "it would take the last message")
	for range 2 {
		require.NoError(t, topology.Purge(ctx, s.JS, topology.Raw, subject, 3))
		first, ok, err := topology.First(ctx, s.JS, topology.Raw, subject)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, uint64(3), first.Seq)
	}
}
