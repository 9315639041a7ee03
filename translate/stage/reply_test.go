package stage_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/translate/stage"
)

// Whoever may ask what is open does not get to write or call by it: an answer goes to an inbox, never to a
// subject of the streams or of the server, which the worker may publish to and the asker may not.
func TestAnAnswerGoesToAnInboxOnly(t *testing.T) {
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	tp.say(t, "say 1 Hello")
	w, _ := run(t, stage.Options{JS: s.JS})
	require.NoError(t, w.Committed(bounded(t), tp.id, 2))
	last := func() (out []uint64) {
		for _, name := range []string{topology.Raw, topology.Events, topology.State, "KV_" + topology.Leases} {
			stream, err := s.JS.Stream(bounded(t), name)
			require.NoError(t, err)
			state := stream.CachedInfo().State
			out = append(out, state.Msgs, state.LastSeq)
		}
		return out
	}
	before := last()
	require.NotZero(t, before[0])
	theirs, err := s.NC.SubscribeSync("orders.>")
	require.NoError(t, err)
	for _, reply := range []string{
		"orders.new", schema.RawSubject(identity(2), schema.Partitions), schema.StateSubject(tp.id, schema.Partitions),
		"$KV." + topology.Leases + ".partition.0", // the server itself refuses what begins with $JS
	} {
		require.NoError(t, s.NC.PublishRequest(schema.OpenSubject(tp.id, schema.Partitions), reply, nil))
	}
	require.EqualValues(t, 2, ask(t, s.NC, tp.id).Frame, "one after the other is answered")
	require.Equal(t, before, last())
	answers, _, err := theirs.Pending()
	require.NoError(t, err)
	require.Zero(t, answers)
}
