package stage_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/translate/stage"
)

// follow subscribes to a transcript's live messages.
func follow(t *testing.T, nc *nats.Conn, transcript schema.Transcript) (next func() (*schema.Event, *schema.Heads)) {
	t.Helper()
	sub, err := nc.SubscribeSync(schema.DeltaSubject(transcript))
	require.NoError(t, err)
	require.NoError(t, nc.Flush())
	return func() (*schema.Event, *schema.Heads) {
		m, err := sub.NextMsg(within)
		require.NoError(t, err)
		event, heads, err := schema.DecodeLive(m.Data)
		require.NoError(t, err)
		return event, heads
	}
}

func TestDeltasAreLiveAndNotHistory(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	transcript := schema.Transcript{Identity: tp.id, Session: 1}
	next := follow(t, s.NC, transcript)
	tp.say(t, "say 1 history ", "say 1 goes on ")

	_, js := s.Connect(t)
	run(t, stage.Options{JS: js})
	// The first live message is not a delta of the history but its head, on taking the capture.
	event, heads := next()
	require.Nil(t, event)
	require.Equal(t, &schema.Heads{Frame: 3, Heads: []schema.Head{{MessageID: "m2", Next: 2}}}, heads)

	for i := range 20 {
		tp.say(t, fmt.Sprintf("say 1 piece %d ", i))
	}
	index := uint64(2)
	for index < 22 {
		event, heads := next()
		if heads != nil {
			require.Equal(t, []schema.Head{{MessageID: "m2", Next: index}}, heads.Heads, "heads stand behind the deltas before them")
			continue
		}
		require.True(t, event.Ephemeral)
		require.Zero(t, event.StoreSeq)
		require.Equal(t, transcript, event.Transcript)
		require.Equal(t, &schema.Delta{MessageID: "m2", Index: index, TextFragment: fmt.Sprintf("piece %d ", index-2)}, event.Kind)
		index++
	}
	for { // and the heads of what changed come at last
		event, heads := next()
		require.Nil(t, event)
		if heads.Heads[0].Next == 22 {
			break
		}
	}
}

// TestHeadsBehindARecord: a message stays open, and behind its last frame an event of another session is
// stored. The worker ends, twice; each time the next one sends the heads of the message, though no frame
// of its capture comes, and no snapshot names it.
func TestHeadsBehindARecord(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	tp.say(t, "say 1 still ", "say 1 open ", "tool 2 grep")
	w, stop := run(t, stage.Options{JS: s.JS})
	require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	stop() // the mark is stored
	next := follow(t, s.NC, schema.Transcript{Identity: tp.id, Session: 1})
	for range 2 {
		_, js := s.Connect(t)
		_, stop = run(t, stage.Options{JS: js})
		event, heads := next()
		require.Nil(t, event)
		require.Equal(t, &schema.Heads{Frame: 4, Heads: []schema.Head{{MessageID: "m2", Next: 2}}}, heads)
		stop()
	}
	check(t, s.JS, tp)
}

func TestLargeDeltaIsNotSent(t *testing.T) {
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	w, _ := run(t, stage.Options{JS: s.JS})
	require.NoError(t, w.Committed(bounded(t), tp.id, 1))
	next := follow(t, s.NC, schema.Transcript{Identity: tp.id, Session: 1})
	tp.say(t, "say 1 a", "say 1 "+strings.Repeat("x", schema.MaxInline), "say 1 b")
	var seen []uint64
	for len(seen) < 2 {
		if event, _ := next(); event != nil {
			seen = append(seen, event.Kind.(*schema.Delta).Index)
		}
	}
	require.Equal(t, []uint64{0, 2}, seen, "the gap in the index shows it")
	progress, err := w.Progress(bounded(t))
	require.NoError(t, err)
	require.EqualValues(t, 1, progress.DeltasLeftOut)
}

// TestLargeFrames: a frame of 2 MB and the record of its event go by reference.
func TestLargeFrames(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	large := strings.Repeat("0123456789abcdef", 2<<20/16)
	tp.say(t, script[:5]...)
	w, stop := run(t, stage.Options{JS: s.JS, Backlog: 1000})
	tp.say(t, "title 1 "+large, "say 1 "+large, "end 1", large)
	tp.say(t, script[5:]...)
	require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	stop()
	for i := range tp.frames {
		if tp.frames[i].Blob != "" {
			require.Greater(t, len(tp.frames[i].Data), schema.MaxInline)
		}
	}
	// This fold does not cut the title; the record's headers leave it out.
	lines := foldOffline(words{version: "words/1"}, tp.id, tp.frames).lines
	require.Equal(t, lines, storedLines(t, s.JS, tp.id))
	w, _ = run(t, stage.Options{JS: s.JS})
	require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	require.Equal(t, lines, storedLines(t, s.JS, tp.id))
}
