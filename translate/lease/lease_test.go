package lease_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/translate/lease"
)

// worker notes what it serves.
type worker struct {
	leases *lease.Leases
	cancel context.CancelFunc
	done   chan error
	conn   *nats.Conn

	mu     sync.Mutex
	serves map[uint32]bool
	drops  int
}

func newWorker() *worker {
	return &worker{serves: map[uint32]bool{}, done: make(chan error, 1)}
}

func (w *worker) Take(p uint32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.serves[p] = true
}

func (w *worker) Drop(_ context.Context, p uint32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.serves, p)
	w.drops++
}

// dropped is how often a partition was dropped.
func (w *worker) dropped() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.drops
}

func (w *worker) partitions() map[uint32]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[uint32]bool{}
	for p := range w.serves {
		out[p] = true
	}
	return out
}

const partitions = 32

func start(t *testing.T, s *natstest.Server, name string) *worker {
	t.Helper()
	conn, js := s.Connect(t)
	var err error
	w := newWorker()
	w.conn = conn
	w.leases, err = lease.New(lease.Options{JS: js, Partitions: partitions, Worker: name})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	w.cancel = cancel
	go func() { w.done <- w.leases.Run(ctx, w) }()
	t.Cleanup(func() { cancel(); conn.Close() })
	return w
}

// spread waits until the workers serve every partition once, each its part, and gives how long it took.
func spread(t *testing.T, within time.Duration, workers ...*worker) time.Duration {
	t.Helper()
	began := time.Now()
	require.Eventually(t, func() bool {
		served := map[uint32]int{}
		for _, w := range workers {
			n := len(w.partitions())
			if n < partitions/len(workers) || n > (partitions+len(workers)-1)/len(workers) {
				return false
			}
			for p := range w.partitions() {
				served[p]++
			}
		}
		for p := range uint32(partitions) {
			if served[p] != 1 {
				return false
			}
		}
		return true
	}, within, 10*time.Millisecond)
	return time.Since(began)
}

func TestPartitionsAreSpread(t *testing.T) {
	s := natstest.Start(t)
	var workers []*worker
	for i := range 3 {
		workers = append(workers, start(t, s, fmt.Sprint("w", i)))
	}
	spread(t, 20*time.Second, workers...)
	fourth := start(t, s, "w3")
	t.Log("a fourth has its part after", spread(t, 20*time.Second, append(workers, fourth)...))
	owners, err := lease.Owners(t.Context(), s.JS)
	require.NoError(t, err)
	require.Len(t, owners, partitions)
	for i, w := range append(workers, fourth) {
		for p := range w.partitions() {
			require.Equal(t, fmt.Sprint("w", i), owners[p])
		}
	}

	workers[0].cancel()
	require.NoError(t, <-workers[0].done)
	require.Empty(t, workers[0].partitions())
	t.Log("one that left is replaced after", spread(t, 20*time.Second, workers[1], workers[2], fourth))

	workers[1].conn.Close() // as if it were killed: nothing is given back
	t.Log("one that was killed is replaced after", spread(t, 20*time.Second, workers[2], fourth))
}

// A worker whose leases ended while it could not renew them has them again, or knows that they are lost.
func TestALostLeaseIsDropped(t *testing.T) {
	s := natstest.Start(t)
	owners, err := lease.Owners(t.Context(), s.JS)
	require.NoError(t, err)
	require.Empty(t, owners)
	w := start(t, s, "w0")
	spread(t, 20*time.Second, w)
	kv, err := s.JS.KeyValue(t.Context(), topology.Leases)
	require.NoError(t, err)
	_, err = kv.Put(t.Context(), "partition.7", []byte("thief")) // for good: it has no time
	require.NoError(t, err)
	require.Eventually(t, func() bool { return !w.partitions()[7] }, 10*time.Second, 10*time.Millisecond)
	require.Equal(t, partitions-1, w.leases.Held())
	require.NoError(t, kv.Purge(t.Context(), "partition.3")) // as if it had ended
	require.Never(t, func() bool { return !w.partitions()[3] }, 2*time.Second, 10*time.Millisecond, "it is taken again without a pause")
}

func TestOptionsAreChecked(t *testing.T) {
	for _, o := range []lease.Options{{Partitions: 1}, {Worker: "w"}, {Worker: "w", Partitions: 1, TTL: time.Millisecond}, {Worker: "w", Partitions: 1, TTL: time.Hour}} {
		_, err := lease.New(o)
		require.Error(t, err)
	}
}

// A second worker of a name that lives is refused, and the first goes on. One that comes after a killed one
// of its name waits until the key of that one has ended; that one, when it wakes up, ends.
func TestANameIsOneWorkers(t *testing.T) {
	s := natstest.Start(t)
	first := start(t, s, "w")
	spread(t, 20*time.Second, first)
	second := start(t, s, "w")
	require.ErrorIs(t, <-second.done, lease.ErrName)
	require.Len(t, first.partitions(), partitions)

	first.conn.Close() // as if it were killed
	third := start(t, s, "w")
	spread(t, 20*time.Second, third)

	kv, err := s.JS.KeyValue(t.Context(), topology.Leases)
	require.NoError(t, err)
	_, err = kv.Put(t.Context(), "worker.w", []byte("its successor")) // while it slept
	require.NoError(t, err)
	require.ErrorIs(t, <-third.done, lease.ErrName)
	require.Empty(t, third.partitions())
}
