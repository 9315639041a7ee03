package stage_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/translate/stage"
)

// served counts the partitions of workers; each number is one worker's.
func served(t *testing.T, workers ...*stage.Worker) (each []int, all int) {
	t.Helper()
	seen := map[uint32]bool{}
	for _, w := range workers {
		progress, err := w.Progress(bounded(t))
		require.NoError(t, err)
		each = append(each, len(progress.Partitions))
		for _, p := range progress.Partitions {
			seen[p.Partition] = true
		}
	}
	return each, len(seen)
}

// TestWorkersComeAndGo lets workers come, leave in order and vanish while taps write: what is
// stored is what one worker would have stored.
func TestWorkersComeAndGo(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	var taps []*tap
	for n := range 8 {
		taps = append(taps, newTap(t, s.JS, identity(n)))
	}
	start := func(name string) (*stage.Worker, func()) {
		_, js := s.Connect(t)
		return run(t, stage.Options{JS: js, Leases: &stage.Leases{Worker: name, TTL: time.Second}})
	}
	conn, js := s.Connect(t)
	b, err := stage.New(stage.Options{JS: js, Catalogue: catalogue(), Leases: &stage.Leases{Worker: "b", TTL: time.Second}})
	require.NoError(t, err)
	vanished := make(chan error, 1)
	go func() { vanished <- b.Run(t.Context()) }()
	var writers sync.WaitGroup
	done := make(chan struct{})
	for _, tp := range taps {
		writers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				tp.say(t, script...)
				tp.say(t, fmt.Sprintf("title 1 Round %d", i))
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	spread := func(want []int, workers ...*stage.Worker) {
		require.Eventually(t, func() bool {
			each, all := served(t, workers...)
			return all == 32 && fmt.Sprint(each) == fmt.Sprint(want)
		}, within, 20*time.Millisecond)
	}
	a, stop := start("a")
	spread([]int{16, 16}, a, b)
	c, _ := start("c")
	spread([]int{11, 11, 10}, a, b, c)
	stop() // in order
	spread([]int{16, 16}, b, c)
	conn.Close() // it vanishes: nothing is given back
	require.Error(t, <-vanished)
	spread([]int{32}, c)
	close(done)
	writers.Wait()
	for _, tp := range taps {
		require.NoError(t, c.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	}
	check(t, s.JS, taps...)
}

// A worker that is stopped stores what it has folded before others take its partitions.
func TestAWorkerHandsOverDrained(t *testing.T) {
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	_, js := s.Connect(t)
	w, stop := run(t, stage.Options{JS: js, Leases: &stage.Leases{Worker: "a"}})
	require.Eventually(t, func() bool { _, all := served(t, w); return all == 32 }, 20*time.Second, 10*time.Millisecond)
	for range 50 {
		tp.say(t, script...)
	}
	require.Eventually(t, func() bool {
		progress, err := w.Progress(bounded(t))
		require.NoError(t, err)
		return progress.Frames == uint64(len(tp.frames))
	}, 20*time.Second, time.Millisecond)
	stop()
	check(t, s.JS, tp)
}
