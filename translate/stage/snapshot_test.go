package stage_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/translate/stage"
)

// saved waits for the capture's snapshot of a frame and gives the message.
func saved(t testing.TB, js jetstream.JetStream, id schema.Identity, frame uint64) topology.Message {
	t.Helper()
	for ctx := bounded(t); ; {
		m, ok, err := topology.Last(ctx, js, topology.State, schema.StateSubject(id, schema.Partitions))
		require.NoError(t, err)
		if ok && m.Header.Get(schema.HeaderSeq) == fmt.Sprint(frame) {
			return m
		}
		time.Sleep(look)
	}
}

// putBack stores a snapshot message as it is.
func putBack(t testing.TB, js jetstream.JetStream, id schema.Identity, h map[string][]string, data []byte) {
	t.Helper()
	own := nats.Header{}
	for name, values := range h {
		if !strings.HasPrefix(name, "Nats-") { // what it was written behind
			own[name] = values
		}
	}
	_, err := js.PublishMsg(bounded(t), &nats.Msg{Subject: schema.StateSubject(id, schema.Partitions), Header: own, Data: data})
	require.NoError(t, err)
}

// unmark takes the mark of a capture's partition away, so that the next worker reads from the first frame.
func unmark(t testing.TB, js jetstream.JetStream, id schema.Identity) {
	t.Helper()
	kv, err := js.KeyValue(bounded(t), topology.Parked)
	require.NoError(t, err)
	require.NoError(t, kv.Delete(bounded(t), markKey(id)))
}

func markKey(id schema.Identity) string {
	return fmt.Sprintf("low.%d", id.Partition(schema.Partitions))
}

// each makes a snapshot after each frame of the captures.
func each(js jetstream.JetStream, taps ...*tap) stage.Options {
	return stage.Options{JS: js, SnapshotEvery: 1, Partitions: alone(taps...)}
}

// TestGoOnFromASnapshotOfEveryFrame lets a worker end behind each frame, and the next one go on.
func TestGoOnFromASnapshotOfEveryFrame(t *testing.T) {
	for _, marks := range []bool{true, false} {
		t.Run(fmt.Sprintf("marks %t", marks), func(t *testing.T) {
			s := natstest.Start(t)
			tp := newTap(t, s.JS, identity(1))
			for i, line := range script {
				tp.say(t, line)
				w, stop := run(t, each(s.JS, tp))
				require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
				saved(t, s.JS, tp.id, uint64(len(tp.frames)))
				stop()
				progress, err := w.Progress(bounded(t))
				require.NoError(t, err)
				if i > 0 {
					require.EqualValues(t, 1, progress.Frames, "only the new frame is folded")
					require.EqualValues(t, 1, progress.SnapshotsUsed)
				}
				require.Zero(t, progress.SnapshotsIgnored)
				if !marks {
					unmark(t, s.JS, tp.id)
				}
			}
			check(t, s.JS, tp)
		})
	}
}

// TestRebuildIsBounded: of a capture with 50,000 frames only those behind its snapshot are folded again.
func TestRebuildIsBounded(t *testing.T) {
	s := natstest.Start(t)
	_, js := s.InProcess(t)
	tp := newTap(t, js, identity(1))
	tp.async = true
	for i := range 50_000 - 1 {
		switch {
		case i%1000 == 999:
			tp.say(t, "tool 1 grep")
		default:
			tp.say(t, "say 1 x")
		}
	}
	tp.flush(t)
	w, stop := run(t, stage.Options{JS: js, Partitions: alone(tp)})
	require.NoError(t, w.Committed(bounded(t), tp.id, 50_000))
	until(t, w, func(p stage.Progress) bool { return p.Snapshots >= 1 })
	stop()
	m, ok, err := topology.Last(bounded(t), js, topology.State, schema.StateSubject(tp.id, schema.Partitions))
	require.NoError(t, err)
	require.True(t, ok)
	s0, err := schema.SnapshotFromHeader(m.Header)
	require.NoError(t, err)
	require.GreaterOrEqual(t, s0.Frame, uint64(10_000))

	unmark(t, js, tp.id)
	tp.async = false
	tp.say(t, "end 1")
	w, stop = run(t, stage.Options{JS: js, Partitions: alone(tp)})
	require.NoError(t, w.Committed(bounded(t), tp.id, 50_001))
	stop()
	progress, err := w.Progress(bounded(t))
	require.NoError(t, err)
	require.EqualValues(t, 50_001-s0.Frame, progress.Frames, "folded")
	require.LessOrEqual(t, progress.Reread, 50_001-s0.Frame)
	check(t, js, tp)
}

// TestSnapshotWriteFails fails writes of snapshots in both ways; nothing else suffers, and a later one is
// stored and used.
func TestSnapshotWriteFails(t *testing.T) {
	for name, what := range map[string]how{"refused": refused, "stored with the answer lost": lost} {
		t.Run(name, func(t *testing.T) {
			s := natstest.Start(t)
			js := &fault{JetStream: s.JS, on: "steno.state.", decide: func(n int) how {
				if n <= 2 {
					return what
				}
				return clean
			}}
			tp := newTap(t, s.JS, identity(1))
			w, stop := run(t, each(js, tp))
			for _, line := range script {
				tp.say(t, line)
				require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
			}
			tp.say(t, script...)
			require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
			until(t, w, func(p stage.Progress) bool { return p.Snapshots > 0 })
			stop()
			check(t, s.JS, tp)
			unmark(t, s.JS, tp.id)
			tp.say(t, "end 1")
			w, stop = run(t, each(s.JS, tp))
			require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
			stop()
			progress, err := w.Progress(bounded(t))
			require.NoError(t, err)
			require.EqualValues(t, 1, progress.SnapshotsUsed)
			require.Less(t, progress.Frames, uint64(len(tp.frames)))
			check(t, s.JS, tp)
		})
	}
}

// TestUnfitSnapshotsAreIgnored spoils the stored snapshot in each way: the fold begins at frame 1.
func TestUnfitSnapshotsAreIgnored(t *testing.T) {
	s := natstest.Start(t)
	tp, other := newTap(t, s.JS, identity(1)), newTap(t, s.JS, identity(2))
	tp.say(t, script...)
	other.say(t, script...)
	w, stop := run(t, each(s.JS, tp, other))
	require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	require.NoError(t, w.Committed(bounded(t), other.id, uint64(len(other.frames))))
	foreign := saved(t, s.JS, other.id, uint64(len(other.frames)))
	saved(t, s.JS, tp.id, uint64(len(tp.frames)))
	stop()

	type message struct {
		header nats.Header
		data   []byte
	}
	spoil := map[string]func(m *message){
		"another capture's": func(m *message) { m.header, m.data = foreign.Header, foreign.Data },
		"no headers":        func(m *message) { m.header = nil },
		"no state":          func(m *message) { m.data = nil },
		"a blob that is not there": func(m *message) {
			m.header.Set(schema.HeaderBlob, sha(m.data))
			m.data = nil
		},
	}
	for _, at := range []int{0, 1, 2, 3, 4} { // of each quarter a byte
		spoil[fmt.Sprintf("state changed at %d/4", at)] = func(m *message) { m.data[at*(len(m.data)-1)/4] ^= 1 }
	}
	for _, name := range []string{schema.HeaderSeq, schema.HeaderStreamSeq, schema.HeaderCreated, schema.HeaderChain, schema.HeaderOrigin,
		schema.HeaderOriginChain, schema.HeaderTranslator, schema.HeaderHeld, schema.HeaderSHA} {
		spoil["header "+name+" damaged"] = func(m *message) {
			value := []byte(m.header.Get(name))
			value[len(value)-1] ^= 1
			m.header.Set(name, string(value))
		}
		spoil["header "+name+" missing"] = func(m *message) { m.header.Del(name) }
	}
	// Whole ones that say something else.
	for name, change := range map[string]func(one *schema.Snapshot){
		"of another translator":         func(one *schema.Snapshot) { one.Translator = "words/2" },
		"of another form":               func(one *schema.Snapshot) { one.State[0]++ },
		"of another form of the fold":   func(one *schema.Snapshot) { one.State[len(one.State)-1]++; one.State = one.State[:len(one.State)-1] },
		"with an origin beyond":         func(one *schema.Snapshot) { one.Last.Frame++ },
		"with an earlier origin":        func(one *schema.Snapshot) { one.Last = schema.Origin{Frame: 1} },
		"with another chain of it":      func(one *schema.Snapshot) { one.LastChain = one.Chain[1:] + "0" },
		"of a stream made anew":         func(one *schema.Snapshot) { one.Created = one.Created.Add(time.Second) },
		"with another chain":            func(one *schema.Snapshot) { one.Chain = one.LastChain },
		"of another number":             func(one *schema.Snapshot) { one.Frame++ },
		"of a frame before":             func(one *schema.Snapshot) { one.StreamSeq-- },
		"of a frame that is not stored": func(one *schema.Snapshot) { one.StreamSeq += 1000 },
	} {
		spoil[name] = func(m *message) {
			one, err := schema.DecodeSnapshot(tp.id, m.header, m.data)
			require.NoError(t, err)
			change(&one)
			m.header, m.data = one.Header(tp.id), one.State
		}
	}
	for name, change := range spoil {
		t.Run(name, func(t *testing.T) {
			tp.say(t, "say 1 once more", "tool 1 grep", "say 1 and open") // open at the end: something to lose
			w, stop := run(t, each(s.JS, tp, other))
			require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
			good := saved(t, s.JS, tp.id, uint64(len(tp.frames)))
			stop()
			m := &message{good.Header, good.Data}
			change(m)
			putBack(t, s.JS, tp.id, m.header, m.data)
			unmark(t, s.JS, tp.id)

			tp.say(t, "say 1 goes on", "end 1")
			w, stop = run(t, stage.Options{JS: s.JS, Partitions: alone(tp, other)})
			require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
			progress, err := w.Progress(bounded(t))
			require.NoError(t, err)
			require.EqualValues(t, 1, progress.SnapshotsIgnored)
			require.Zero(t, progress.SnapshotsDistrusted, "it is not even tried")
			require.Zero(t, progress.Parked)
			require.GreaterOrEqual(t, progress.Frames, uint64(len(tp.frames)))
			stop()
			check(t, s.JS, tp, other)
		})
	}
}

// TestSnapshotWithoutItsRecord: the stage died, or the stream lost its tail, between a snapshot and the
// record that it counts on.
func TestSnapshotWithoutItsRecord(t *testing.T) {
	s, ahead := natstest.Start(t), natstest.Start(t)
	far := newTap(t, ahead.JS, identity(1))
	far.say(t, script...)
	w, stop := run(t, each(ahead.JS, far))
	require.NoError(t, w.Committed(bounded(t), far.id, uint64(len(far.frames))))
	m := saved(t, ahead.JS, far.id, uint64(len(far.frames)))
	one, err := schema.DecodeSnapshot(far.id, m.Header, m.Data)
	require.NoError(t, err)
	stop()

	tp := newTap(t, s.JS, identity(1))
	tp.say(t, script[:4]...)
	w, stop = run(t, stage.Options{JS: s.JS, Partitions: alone(tp)})
	require.NoError(t, w.Committed(bounded(t), tp.id, 5))
	stop()
	tp.say(t, script[4:]...)
	one.Created, one.StreamSeq = s.Info.Created[topology.Raw], tp.last(t)
	require.Equal(t, tp.frames[len(tp.frames)-1].Chain, one.Chain, "it fits in everything else")
	putBack(t, s.JS, tp.id, one.Header(tp.id), one.State)

	w, _ = run(t, stage.Options{JS: s.JS, Partitions: alone(tp)})
	require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	progress, err := w.Progress(bounded(t))
	require.NoError(t, err)
	require.EqualValues(t, 1, progress.SnapshotsIgnored)
	require.Zero(t, progress.SnapshotsUsed)
	check(t, s.JS, tp)
}

// TestOlderSnapshotOverANewerOne: however it came there, it fits; the frames behind it are folded again.
func TestOlderSnapshotOverANewerOne(t *testing.T) {
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	w, stop := run(t, each(s.JS, tp))
	tp.say(t, script[:5]...)
	require.NoError(t, w.Committed(bounded(t), tp.id, 6))
	old := saved(t, s.JS, tp.id, 6)
	tp.say(t, script[5:]...)
	require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	saved(t, s.JS, tp.id, uint64(len(tp.frames)))
	stop()
	putBack(t, s.JS, tp.id, old.Header, old.Data)
	tp.say(t, "end 1", "tool 2 grep")
	w, _ = run(t, stage.Options{JS: s.JS, Partitions: alone(tp)})
	require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	progress, err := w.Progress(bounded(t))
	require.NoError(t, err)
	require.EqualValues(t, 1, progress.SnapshotsUsed)
	require.EqualValues(t, len(tp.frames)-6, progress.Frames)
	check(t, s.JS, tp)
}

// TestFalseSnapshotIsDistrusted: a snapshot that is whole and fits, and whose state is not what the frames
// give. The record shows it, and the fold begins again without.
func TestFalseSnapshotIsDistrusted(t *testing.T) {
	for _, purged := range []bool{false, true} {
		t.Run(fmt.Sprintf("head purged %t", purged), func(t *testing.T) {
			s := natstest.Start(t)
			tp := newTap(t, s.JS, identity(1))
			tp.say(t, script[:2]...)
			w, stop := run(t, each(s.JS, tp))
			require.NoError(t, w.Committed(bounded(t), tp.id, 3))
			m := saved(t, s.JS, tp.id, 3)
			stop()
			one, err := schema.DecodeSnapshot(tp.id, m.Header, m.Data)
			require.NoError(t, err)
			require.Contains(t, string(one.State), "Good morning")
			one.State = []byte(strings.Replace(string(one.State), "Good", "Evil", 1))

			tp.say(t, script[2]) // ends the message
			w, stop = run(t, stage.Options{JS: s.JS, Partitions: alone(tp)})
			require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
			stop()
			var records int
			for _, err := range topology.Read(bounded(t), s.JS, topology.Events, schema.EventSubject(tp.id, schema.Partitions), 1) {
				require.NoError(t, err)
				records++
			}
			require.Equal(t, 2, records, "the last record holds what the snapshot is false about")
			putBack(t, s.JS, tp.id, one.Header(tp.id), one.State)
			unmark(t, s.JS, tp.id)
			if purged {
				purge(t, s.JS, tp.id, 3)
			}
			tp.say(t, "tool 1 grep")
			w, _ = run(t, stage.Options{JS: s.JS, Partitions: alone(tp)})
			err = w.Committed(bounded(t), tp.id, uint64(len(tp.frames)))
			progress, progressErr := w.Progress(bounded(t))
			require.NoError(t, progressErr)
			require.EqualValues(t, 1, progress.SnapshotsUsed)
			require.EqualValues(t, 1, progress.SnapshotsDistrusted)
			if !purged {
				require.NoError(t, err)
				check(t, s.JS, tp)
				return
			}
			require.ErrorIs(t, err, stage.ErrParked)
			listed, err := stage.ListParked(bounded(t), s.JS)
			require.NoError(t, err)
			require.Len(t, listed, 1)
			require.Equal(t, stage.ReasonDiverged, listed[0].Reason)
			require.Contains(t, listed[0].Error, "its first stored frame is 3")
			require.EqualValues(t, 5, listed[0].Frame, "behind the last record")
		})
	}
}

// purge takes the first frames of a capture away, as the sealer does.
func purge(t testing.TB, js jetstream.JetStream, id schema.Identity, first uint64) {
	t.Helper()
	stream, err := js.Stream(bounded(t), topology.Raw)
	require.NoError(t, err)
	require.NoError(t, stream.Purge(bounded(t), jetstream.WithPurgeSubject(schema.RawSubject(id, schema.Partitions)),
		jetstream.WithPurgeSequence(first)))
}

// TestPurgedHead: a capture whose first frames are gone goes on from its snapshot, and is parked without.
func TestPurgedHead(t *testing.T) {
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	tp.say(t, script...)
	w, stop := run(t, each(s.JS, tp))
	require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	saved(t, s.JS, tp.id, uint64(len(tp.frames)))
	stop()
	for _, first := range []uint64{5, uint64(len(tp.frames)), uint64(len(tp.frames)) + 3} { // at last its own frame, too
		tp.say(t, "say 1 and more", "tool 1 grep", "say 1 open")
		purge(t, s.JS, tp.id, first)
		unmark(t, s.JS, tp.id)
		w, stop := run(t, each(s.JS, tp))
		require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
		saved(t, s.JS, tp.id, uint64(len(tp.frames)))
		stop()
		check(t, s.JS, tp)
	}
	state, err := s.JS.Stream(bounded(t), topology.State)
	require.NoError(t, err)
	require.NoError(t, state.Purge(bounded(t)))
	unmark(t, s.JS, tp.id)
	w, _ = run(t, each(s.JS, tp))
	require.ErrorIs(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))+1), stage.ErrParked)
	listed, err := stage.ListParked(bounded(t), s.JS)
	require.NoError(t, err)
	require.Len(t, listed, 1)
	require.Equal(t, stage.ReasonSealed, listed[0].Reason)
}

// TestDamageBehindASnapshot: what fails on every run parks the capture for its own reason, after the fold
// was tried without the snapshot.
func TestDamageBehindASnapshot(t *testing.T) {
	for _, purged := range []bool{false, true} {
		t.Run(fmt.Sprintf("head purged %t", purged), func(t *testing.T) {
			s := natstest.Start(t)
			tp := newTap(t, s.JS, identity(1))
			tp.say(t, script[:6]...)
			w, stop := run(t, each(s.JS, tp))
			require.NoError(t, w.Committed(bounded(t), tp.id, 7))
			saved(t, s.JS, tp.id, 7)
			stop()
			good := tp.frames
			if purged {
				purge(t, s.JS, tp.id, 4)
			}
			tp.say(t, "panic", "say 1 never")
			w, _ = run(t, stage.Options{JS: s.JS, Partitions: alone(tp)})
			require.ErrorIs(t, w.Committed(bounded(t), tp.id, 9), stage.ErrParked)
			listed, err := stage.ListParked(bounded(t), s.JS)
			require.NoError(t, err)
			require.Len(t, listed, 1)
			require.Equal(t, stage.ReasonPanic, listed[0].Reason)
			require.EqualValues(t, 8, listed[0].Frame)
			progress, err := w.Progress(bounded(t))
			require.NoError(t, err)
			require.EqualValues(t, 1, progress.SnapshotsDistrusted)
			tp.frames = good
			check(t, s.JS, tp)
		})
	}
}

// TestLargeSnapshot goes by reference, and the one before it goes away.
func TestLargeSnapshot(t *testing.T) {
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	large := strings.Repeat("0123456789abcdef", 40<<10)
	w, stop := run(t, each(s.JS, tp))
	var refs []string
	for range 2 {
		tp.say(t, "say 1 "+large)
		require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
		m := saved(t, s.JS, tp.id, uint64(len(tp.frames)))
		require.Empty(t, m.Data)
		refs = append(refs, m.Header.Get(schema.HeaderBlob))
	}
	until(t, w, func(p stage.Progress) bool { return p.Snapshots == 3 })
	stop()
	_, err := tp.blobs.States().Get(bounded(t), tp.id, refs[0])
	require.ErrorIs(t, err, topology.ErrBlob)
	tp.say(t, "say 1 end", "end 1")
	w, _ = run(t, stage.Options{JS: s.JS, Partitions: alone(tp)})
	require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	progress, err := w.Progress(bounded(t))
	require.NoError(t, err)
	require.EqualValues(t, 1, progress.SnapshotsUsed)
	check(t, s.JS, tp)
}
