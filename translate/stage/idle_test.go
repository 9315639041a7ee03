package stage_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/translate/stage"
)

// inMemory counts the captures that a worker holds.
func inMemory(p stage.Progress) (captures int) {
	for _, one := range p.Partitions {
		captures += one.Captures
	}
	return captures
}

func TestIdleCapturesLeaveMemory(t *testing.T) {
	s := natstest.Start(t)
	var taps []*tap
	for n := range 10 {
		tp := newTap(t, s.JS, identity(n))
		tp.say(t, script[:n+1]...)
		taps = append(taps, tp)
	}
	w, stop := run(t, often(stage.Options{JS: s.JS, IdleAfter: 10 * time.Millisecond}))
	gone := func(left uint64) {
		t.Helper()
		until(t, w, func(p stage.Progress) bool { return inMemory(p) == 0 && p.Left >= left && p.Frames > 0 })
	}
	gone(10)
	// Each way back in: somebody waits, somebody asks, a frame comes.
	for _, tp := range taps {
		require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	}
	gone(20)
	want := map[uint32]string{1: "and "}
	reply := ask(t, s.NC, taps[3].id)
	require.EqualValues(t, 5, reply.Frame)
	require.Equal(t, want[1], reply.Messages[0].Text)
	gone(21)
	for _, tp := range taps {
		tp.say(t, script[len(tp.frames)-1:]...)
		require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	}
	gone(31)
	progress, err := w.Progress(bounded(t))
	require.NoError(t, err)
	frames := 0
	for _, tp := range taps {
		frames += len(tp.frames)
	}
	require.EqualValues(t, frames, progress.Frames, "no frame is folded twice")
	require.Zero(t, progress.SnapshotsIgnored)
	stop()
	check(t, s.JS, taps...)
	w, _ = run(t, often(stage.Options{JS: s.JS}))
	for _, tp := range taps {
		require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	}
	progress, err = w.Progress(bounded(t))
	require.NoError(t, err)
	require.Zero(t, progress.Frames)
}

// TestSilentCapturesHaveHeads: the worker that takes over from one that was killed sends the heads of an
// open message, though nothing more comes and its frames are behind the mark.
func TestSilentCapturesHaveHeads(t *testing.T) {
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	tp.say(t, "tool 1 grep", "say 1 Good ", "say 1 mor")
	w, kill := killed(t, s, often(stage.Options{IdleAfter: 10 * time.Millisecond}))
	until(t, w, func(p stage.Progress) bool { return p.Left == 1 })
	marked(t, w, tp)
	kill()

	next := follow(t, s.NC, schema.Transcript{Identity: tp.id, Session: 1})
	w, _ = run(t, stage.Options{JS: s.JS})
	event, heads := next()
	require.Nil(t, event)
	require.Equal(t, &schema.Heads{Frame: 4, Heads: []schema.Head{{MessageID: "m3", Next: 2}}}, heads)
	progress, err := w.Progress(bounded(t))
	require.NoError(t, err)
	require.Zero(t, progress.Frames)
	require.Equal(t, "Good mor", ask(t, s.NC, tp.id).Messages[0].Text)
	tp.say(t, "ning", "say 1 ning", "end 1")
	require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	check(t, s.JS, tp)
}
