package stage_test

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/translate/stage"
)

// TestLostRecordsAreStoredAgain takes acknowledged records away under a running worker, as a power
// failure without synced writes does: the next refusal shows it, and the frames are folded anew.
func TestLostRecordsAreStoredAgain(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	w, _ := run(t, stage.Options{JS: s.JS})
	tp.say(t, script...)
	require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	stream, err := s.JS.Stream(bounded(t), topology.Events)
	require.NoError(t, err)
	require.NoError(t, stream.Purge(bounded(t), jetstream.WithPurgeSubject(schema.EventSubject(tp.id, schema.Partitions))))

	tp.say(t, script...)
	require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	require.Equal(t, foldOffline(words{version: "words/1"}, tp.id, tp.frames).lines, storedLines(t, s.JS, tp.id))
}

// TestStreamMadeAnew: a worker whose stream was replaced while the server was away ends and says so.
func TestStreamMadeAnew(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	_, js := s.Connect(t)
	w, err := stage.New(stage.Options{JS: js, Catalogue: catalogue()})
	require.NoError(t, err)
	done := make(chan error, 1)
	ctx := bounded(t)
	go func() { done <- w.Run(ctx) }()
	require.NoError(t, w.Committed(ctx, tp.id, 1))

	cfg := func() jetstream.StreamConfig {
		stream, err := s.JS.Stream(ctx, topology.Events)
		require.NoError(t, err)
		return stream.CachedInfo().Config
	}()
	require.NoError(t, s.JS.DeleteStream(ctx, topology.Events))
	_, err = s.JS.CreateStream(ctx, cfg)
	require.NoError(t, err)
	s.Restart(t)
	select {
	case err := <-done:
		require.ErrorContains(t, err, "STENO_EVENTS was made anew")
	case <-ctx.Done():
		require.Fail(t, "the worker goes on")
	}
	require.ErrorIs(t, w.Committed(bounded(t), tp.id, 2), stage.ErrStopped)
}

func TestRunRefuses(t *testing.T) {
	bare := natstest.StartWith(t, natstest.Options{Bare: true})
	w, err := stage.New(stage.Options{JS: bare.JS, Catalogue: catalogue()})
	require.NoError(t, err)
	require.ErrorIs(t, w.Run(bounded(t)), topology.ErrMissing)
	require.ErrorContains(t, w.Run(bounded(t)), "run already")

	s := natstest.Start(t)
	for _, partitions := range [][]uint32{{32}, {1, 1}} {
		w, err := stage.New(stage.Options{JS: s.JS, Catalogue: catalogue(), Partitions: partitions})
		require.NoError(t, err)
		require.ErrorContains(t, w.Run(bounded(t)), "own partition")
	}
	_, err = stage.New(stage.Options{Catalogue: catalogue()})
	require.ErrorContains(t, err, "no JetStream")
	_, err = stage.New(stage.Options{JS: s.JS})
	require.ErrorContains(t, err, "no catalogue")
	_, err = stage.New(stage.Options{JS: s.JS, Catalogue: catalogue(), InFlight: -1})
	require.ErrorContains(t, err, "want 0 or more")
}

// TestWorkersShareThePartitions: each owns half; together they do all.
func TestWorkersShareThePartitions(t *testing.T) {
	s := natstest.Start(t)
	var halves [2][]uint32
	for p := range uint32(schema.Partitions) {
		halves[p%2] = append(halves[p%2], p)
	}
	var workers [2]*stage.Worker
	for i := range workers {
		workers[i], _ = run(t, stage.Options{JS: s.JS, Partitions: halves[i]})
	}
	var taps []*tap
	for n := range 10 {
		tp := newTap(t, s.JS, identity(n))
		tp.say(t, script...)
		taps = append(taps, tp)
	}
	for _, tp := range taps {
		owner := tp.id.Partition(schema.Partitions) % 2
		require.NoError(t, workers[owner].Committed(bounded(t), tp.id, uint64(len(tp.frames))))
		require.ErrorIs(t, workers[1-owner].Committed(bounded(t), tp.id, 1), stage.ErrNotOwned)
	}
	check(t, s.JS, taps...)
	for _, w := range workers {
		progress, err := w.Progress(bounded(t))
		require.NoError(t, err)
		require.Zero(t, progress.Fenced)
	}
}

// TestCluster runs on three replicas, where a write that has just ended may still be in the way, and
// takes the leader of the records away in the middle.
func TestCluster(t *testing.T) {
	t.Parallel()
	c := natstest.StartCluster(t, topology.Config{})
	tp := newTap(t, c.JS, identity(1))
	_, js := c.Connect(t)
	w, _ := run(t, stage.Options{JS: js})
	_, other := c.Connect(t)
	z, _ := run(t, stage.Options{JS: other})
	tp.say(t, script...)
	leader := c.Leader(t, topology.Events)
	require.GreaterOrEqual(t, leader, 0)
	c.StopMember(leader)
	tp.say(t, script...)
	c.StartMember(t, leader)
	tp.say(t, script...)
	for _, worker := range []*stage.Worker{w, z} {
		require.NoError(t, worker.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	}
	require.Equal(t, foldOffline(words{version: "words/1"}, tp.id, tp.frames).lines, storedLines(t, c.JS, tp.id))
}
