package stage_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/translate/stage"
)

// A capture is parked behind a record that is on its way; then its key cannot be stored, however often
// it is tried. Its partition is given up all the same, in the time that it is given.
func TestAPartitionIsGivenUpWhileAKeyIsRefused(t *testing.T) {
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	tp.say(t, "tool 1 grep", "panic")
	_, js := s.Connect(t)
	tried := make(chan struct{}, 1)
	keys := &fault{JetStream: js, on: topology.ParkedSubject(tp.id.Subject()), decide: func(int) how {
		select {
		case tried <- struct{}{}:
		default:
		}
		return refused
	}}
	parked := make(chan struct{})
	records := &fault{JetStream: keys, before: func() { <-parked }}
	number := tp.id.Partition(schema.Partitions)
	w, _ := run(t, stage.Options{JS: records, Partitions: []uint32{number}})
	until(t, w, func(p stage.Progress) bool { return partOf(p, tp.id).Folded == 3 })
	close(parked)
	<-tried
	tp.say(t, "tool 2 grep") // whoever folds it waits for the capture
	dropped := make(chan struct{})
	go func() {
		defer close(dropped)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		w.Drop(ctx, number)
	}()
	select {
	case <-dropped:
	case <-bounded(t).Done():
		require.Fail(t, "the partition is not given up")
	}
	progress, err := w.Progress(bounded(t))
	require.NoError(t, err)
	require.Empty(t, progress.Partitions)
}
