package stage_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/translate/stage"
)

// script is a conversation with everything in it: open texts over several sessions, frames with many
// events, frames with none.
var script = []string{
	"say 1 Good ", "say 1 morning", "tool 1 shell", "say 1 and ", "say 2 elsewhere ", "title 1 A title",
	"noise", "say 1 more", "tool 2 grep", "end 1", "say 2 again", "title 2 Another", "end 2", "say 1 cut",
}

func TestFramesBecomeRecords(t *testing.T) {
	s := natstest.Start(t)
	var taps []*tap
	for n := range 3 {
		tp := newTap(t, s.JS, identity(n))
		tp.say(t, script[:n+8]...)
		taps = append(taps, tp)
	}
	w, _ := run(t, stage.Options{JS: s.JS})
	for _, tp := range taps {
		tp.say(t, script[4:]...)
		tp.control(t, schema.TypeClose, `{"reason":"eof"}`)
		require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	}
	check(t, s.JS, taps...)

	progress, err := w.Progress(bounded(t))
	require.NoError(t, err)
	require.Len(t, progress.Partitions, int(s.Info.Partitions))
	frames := 0
	for _, tp := range taps {
		frames += len(tp.frames)
	}
	require.EqualValues(t, frames, progress.Frames)
	require.Zero(t, progress.Parked)
	for _, p := range progress.Partitions {
		require.Zero(t, p.Lag, "partition %d", p.Partition)
		require.Zero(t, p.Backlog, "partition %d", p.Partition)
	}
}

func TestRestartAtEveryFrame(t *testing.T) {
	s := natstest.Start(t)
	var taps []*tap
	for cut := 0; cut <= len(script); cut++ {
		tp := newTap(t, s.JS, identity(cut))
		taps = append(taps, tp)
		tp.say(t, script[:cut]...)
		w, stop := run(t, stage.Options{JS: s.JS, Partitions: alone(tp)})
		require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
		stop()
		tp.say(t, script[cut:]...)
		tp.control(t, schema.TypeClose, `{"reason":"eof"}`)
	}
	w, _ := run(t, stage.Options{JS: s.JS})
	for _, tp := range taps {
		require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	}
	check(t, s.JS, taps...)
}

// What comes behind a close opens the capture again: the records say so of every session, also of those
// that say nothing more.
func TestWhatComesBehindACloseOpensEverySession(t *testing.T) {
	s := natstest.Start(t)
	var taps []*tap
	for n, line := range []string{"tool 1 grind", "tool 7 grind", "end 2"} { // one that was there, a new one
		tp := newTap(t, s.JS, identity(n))
		tp.say(t, script...)
		tp.control(t, schema.TypeClose, `{"reason":"operator"}`)
		w, stop := run(t, stage.Options{JS: s.JS})
		require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
		if n == 0 { // the same by a worker that has not seen the close itself
			stop()
		}
		tp.say(t, line)
		taps = append(taps, tp)
		next, end := run(t, stage.Options{JS: s.JS})
		require.NoError(t, next.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
		end()
		stop()
	}
	check(t, s.JS, taps...)
}

func TestTwoWorkersOnTheSamePartitions(t *testing.T) {
	s := natstest.Start(t)
	var taps []*tap
	for n := range 4 {
		taps = append(taps, newTap(t, s.JS, identity(n)))
	}
	var workers []*stage.Worker
	for range 2 {
		_, js := s.Connect(t)
		w, _ := run(t, stage.Options{JS: js})
		workers = append(workers, w)
	}
	var writers sync.WaitGroup
	for _, tp := range taps {
		writers.Go(func() {
			for i := range 20 {
				tp.say(t, script...)
				tp.say(t, fmt.Sprintf("title 1 Round %d", i))
			}
		})
	}
	writers.Wait()
	var fenced uint64
	for _, w := range workers {
		for _, tp := range taps {
			require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
		}
		progress, err := w.Progress(bounded(t))
		require.NoError(t, err)
		require.Zero(t, progress.Parked)
		fenced += progress.Fenced
	}
	require.NotZero(t, fenced, "the two never met")
	check(t, s.JS, taps...)
}

func TestPublishFails(t *testing.T) {
	for name, what := range map[string]how{"refused": refused, "stored with the answer lost": lost} {
		for every := 1; every <= 3; every++ {
			t.Run(fmt.Sprintf("%s, %d of each %d", name, max(1, every-1), every), func(t *testing.T) {
				s := natstest.Start(t)
				js := &fault{JetStream: s.JS, decide: func(n int) how {
					if every == 1 && n <= 3 || every > 1 && n%every != 0 { // at first always, later most
						return what
					}
					return clean
				}}
				a, b := newTap(t, s.JS, identity(1)), newTap(t, s.JS, identity(2))
				w, stop := run(t, stage.Options{JS: js, Partitions: alone(a, b)})
				for _, line := range script {
					a.say(t, line)
					b.say(t, line)
				}
				for _, tp := range []*tap{a, b} {
					require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
				}
				check(t, s.JS, a, b)
				stop()
				// Reopened: the next worker finds nothing to add.
				w, _ = run(t, stage.Options{JS: s.JS, Partitions: alone(a, b)})
				require.NoError(t, w.Committed(bounded(t), a.id, uint64(len(a.frames))))
				require.NoError(t, w.Committed(bounded(t), b.id, uint64(len(b.frames))))
				check(t, s.JS, a, b)
			})
		}
	}
}

func TestServerRestarts(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	_, js := s.Connect(t)
	w, _ := run(t, stage.Options{JS: js})
	for i := range 3 {
		tp.say(t, script...)
		if i < 2 {
			s.Restart(t)
		}
		tp.say(t, script...)
	}
	require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	check(t, s.JS, tp)
}

func TestManyCaptures(t *testing.T) {
	s := natstest.Start(t)
	var taps []*tap
	for n := range 200 {
		tp := newTap(t, s.JS, identity(n))
		tp.async = true
		tp.say(t, script...)
		taps = append(taps, tp)
	}
	taps[0].flush(t)
	w, _ := run(t, stage.Options{JS: s.JS, InFlight: 8})
	for _, tp := range taps {
		require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	}
	check(t, s.JS, taps...)
}
