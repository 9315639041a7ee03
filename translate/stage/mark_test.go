package stage_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/translate/stage"
)

// often stores marks every few milliseconds.
func often(o stage.Options) stage.Options {
	o.MarkEvery = 5 * time.Millisecond
	return o
}

// marked waits until the mark of the capture's partition stands at its last frame.
func marked(t testing.TB, w *stage.Worker, tp *tap) {
	t.Helper()
	last := tp.last(t)
	until(t, w, func(p stage.Progress) bool { return partOf(p, tp.id).Mark == last })
}

// partOf is how far the worker is with a capture's partition.
func partOf(p stage.Progress, id schema.Identity) stage.PartitionProgress {
	for _, one := range p.Partitions {
		if one.Partition == id.Partition(schema.Partitions) {
			return one
		}
	}
	return stage.PartitionProgress{}
}

// TestMarkHoldsAtWhatNothingCovers: it passes what a record covers, stops at an open message, and passes
// that when a snapshot covers it.
func TestMarkHoldsAtWhatNothingCovers(t *testing.T) {
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	p := tp.id.Partition(schema.Partitions)
	n := 2
	for identity(n).Partition(schema.Partitions) != p {
		n++
	}
	w, stop := run(t, often(stage.Options{JS: s.JS, Partitions: alone(tp)}))
	tp.say(t, "tool 1 grep")
	marked(t, w, tp)
	recorded := tp.last(t)
	tp.say(t, "say 1 open ", "say 1 still ")
	other := newTap(t, s.JS, identity(n)) // its neighbour goes on
	for range 20 {
		other.say(t, "tool 1 grep")
	}
	require.NoError(t, w.Committed(bounded(t), other.id, uint64(len(other.frames))))
	stop() // the mark is stored once more

	w, stop = run(t, often(stage.Options{JS: s.JS, Partitions: alone(tp)}))
	until(t, w, func(progress stage.Progress) bool { return partOf(progress, tp.id).Lag == 0 && progress.Frames > 0 })
	progress, err := w.Progress(bounded(t))
	require.NoError(t, err)
	require.Equal(t, recorded, partOf(progress, tp.id).Mark)
	require.EqualValues(t, 2+len(other.frames)+2, progress.Frames, "from the open message on, and the capture's first two")
	require.Equal(t, "open still ", ask(t, s.NC, tp.id).Messages[0].Text)
	stop()

	w, stop = run(t, often(each(s.JS, tp)))
	marked(t, w, other)
	stop()
	w, _ = run(t, often(stage.Options{JS: s.JS, Partitions: alone(tp)}))
	until(t, w, func(progress stage.Progress) bool { return progress.SnapshotsUsed == 1 })
	progress, err = w.Progress(bounded(t))
	require.NoError(t, err)
	require.Zero(t, progress.Frames, "nothing is read again")
	require.Equal(t, "open still ", ask(t, s.NC, tp.id).Messages[0].Text)
	tp.say(t, "end 1")
	require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	require.NoError(t, w.Committed(bounded(t), other.id, uint64(len(other.frames))), "a capture that was passed")
	check(t, s.JS, tp, other)
}

// TestMarkPassesParkedCaptures: one bad capture does not hold it.
func TestMarkPassesParkedCaptures(t *testing.T) {
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	tp.say(t, "say 1 open", "panic", "say 1 never")
	w, stop := run(t, often(stage.Options{JS: s.JS, Partitions: alone(tp)}))
	require.ErrorIs(t, w.Committed(bounded(t), tp.id, 3), stage.ErrParked)
	marked(t, w, tp)
	stop()
	w, _ = run(t, often(stage.Options{JS: s.JS, Partitions: alone(tp)}))
	require.ErrorIs(t, w.Committed(bounded(t), tp.id, 3), stage.ErrParked)
	progress, err := w.Progress(bounded(t))
	require.NoError(t, err)
	require.Zero(t, progress.Frames)
}

// TestMarkWriteFails fails the writes of marks in both ways.
func TestMarkWriteFails(t *testing.T) {
	for name, what := range map[string]how{"refused": refused, "stored with the answer lost": lost} {
		t.Run(name, func(t *testing.T) {
			s := natstest.Start(t)
			tp := newTap(t, s.JS, identity(1))
			p := tp.id.Partition(schema.Partitions)
			js := &fault{JetStream: s.JS, on: topology.ParkedSubject(markKey(tp.id)), decide: func(n int) how {
				if n%3 != 0 { // the first two, which take the mark, and two of each three
					return what
				}
				return clean
			}}
			w, stop := run(t, often(stage.Options{JS: js, Partitions: []uint32{p}}))
			for range 3 {
				for _, line := range append(script, "end 1") {
					tp.say(t, line)
				}
				require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
				last := tp.last(t)
				until(t, w, func(progress stage.Progress) bool { return partOf(progress, tp.id).Mark == last })
			}
			stop()
			check(t, s.JS, tp)
			w, _ = run(t, stage.Options{JS: s.JS})
			require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
			progress, err := w.Progress(bounded(t))
			require.NoError(t, err)
			require.Equal(t, progress.Reread, progress.Frames, "only for the one who asks")
			check(t, s.JS, tp)
		})
	}
}

// TestZombieMovesNoMark: a worker whose partition another one has taken stores no mark any more.
func TestZombieMovesNoMark(t *testing.T) {
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	p := tp.id.Partition(schema.Partitions)
	away, back := make(chan struct{}), make(chan struct{})
	js := &fault{JetStream: s.JS, on: topology.ParkedSubject(markKey(tp.id))}
	n := 0
	js.before = func() {
		if n++; n == 3 { // it has the mark, and has moved it once; then it is stopped
			close(away)
			<-back
		}
	}
	zombie, stop := run(t, often(stage.Options{JS: js, Partitions: []uint32{p}}))
	ctx := bounded(t)
	for stopped := false; !stopped; {
		require.NoError(t, ctx.Err())
		tp.say(t, "tool 1 grep")
		select {
		case <-away:
			stopped = true
		default:
		}
	}
	w, _ := run(t, often(stage.Options{JS: s.JS, Partitions: []uint32{p}}))
	until(t, w, func(progress stage.Progress) bool { return progress.Marks >= 1 })
	close(back)
	tp.say(t, script...)
	tp.say(t, "end 1")
	require.NoError(t, zombie.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	last := tp.last(t)
	until(t, w, func(progress stage.Progress) bool { return partOf(progress, tp.id).Mark == last })
	stop()
	progress, err := zombie.Progress(bounded(t))
	require.NoError(t, err)
	require.EqualValues(t, 1, progress.Marks, "its first")
	check(t, s.JS, tp)
}

// TestUnfitMarks: a mark that does not fit the streams is not used.
func TestUnfitMarks(t *testing.T) {
	type at struct {
		Created time.Time `json:"created"`
		Seq     uint64    `json:"seq"`
		Chain   string    `json:"chain"`
	}
	type value struct {
		Writer string `json:"writer"`
		Frame  at     `json:"frame"`
		Record at     `json:"record"`
	}
	for name, change := range map[string]func(v *value){
		"as it is":           func(*value) {},
		"ahead of what is":   func(v *value) { v.Frame.Seq += 100 },
		"another chain":      func(v *value) { v.Frame.Chain = v.Frame.Chain[1:] + "0" },
		"another stream":     func(v *value) { v.Frame.Created = v.Frame.Created.Add(time.Second) },
		"another partition":  func(v *value) { v.Frame.Seq-- },
		"records are lost":   func(v *value) { v.Record.Seq++ },
		"another record":     func(v *value) { v.Record.Chain = "" },
		"other records":      func(v *value) { v.Record.Created = v.Record.Created.Add(-1) },
		"what is not a mark": nil,
	} {
		t.Run(name, func(t *testing.T) {
			s := natstest.Start(t)
			tp := newTap(t, s.JS, identity(1))
			tp.say(t, script...)
			n := 2
			for identity(n).Partition(schema.Partitions) == tp.id.Partition(schema.Partitions) {
				n++
			}
			other := newTap(t, s.JS, identity(n))
			tp.say(t, "end 1")
			w, stop := run(t, often(stage.Options{JS: s.JS, Partitions: alone(tp, other)}))
			marked(t, w, tp)
			marked(t, w, other)
			stop()
			kv, err := s.JS.KeyValue(bounded(t), topology.Parked)
			require.NoError(t, err)
			entry, err := kv.Get(bounded(t), markKey(tp.id))
			require.NoError(t, err)
			text := []byte("no")
			if change != nil {
				var v value
				require.NoError(t, json.Unmarshal(entry.Value(), &v))
				change(&v)
				text, err = json.Marshal(v)
				require.NoError(t, err)
			}
			_, err = kv.Put(bounded(t), markKey(tp.id), text)
			require.NoError(t, err)

			w, _ = run(t, often(stage.Options{JS: s.JS, Partitions: alone(tp, other)}))
			marked(t, w, tp)
			progress, err := w.Progress(bounded(t))
			require.NoError(t, err)
			want := len(tp.frames)
			if name == "as it is" {
				want = 0
			}
			require.EqualValues(t, want, progress.Frames)
			check(t, s.JS, tp, other)
		})
	}
}

// TestOlderCopyOfTheStore puts an older copy of the server's directory back: the streams have lost their
// tail, and other frames are stored there since. Neither a worker that comes nor one that was there all
// the time takes the lost ones for what is.
func TestOlderCopyOfTheStore(t *testing.T) {
	for _, stays := range []bool{false, true} {
		for _, more := range []int{0, 1, 3} { // rounds of the script in the new tail; the lost one had two
			t.Run(fmt.Sprintf("worker stays %t, new tail %d", stays, more), func(t *testing.T) {
				s := natstest.Start(t)
				tp := newTap(t, s.JS, identity(1))
				tp.say(t, script[:5]...)
				o := often(each(nil, tp))
				w, stop := killed(t, s, o)
				require.NoError(t, w.Committed(bounded(t), tp.id, 6))
				saved(t, s.JS, tp.id, 6)
				if !stays {
					stop()
				}
				s.Stop()
				copied := t.TempDir()
				require.NoError(t, os.CopyFS(copied, os.DirFS(s.Dir)))
				s.Restart(t)

				old := tp.frames
				if !stays {
					w, stop = killed(t, s, o)
				}
				for range 2 {
					tp.say(t, script[5:]...)
				}
				require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
				if !stays {
					marked(t, w, tp)
					stop()
				}
				s.Stop()
				require.NoError(t, os.RemoveAll(s.Dir))
				require.NoError(t, os.CopyFS(s.Dir, os.DirFS(copied)))
				s.Restart(t)

				tp.frames = old[:6:6]
				for i := range more {
					tp.say(t, fmt.Sprintf("say 2 it went otherwise, %d ", i))
					tp.say(t, script...)
				}
				tp.say(t, "end 1", "end 2")
				if !stays {
					w, _ = killed(t, s, o)
				}
				require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
				progress, err := w.Progress(bounded(t))
				require.NoError(t, err)
				require.Zero(t, progress.Parked)
				check(t, s.JS, tp)
			})
		}
	}
}
