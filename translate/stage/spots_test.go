package stage

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/natstest"
)

// What is read over a connection whose streams nobody has looked at takes no landmark's place: else nobody
// would look for the message that they may have lost.
func TestALandmarkStaysUntilTheStreamsAreLookedAt(t *testing.T) {
	s := natstest.Start(t)
	conn, js := s.Connect(t)
	w := &Worker{js: js}
	w.gate.conn = conn
	p := newPartition(w, 0, &waiting{})
	require.True(t, p.stands(spot{100, "old"}, 0))
	require.True(t, p.recordStands(spot{50, "old"}, 0))
	was := p.mark.landmarks()
	s.Restart(t)
	require.Eventually(t, func() bool { return conn.IsConnected() && w.gate.now() == 1 }, time.Minute, time.Millisecond)
	for number := range uint64(2) { // what began before the connection was lost, and after
		require.False(t, p.stands(spot{120, "new"}, number))
		require.False(t, p.recordStands(spot{60, "new"}, number))
	}
	require.Equal(t, was, p.mark.landmarks())
	w.gate.open(1)
	require.True(t, p.stands(spot{120, "new"}, 1))
	require.True(t, p.recordStands(spot{60, "new"}, 1))
	require.NotEqual(t, was, p.mark.landmarks())
}
