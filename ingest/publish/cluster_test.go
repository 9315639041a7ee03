package publish

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
)

// Three replicas answer otherwise than one: refusals come before proposals, and a leader may go with
// an append in flight.
func TestAppendOnAClusterThatLosesItsLeader(t *testing.T) {
	c := natstest.StartCluster(t, topology.Config{})
	blobs, err := topology.OpenBlobs(deadline(t), c.JS)
	require.NoError(t, err)
	r := &rig{&natstest.Server{NC: c.NC, JS: c.JS, Info: c.Info}, blobs}

	const n = 400
	var group sync.WaitGroup
	half := make(chan struct{}, 2)
	for i := range 2 { // one journal, published twice
		_, js := c.Connect(t)
		a := r.appender(t, "j", func(o *AppenderOptions) { o.JS, o.BatchFrom = js, BatchReplicated })
		group.Go(func() {
			in := frames(n)
			for len(in) > 0 {
				k := min(len(in), 1+(len(in)+i)%11)
				require.NoError(t, a.Append(deadline(t), in[:k]))
				if in = in[k:]; len(in) < n/2 && len(in)+k >= n/2 {
					half <- struct{}{}
				}
			}
		})
	}
	<-half
	leader := c.Leader(t, topology.Raw)
	require.GreaterOrEqual(t, leader, 0)
	c.StopMember(leader)
	group.Wait()
	require.Equal(t, numbers("j", n), texts(r.stored(t, capture)))
}
