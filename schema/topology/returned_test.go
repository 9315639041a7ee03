package topology_test

import (
	"errors"
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

	kv, err := s.JS.KeyValue(ctx, topology.Parked)
	require.NoError(t, err)
	require.NoError(t, kv.Delete(ctx, "returned."+identity.Subject()))
	all, err = topology.ListReturned(ctx, s.JS)
	require.NoError(t, err)
	require.Len(t, all, 1)
	gone, err := topology.ReadReturned(ctx, s.JS, identity)
	require.NoError(t, err)
	require.Equal(t, topology.Returned{Revision: gone.Revision}, gone)
	require.Greater(t, gone.Revision, there.Revision)
	r.Revision = gone.Revision
	require.NoError(t, topology.WriteReturned(ctx, s.JS, identity, r), "it is written behind what took it away")
}

func TestPurgeKeepsTheLastMessage(t *testing.T) {
	ctx := deadline(t)
	s := natstest.Start(t)
	subject := schema.RawSubject(identity, s.Info.Partitions)
	_, ok, err := topology.First(ctx, s.JS, topology.Raw, subject)
	require.NoError(t, err)
	require.False(t, ok)
	never := func(topology.Message) error { return errors.New("nobody is to ask") }
	require.ErrorContains(t, topology.Purge(ctx, s.JS, topology.Raw, subject, 1, never), "it would take the last message")
	for range 3 {
		_, err := s.JS.Publish(ctx, subject, nil)
		require.NoError(t, err)
	}
	require.ErrorContains(t, topology.Purge(ctx, s.JS, topology.Raw, subject, 4, never), "it would take the last message")
	other := errors.New("it is another one")
	require.ErrorIs(t, topology.Purge(ctx, s.JS, topology.Raw, subject, 3, func(topology.Message) error { return other }), other)
	first := func() uint64 {
		m, ok, err := topology.First(ctx, s.JS, topology.Raw, subject)
		require.NoError(t, err)
		require.True(t, ok)
		return m.Seq
	}
	require.Equal(t, uint64(1), first())
	asked := 0
	for range 2 {
		require.NoError(t, topology.Purge(ctx, s.JS, topology.Raw, subject, 3, func(m topology.Message) error {
			require.Equal(t, uint64(2), m.Seq)
			asked++
			return nil
		}))
		require.Equal(t, uint64(3), first())
	}
	require.Equal(t, 1, asked, "the second time nothing is left to do")
}
