package stage_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/stage"
)

// data is a frame of the agent.
func data(text string) schema.Frame {
	return schema.Frame{From: schema.FromAgent, Type: schema.TypeData, End: schema.EndLF, Data: []byte(text)}
}

// TestDamageParksOneCapture spoils one frame of a capture in each way, in the middle. What comes before
// it is stored, what comes behind is not, the captures beside it are whole, and the next worker leaves
// it parked.
func TestDamageParksOneCapture(t *testing.T) {
	cases := map[stage.Reason]func(t *testing.T, tp *tap){
		stage.ReasonChain: func(t *testing.T, tp *tap) {
			tp.store(t, data("end 1"), func(m *nats.Msg) { m.Data = []byte("end 2") })
		},
		stage.ReasonNumber: func(t *testing.T, tp *tap) {
			tp.store(t, data("end 1"), func(m *nats.Msg) { m.Header.Set(schema.HeaderSeq, "7") })
		},
		stage.ReasonHeader: func(t *testing.T, tp *tap) {
			tp.store(t, data("end 1"), func(m *nats.Msg) { m.Header.Set(schema.HeaderFrom, "nobody") })
		},
		stage.ReasonPanic: func(t *testing.T, tp *tap) { tp.say(t, "panic") },
		stage.ReasonBlob: func(t *testing.T, tp *tap) {
			tp.store(t, data(strings.Repeat("x", schema.MaxInline+1)), nil)
			f := tp.frames[len(tp.frames)-1]
			store, err := tp.js.ObjectStore(bounded(t), topology.Blob)
			require.NoError(t, err)
			require.NoError(t, store.Delete(bounded(t), tp.id.String()+"/"+f.Blob))
		},
	}
	for reason, spoil := range cases {
		t.Run(string(reason), func(t *testing.T) {
			s := natstest.StartWith(t, natstest.Options{Config: topology.Config{Partitions: schema.Partitions}})
			before, bad, after := newTap(t, s.JS, identity(1)), newTap(t, s.JS, identity(2)), newTap(t, s.JS, identity(3))
			before.say(t, script...)
			bad.say(t, script[:4]...)
			good := len(bad.frames)
			spoil(t, bad)
			bad.say(t, script[4:]...)
			after.say(t, script...)
			all := uint64(len(bad.frames))
			bad.frames = bad.frames[:good]

			for range 2 { // the second worker finds it parked
				w, stop := run(t, stage.Options{JS: s.JS, Partitions: alone(before, bad, after)})
				require.ErrorIs(t, w.Committed(bounded(t), bad.id, all), stage.ErrParked)
				require.NoError(t, w.Committed(bounded(t), bad.id, uint64(good)))
				for _, tp := range []*tap{before, after} {
					require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
				}
				check(t, s.JS, before, bad, after)
				listed, err := stage.ListParked(bounded(t), s.JS)
				require.NoError(t, err)
				require.Len(t, listed, 1)
				require.Equal(t, bad.id, listed[0].Identity)
				require.Equal(t, reason, listed[0].Reason)
				require.EqualValues(t, good+1, damagedFrame(listed[0]))
				require.NotZero(t, listed[0].StreamSeq)
				require.Equal(t, "words/1", listed[0].Translator)
				require.NotEmpty(t, listed[0].Error)
				progress, err := w.Progress(bounded(t))
				require.NoError(t, err)
				require.EqualValues(t, 1, progress.Parked)
				stop()
			}
		})
	}
}

// damagedFrame is the frame that a capture failed at; a wrong number is reported as it stands.
func damagedFrame(p stage.ParkedCapture) uint64 {
	if p.Reason == stage.ReasonNumber {
		return p.Frame - 1 // 7 stands where 6 should
	}
	return p.Frame
}

func TestFirstFrameRefused(t *testing.T) {
	s := natstest.Start(t)
	a := &tap{js: s.JS, id: identity(1)}
	a.control(t, schema.TypeOpen, `{}`) // no protocol
	b := &tap{js: s.JS, id: identity(2)}
	b.control(t, schema.TypeOpen, `{"protocol":"a2a"}`) // not in the catalogue
	w, _ := run(t, stage.Options{JS: s.JS})
	require.ErrorIs(t, w.Committed(bounded(t), a.id, 1), stage.ErrParked)
	require.ErrorIs(t, w.Committed(bounded(t), b.id, 1), stage.ErrParked)
	listed, err := stage.ListParked(bounded(t), s.JS)
	require.NoError(t, err)
	require.Len(t, listed, 2)
	require.Equal(t, stage.ReasonFrame, listed[0].Reason)
	require.Equal(t, stage.ReasonTranslator, listed[1].Reason)
}

func TestPurgedFramesPark(t *testing.T) {
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	tp.say(t, script...)
	stream, err := s.JS.Stream(bounded(t), topology.Raw)
	require.NoError(t, err)
	require.NoError(t, stream.Purge(bounded(t), jetstream.WithPurgeSubject(schema.RawSubject(tp.id, schema.Partitions)), jetstream.WithPurgeSequence(5)))
	w, _ := run(t, stage.Options{JS: s.JS})
	require.ErrorIs(t, w.Committed(bounded(t), tp.id, 9), stage.ErrParked)
	listed, err := stage.ListParked(bounded(t), s.JS)
	require.NoError(t, err)
	require.Len(t, listed, 1)
	require.Equal(t, stage.ReasonSealed, listed[0].Reason)
}

// TestForgedRecords puts a record on a capture's subject that its frames do not give.
func TestForgedRecords(t *testing.T) {
	forge := map[string]func(h nats.Header, lines []string) []string{
		"another chain": func(h nats.Header, lines []string) []string {
			h.Set(schema.HeaderChain, strings.Repeat("0", 64))
			return lines
		},
		"another ordinal": func(h nats.Header, lines []string) []string {
			h.Set(schema.HeaderOrdinals, "0:2,1:1")
			return lines
		},
		"other bytes": func(h nats.Header, lines []string) []string {
			lines[1] = strings.Replace(lines[1], "Good", "Evil", 1)
			return lines
		},
		"an event missing": func(h nats.Header, lines []string) []string {
			return append(lines[:1], lines[2:]...)
		},
		"the start missing": func(h nats.Header, lines []string) []string { // its ordinals betray it
			h.Set(schema.HeaderOrdinals, "1:1")
			return lines[2:]
		},
		"an unknown origin": func(h nats.Header, lines []string) []string {
			h.Set(schema.HeaderOrigin, "4.9")
			return append(lines, strings.Replace(lines[3], `"part":2`, `"part":9`, 1))
		},
		"headers that cannot be read": func(h nats.Header, lines []string) []string {
			h.Set(schema.HeaderOrigin, "four")
			return lines
		},
		"headers of another record": func(h nats.Header, lines []string) []string {
			h.Set(schema.HeaderOrigin, "3.0")
			return lines
		},
	}
	for name, change := range forge {
		for _, when := range []string{"before the worker", "while it works"} {
			t.Run(name+", "+when, func(t *testing.T) {
				s := natstest.Start(t)
				tp := newTap(t, s.JS, identity(1))
				tp.say(t, script[:3]...)
				w := foldOffline(words{version: "words/1"}, tp.id, tp.frames)
				require.Len(t, w.lines, 4) // open; message, call, result
				h := nats.Header{}
				h.Set(schema.HeaderOrigin, "4.2")
				h.Set(schema.HeaderOrdinals, "0:1,1:1")
				h.Set(schema.HeaderChain, tp.frames[3].Chain)
				h.Set(schema.HeaderTranslator, "words/1")
				payload := strings.Join(change(h, w.lines), "\n") + "\n"
				record := &nats.Msg{Subject: schema.EventSubject(tp.id, schema.Partitions), Header: h, Data: []byte(payload)}
				publish := func() {
					_, err := s.JS.PublishMsg(context.Background(), record)
					require.NoError(t, err)
				}
				js := &fault{JetStream: s.JS}
				if when == "before the worker" {
					publish()
				} else {
					first := true
					js.before = func() { // the fence of the worker's first record is then wrong
						if first {
							first = false
							publish()
						}
					}
				}
				worker, _ := run(t, stage.Options{JS: js, Partitions: alone(tp)})
				tp.say(t, script[3:]...)
				require.ErrorIs(t, worker.Committed(bounded(t), tp.id, uint64(len(tp.frames))), stage.ErrParked)
				listed, err := stage.ListParked(bounded(t), s.JS)
				require.NoError(t, err)
				require.Len(t, listed, 1)
				want := stage.ReasonDiverged
				if strings.HasPrefix(name, "headers") {
					want = stage.ReasonRecord
				}
				require.Equal(t, want, listed[0].Reason, listed[0].Error)
				stream, err := s.JS.Stream(bounded(t), topology.Events)
				require.NoError(t, err)
				require.EqualValues(t, 1, stream.CachedInfo().State.Msgs, "nothing is stored behind it")
			})
		}
	}
}

// TestRecordInsideAFrame goes on behind a record that ends between two events of a frame, if it is true,
// and stores nothing behind it if it is not.
func TestRecordInsideAFrame(t *testing.T) {
	for _, honest := range []bool{true, false} {
		t.Run(fmt.Sprintf("honest %t", honest), func(t *testing.T) {
			s := natstest.Start(t)
			tp := newTap(t, s.JS, identity(1))
			tp.say(t, script[:3]...)
			w := foldOffline(words{version: "words/1"}, tp.id, tp.frames)
			rec := schema.Record{Last: schema.Origin{Frame: 4, Part: 1}, First: map[uint32]uint64{0: 1, 1: 1},
				Chain: tp.frames[3].Chain, Translator: "words/1"}
			if !honest {
				rec.Chain = tp.frames[2].Chain
			}
			header, err := rec.Header()
			require.NoError(t, err)
			_, err = s.JS.PublishMsg(bounded(t), &nats.Msg{Subject: schema.EventSubject(tp.id, schema.Partitions), Header: header,
				Data: []byte(strings.Join(w.lines[:3], "\n") + "\n")})
			require.NoError(t, err)

			worker, _ := run(t, stage.Options{JS: s.JS, Partitions: alone(tp)})
			err = worker.Committed(bounded(t), tp.id, 4)
			stream, streamErr := s.JS.Stream(bounded(t), topology.Events)
			require.NoError(t, streamErr)
			if !honest {
				require.ErrorIs(t, err, stage.ErrParked)
				require.EqualValues(t, 1, stream.CachedInfo().State.Msgs)
				return
			}
			require.NoError(t, err)
			require.EqualValues(t, 2, stream.CachedInfo().State.Msgs)
			m, err := stream.GetMsg(bounded(t), 2)
			require.NoError(t, err)
			require.Equal(t, w.lines[3]+"\n", string(m.Data))
			require.Equal(t, "1:3", m.Header.Get(schema.HeaderOrdinals))
		})
	}
}

// TestCaptureKeepsItsTranslator begins a capture with one version and goes on in a build whose new
// captures use another.
func TestCaptureKeepsItsTranslator(t *testing.T) {
	s := natstest.Start(t)
	old, new := words{version: "words/1"}, words{version: "words/2", loud: true}
	both := translate.NewCatalogue(map[schema.Protocol]translate.Translator{schema.ACP: new}, old)
	only := translate.NewCatalogue(map[schema.Protocol]translate.Translator{schema.ACP: new})

	a := newTap(t, s.JS, identity(1))
	a.say(t, script[:5]...)
	w, stop := run(t, stage.Options{JS: s.JS})
	require.NoError(t, w.Committed(bounded(t), a.id, uint64(len(a.frames))))
	stop()

	a.say(t, script[5:]...)
	b := newTap(t, s.JS, identity(2))
	b.say(t, script...)
	w, stop = run(t, stage.Options{JS: s.JS, Catalogue: both})
	for _, tp := range []*tap{a, b} {
		require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	}
	stop()
	checkAgainst(t, s.JS, map[string]folded{
		schema.EventSubject(a.id, schema.Partitions): foldOffline(old, a.id, a.frames),
		schema.EventSubject(b.id, schema.Partitions): foldOffline(new, b.id, b.frames),
	})

	w, _ = run(t, stage.Options{JS: s.JS, Catalogue: only})
	require.ErrorIs(t, w.Committed(bounded(t), a.id, uint64(len(a.frames))), stage.ErrParked)
	require.NoError(t, w.Committed(bounded(t), b.id, uint64(len(b.frames))))
	listed, err := stage.ListParked(bounded(t), s.JS)
	require.NoError(t, err)
	require.Len(t, listed, 1)
	require.Equal(t, stage.ReasonTranslator, listed[0].Reason)
}

// TestTwoVersionsBeginOneCapture: the first record decides, and the other worker folds anew.
func TestTwoVersionsBeginOneCapture(t *testing.T) {
	s := natstest.Start(t)
	old, new := words{version: "words/1"}, words{version: "words/2", loud: true}
	newer := translate.NewCatalogue(map[schema.Protocol]translate.Translator{schema.ACP: new}, old)

	tp := newTap(t, s.JS, identity(1))
	tp.say(t, script[:5]...)
	held, release := make(chan struct{}), make(chan struct{})
	first := true
	slow := &fault{JetStream: s.JS, before: func() {
		if first {
			first = false
			close(held)
			<-release
		}
	}}
	late, _ := run(t, stage.Options{JS: slow, Catalogue: newer})
	<-held // folded by words/2, not stored
	early, stop := run(t, stage.Options{JS: s.JS})
	require.NoError(t, early.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	stop()
	close(release)
	tp.say(t, script[5:]...)
	require.NoError(t, late.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	check(t, s.JS, tp)
}
