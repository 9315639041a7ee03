package givingback_test

import (
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink/archive/keeper"
	"github.com/steno-io/steno/sink/verify"
)

// TestAllGoesWhileItIsRead: readers of one capture and of all hold 8 MiB in advance. What they have not read by
// then goes, the frame that was the last one when they began among it.
func TestAllGoesWhileItIsRead(t *testing.T) {
	t.Parallel()
	const n = 26
	s := newSite(t)
	s.translate()
	in := frames(1, n)
	for i := range in[1:] {
		in[i+1].Data = []byte(`{"jsonrpc":"2.0","method":"x/n","params":"` + strings.Repeat("x", 400<<10) + `"}`)
	}
	s.append("one", in)
	s.settled(n)
	require.NoError(t, s.keeper(s.JS, func(o *keeper.Options) { o.Keep = 0 }).Round(bounded(t)))

	one, stopOne := iter.Pull2(s.joined().Frames(bounded(t), s.id, 1))
	defer stopOne()
	stream := verify.Stream{JS: s.JS, Blobs: s.blobs, Partitions: s.Info.Partitions, Returned: s.joined().Between}
	all, stopAll := iter.Pull2(stream.Frames(bounded(t)))
	defer stopAll()
	read := func(from, to int) {
		t.Helper()
		for i := from; i <= to; i++ {
			f, err, more := one()
			require.NoError(t, err)
			require.True(t, more, "frame %d", i)
			require.Equal(t, s.told[i-1], f)
			of, err, more := all()
			require.NoError(t, err)
			require.True(t, more, "frame %d of all", i)
			require.NoError(t, of.Unreadable)
			require.Equal(t, s.told[i-1], *of.Frame)
		}
	}
	read(1, 2)
	s.append("one", frames(n+1, n+1))
	require.NoError(t, topology.WriteReturned(bounded(t), s.JS, s.id, topology.Returned{Frame: n}))
	subject := schema.RawSubject(s.id, s.Info.Partitions)
	last, _, err := topology.Last(bounded(t), s.JS, topology.Raw, subject)
	require.NoError(t, err)
	require.NoError(t, topology.Purge(bounded(t), s.JS, topology.Raw, subject, last.Seq, func(topology.Message) error { return nil }))
	read(3, n)
	_, _, more := one()
	require.False(t, more)
	_, _, more = all()
	require.False(t, more)
}
