package intervene

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What waited when its connection went was not done. Sent again over the next one it is, and once.
func TestWhatWaitedWhenItsConnectionWentIsDoneOverTheNext(t *testing.T) {
	t.Parallel()
	g := gate{make(chan struct{}, 3), make(chan struct{})}
	d := NewDesk(g)
	connected, lost := context.WithCancel(t.Context())
	var under sync.WaitGroup
	under.Go(func() { d.deliver(connected, inject("first"), time.Now()) })
	<-g.begun
	var waited []byte
	under.Go(func() { waited = d.deliver(connected, inject("second"), time.Now()) })
	require.Eventually(t, func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.order) == 2
	}, 20*time.Second, time.Millisecond)
	lost()
	close(g.goOn)
	under.Wait()
	require.Contains(t, string(waited), "StaleTarget")
	require.Empty(t, g.begun)
	for range 2 {
		require.JSONEq(t, `{"outcome":"Applied"}`, string(d.deliver(t.Context(), inject("second"), time.Now())))
	}
	require.JSONEq(t, `{"outcome":"Applied"}`, string(d.deliver(t.Context(), inject("first"), time.Now())), "its outcome is remembered")
	require.Len(t, g.begun, 1)
}
