package topology_test

import (
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
)

func TestAKeyIsFiledOnce(t *testing.T) {
	ctx := deadline(t)
	s := natstest.Start(t)
	keys, err := topology.OpenFiled(ctx, s.JS)
	require.NoError(t, err)
	key := topology.TaskKey("n", "w", "peer", "task/with .any* >characters")
	_, ok, err := keys.Get(ctx, key)
	require.NoError(t, err)
	require.False(t, ok)

	answers := make([]topology.Filing, 8)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() {
			f := topology.Filing{Capture: schema.Identity{Namespace: "n", Workflow: "w", Run: "r", Attempt: uint32(i)}, Offset: uint64(i)}
			var err error
			answers[i], err = keys.Keep(ctx, key, f)
			require.NoError(t, err)
		})
	}
	all.Wait()
	there, ok, err := keys.Get(ctx, key)
	require.NoError(t, err)
	require.True(t, ok)
	for _, a := range answers {
		require.Equal(t, there, a, "all get what the first one filed")
	}
}

func TestAnInterventionIsClaimedOnce(t *testing.T) {
	ctx := deadline(t)
	s := natstest.Start(t)
	keys, err := topology.OpenFiled(ctx, s.JS)
	require.NoError(t, err)
	capture := schema.Identity{Namespace: "n", Workflow: "w", Run: "r", Attempt: 1}
	other := capture
	other.Run = "s"
	for _, c := range []struct {
		capture schema.Identity
		id      string
		mine    bool
	}{{capture, "i", true}, {capture, "i", false}, {capture, "j", true}, {other, "i", true}, {capture, "i", false}} {
		mine, err := keys.Claim(ctx, c.capture, c.id)
		require.NoError(t, err)
		require.Equal(t, c.mine, mine, c)
	}
}

func TestKeysAreApart(t *testing.T) {
	one := topology.TaskKey("n", "w", "peer", "t")
	for _, other := range []string{
		topology.TaskKey("n", "w", "peer", "u"), topology.TaskKey("n", "w", "other", "t"), topology.TaskKey("m", "w", "peer", "t"),
		topology.TaskKey("n", "v", "peer", "t"), topology.ExchangeKey(uuid.Nil),
	} {
		require.NotEqual(t, one, other)
	}
}

func TestFiledIsMissingBeforeApply(t *testing.T) {
	s := natstest.StartWith(t, natstest.Options{Bare: true})
	_, err := topology.OpenFiled(deadline(t), s.JS)
	require.ErrorIs(t, err, topology.ErrMissing)
}
