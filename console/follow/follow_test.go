package follow_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/follow"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

func note(text string) schema.Kind { return &schema.Progress{Detail: &schema.Note{Text: text}} }

func TestJoinInTheMiddleOfASentence(t *testing.T) {
	b := newBench(t)
	b.store(3, note("a"), note("b"))
	o := b.owner(10, 2, open("m", "Hello wor", 3))
	o.reply.Tools = []schema.OpenTool{{Session: 1, State: schema.ToolState{ToolID: "t"}}, {Session: 2, State: schema.ToolState{ToolID: "u"}}}
	o.reply.Messages = append(o.reply.Messages, schema.OpenMessage{Session: 2, MessageID: "other", Text: "no"})
	r := b.follow(follow.Options{})
	r.reads("event 1 Progress", "event 2 Progress", `snapshot 10 m "Hello wor" tool t`)

	b.piece(10, "m", 2, "wor") // in the snapshot already
	b.piece(11, "m", 3, "ld")
	b.piece(11, "m", 3, "ld") // from a second owner
	r.reads(`delta answer m 3 "ld"`)

	b.live(12, &schema.Progress{Detail: &schema.Thinking{MessageID: "m", Index: 0, Text: "hm"}}) // its twin
	r.reads(`delta thought m 0 "hm"`)

	b.store(13, message("m", "Hello world"))
	b.wake()
	r.reads("event 3 Message")
	b.piece(12, "m", 4, "!") // too late
	b.live(14, &schema.Progress{Detail: &schema.Thinking{MessageID: "m", Index: 1, Text: "m"}})
	b.piece(15, "n", 0, "Next")
	b.piece(16, "m", 0, "Hello") // again, in a replay of the session
	r.reads(`delta thought m 1 "m"`, `delta answer n 0 "Next"`, `delta answer m 0 "Hello"`)
	r.cancel()
	require.NoError(t, r.ends(), "the end of its context is no error")
}

func TestAnythingMissedIsSaidAndMadeUpFor(t *testing.T) {
	b := newBench(t)
	o := b.owner(10, 0, open("m", "one", 1))
	r := b.follow(follow.Options{})
	r.reads(`snapshot 10 m "one"`)

	o.set(13, 0, open("m", "one two three four", 4))
	b.piece(13, "m", 3, " four")
	r.reads("lag missed 0 ", `snapshot 13 m "one two three four"`)

	b.heads(13, schema.Head{MessageID: "m", Next: 4}) // level
	o.set(15, 0, open("m", "one two three four five", 5))
	b.heads(15, schema.Head{MessageID: "m", Next: 5})
	r.reads("lag missed 0 ", `snapshot 15 m "one two three four five"`)

	o.set(16, 0, open("m", "one two three four five", 5), open("n", "x", 1))
	b.heads(16, schema.Head{MessageID: "m", Next: 5}, schema.Head{MessageID: "n", Next: 1})
	r.reads("lag missed 0 ", `snapshot 16 m "one two three four five" n "x"`)

	o.set(17, 0)
	b.publish(schema.DeltaSubject(transcript), []byte("{")) // it may have been a piece
	r.reads("lag missed 0 ", `snapshot 17`)
}

func TestHeadsOfWhatHasEndedSayNothing(t *testing.T) {
	b := newBench(t)
	b.owner(10, 0)
	r := b.follow(follow.Options{})
	r.reads("snapshot 10")
	b.store(12, message("m", "done"))
	b.wake()
	r.reads("event 1 Message")
	b.heads(11, schema.Head{MessageID: "m", Next: 2}) // from before
	b.heads(9, schema.Head{MessageID: "old", Next: 2})
	b.piece(13, "n", 0, "x")
	r.reads(`delta answer n 0 "x"`)
}

func TestPiecesThatComeBeforeTheAnswerAreNotLost(t *testing.T) {
	b := newBench(t)
	r := b.follow(follow.Options{Poll: 50 * time.Millisecond})
	r.reads("lag no_owner 0 ")
	b.piece(11, "m", 1, " two")
	b.piece(12, "m", 2, " three")
	b.owner(11, 0, open("m", "one two", 2))
	r.reads(`snapshot 11 m "one two"`, `delta answer m 2 " three"`)
}

func TestAnAnswerBelowWhatWasSeenDoesNotCount(t *testing.T) {
	b := newBench(t)
	b.store(20, message("m", "whole"))
	o := b.owner(10, 0, open("m", "who", 1)) // its worker reads the frames again
	r := b.follow(follow.Options{Poll: 20 * time.Millisecond, After: 1})
	r.reads("lag no_owner 0 ")
	require.Eventually(t, func() bool { return o.times() > 3 }, within, time.Millisecond, "it is asked again")
	o.set(20, 1)
	r.reads("snapshot 20")
}

func TestTheLedgerCountsBeforeASnapshotThatIsOlder(t *testing.T) {
	b := newBench(t)
	o := b.owner(10, 1, open("m", "who", 1), open("n", "still", 1))
	o.reply.Tools = []schema.OpenTool{{Session: 1, State: schema.ToolState{ToolID: "t"}}, {Session: 1, State: schema.ToolState{ToolID: "u"}}}
	b.store(11, message("m", "whole"), &schema.ToolState{ToolID: "t", State: schema.ToolPhase{Phase: schema.Completed}})
	r := b.follow(follow.Options{})
	r.reads("event 1 Message", "event 2 ToolState", `snapshot 10 n "still" tool u`)
}

func TestOfTwoAnswersTheHigherCounts(t *testing.T) {
	b := newBench(t)
	b.owner(10, 0, open("m", "one", 1))
	b.owner(12, 0, open("m", "one two", 2))
	r := b.follow(follow.Options{Poll: 20 * time.Millisecond})
	for range 3 {
		switch got := <-r.items; got {
		case `snapshot 12 m "one two"`:
			b.piece(13, "m", 2, " three")
			r.reads(`delta answer m 2 " three"`)
			return
		default:
			require.Contains(t, []string{`snapshot 10 m "one"`, "lag missed 0 "}, got)
		}
	}
	require.Fail(t, "the higher answer was not taken")
}

func TestTheLastPieceMayBeLostWithItsHeads(t *testing.T) {
	b := newBench(t)
	o := b.owner(10, 0, open("m", "one", 1))
	r := b.follow(follow.Options{Poll: 20 * time.Millisecond})
	r.reads(`snapshot 10 m "one"`)
	require.Eventually(t, func() bool { return o.times() > 3 }, within, time.Millisecond, "nothing is said while nothing is missing")
	o.set(11, 0, open("m", "one two", 2))
	r.reads("lag missed 0 ", `snapshot 11 m "one two"`)
}

func TestLargeAnswersComeInPages(t *testing.T) {
	b := newBench(t)
	text := strings.Repeat("long ", schema.MaxInline/2)
	b.owner(10, 0, open("m", text, 9))
	conn, _ := b.Connect(t)
	f, err := follow.New(follow.Options{Conn: conn, Reader: b.ledger, Partitions: schema.Partitions, Transcript: transcript})
	require.NoError(t, err)
	require.NoError(t, f.Run(t.Context(), func(i follow.Item) error {
		s, ok := i.(*follow.Snapshot)
		require.True(t, ok, "%v", i)
		require.Equal(t, text, s.Messages[0].Text)
		return follow.ErrStop
	}))
}

func TestWithoutAnyHintTheLedgerIsFollowed(t *testing.T) {
	b := newBench(t)
	r := b.follow(follow.Options{Poll: 10 * time.Millisecond})
	r.reads("lag no_owner 0 ")
	b.store(1, note("a"))
	r.reads("event 1 Progress")
	b.store(2, note("b"), note("c"))
	r.reads("event 2 Progress", "event 3 Progress")
}

func TestLagOfTheLedgerIsCounted(t *testing.T) {
	b := newBench(t)
	b.store(1, note("a"))
	b.owner(10, 4)
	r := b.follow(follow.Options{})
	r.reads("event 1 Progress", "snapshot 10", "lag behind 3 ")
	b.store(2, note("b"), note("c"), note("d"))
	b.wake()
	r.reads("event 2 Progress", "event 3 Progress", "event 4 Progress", "lag behind 0 ")
}

func TestParkedIsSaid(t *testing.T) {
	b := newBench(t)
	o := b.owner(0, 0)
	o.reply.Parked = "diverged"
	b.store(5, note("a"))
	b.set(schema.StatusParked)
	r := b.follow(follow.Options{})
	r.reads("event 1 Progress", "lag parked 0 the ledger does not take the capture's next record", "lag parked 0 diverged")
}

func TestCursor(t *testing.T) {
	b := newBench(t)
	b.owner(10, 3)
	b.store(1, note("a"), note("b"), note("c"))
	r := b.follow(follow.Options{After: 2})
	r.reads("event 3 Progress", "snapshot 10")

	ahead := b.follow(follow.Options{After: 5})
	ahead.reads("snapshot 10")
	for frame := range uint64(3) {
		b.store(20+frame, note("x"))
		b.wake()
	}
	ahead.reads("event 6 Progress")
	r.reads("event 4 Progress", "event 5 Progress", "event 6 Progress")
}

func TestEndAndReopening(t *testing.T) {
	b := newBench(t)
	b.owner(10, 1)
	b.store(1, note("a"))
	b.set(schema.StatusEnded)
	r := b.follow(follow.Options{})
	r.reads("event 1 Progress", "end ended 1", "snapshot 10")
	b.wake()
	b.store(11, note("late"))
	b.set(schema.StatusAbandoned)
	b.wake()
	r.reads("event 2 Progress", "end abandoned 2")
}

// An end that is over by the time the events are read is not told behind what reopened it.
func TestAnEndThatIsOverIsNotTold(t *testing.T) {
	b := newBench(t)
	b.owner(10, 1)
	b.store(1, note("a"))
	b.set(schema.StatusEnded)
	b.mu.Lock()
	b.before = func() {
		b.store(11, note("late"))
		b.set(schema.StatusOpen)
	}
	b.mu.Unlock()
	r := b.follow(follow.Options{})
	r.reads("event 1 Progress", "event 2 Progress", "snapshot 10")
	b.set(schema.StatusEnded)
	b.wake()
	r.reads("end ended 2")
}

func TestASlowReaderIsToldWhatItMissed(t *testing.T) {
	b := newBench(t)
	o := b.owner(1, 0)
	conn, _ := b.Connect(t)
	hold := make(chan struct{})
	r := run(t, follow.Options{Conn: conn, Reader: b.ledger, Partitions: schema.Partitions, Transcript: transcript, Poll: time.Hour}, hold)
	hold <- struct{}{} // the snapshot
	r.reads("snapshot 1")
	var text strings.Builder
	const pieces = 20000
	for i := range uint64(pieces) {
		text.WriteString("x")
		b.live(2+i, &schema.Delta{MessageID: "m", Index: i, TextFragment: "x"})
	}
	o.set(pieces+1, 0, open("m", text.String(), pieces))
	close(hold)

	shown, slow := "", 0
	for len(shown) < pieces {
		got := <-r.items
		switch {
		case strings.HasPrefix(got, "delta answer m "):
			shown += "x"
		case strings.HasPrefix(got, "snapshot "):
			require.Equal(t, `snapshot 20001 m "`+text.String()+`"`, got)
			shown = text.String()
		default:
			require.Contains(t, []string{"lag slow 0 ", "lag missed 0 "}, got)
			if got == "lag slow 0 " {
				slow++
			}
		}
	}
	require.Positive(t, slow)
	require.Equal(t, text.String(), shown)
	b.piece(pieces+2, "m", pieces, "y")
	r.reads(`delta answer m 20000 "y"`)
}

func TestAReconnectIsSaidAndMadeUpFor(t *testing.T) {
	b := newBench(t)
	o := b.owner(10, 0, open("m", "one", 1))
	r := b.follow(follow.Options{Poll: 200 * time.Millisecond})
	r.reads(`snapshot 10 m "one"`)
	b.Stop()
	r.reads("lag disconnected 0 ")
	b.store(11, note("the ledger is read without a connection"))
	r.reads("event 1 Progress")
	o.set(11, 1, open("m", "one", 1))
	b.Restart(t)
	r.reads("lag reconnected 0 ")
	for {
		select {
		case got := <-r.items:
			if got == "lag no_owner 0 " { // the owner's connection came back later
				continue
			}
			require.Equal(t, `snapshot 11 m "one"`, got)
			return
		case <-time.After(within):
			require.Fail(t, "no snapshot")
		}
	}
}

func TestWhatEndsAFollower(t *testing.T) {
	t.Run("stop", func(t *testing.T) {
		b := newBench(t)
		b.store(1, note("a"), note("b"))
		f, err := follow.New(follow.Options{Conn: b.NC, Reader: b.ledger, Partitions: schema.Partitions, Transcript: transcript})
		require.NoError(t, err)
		n := 0
		require.NoError(t, f.Run(t.Context(), func(follow.Item) error { n++; return follow.ErrStop }))
		require.Equal(t, 1, n)
		require.Zero(t, b.NC.NumSubscriptions(), "nothing is left behind")
	})
	boom := errors.New("boom")
	t.Run("emit", func(t *testing.T) {
		b := newBench(t)
		b.store(1, note("a"))
		f, err := follow.New(follow.Options{Conn: b.NC, Reader: b.ledger, Partitions: schema.Partitions, Transcript: transcript})
		require.NoError(t, err)
		require.ErrorIs(t, f.Run(t.Context(), func(follow.Item) error { return boom }), boom)
	})
	t.Run("ledger", func(t *testing.T) {
		b := newBench(t)
		b.ledger.err = boom
		r := b.follow(follow.Options{})
		err := r.ends()
		require.ErrorIs(t, err, boom)
		require.ErrorContains(t, err, transcript.String())
	})
	t.Run("gap in the ledger", func(t *testing.T) {
		b := newBench(t)
		b.store(1, note("a"), note("b"), note("c"))
		b.skip = 2
		r := b.follow(follow.Options{})
		require.ErrorContains(t, r.ends(), "read event 2: the ledger gives 3")
		r.reads("event 1 Progress")
	})
	t.Run("bad event", func(t *testing.T) {
		b := newBench(t)
		b.events = []sink.Event{{Seq: 1, Bytes: []byte("{")}}
		require.ErrorContains(t, b.follow(follow.Options{}).ends(), "read event 1")
		require.ErrorContains(t, b.follow(follow.Options{After: 1}).ends(), "read event 1")
	})
	t.Run("connection", func(t *testing.T) {
		b := newBench(t)
		conn, _ := b.Connect(t)
		b.owner(1, 0)
		r := b.follow(follow.Options{Conn: conn})
		r.reads("snapshot 1")
		conn.Close()
		require.ErrorIs(t, r.ends(), nats.ErrConnectionClosed)
		require.ErrorIs(t, b.follow(follow.Options{Conn: conn}).ends(), nats.ErrConnectionClosed)
	})
}

func TestOptionsAreChecked(t *testing.T) {
	conn, l := &nats.Conn{}, &ledger{}
	for _, o := range []follow.Options{
		{Reader: l, Partitions: 1, Transcript: transcript},
		{Conn: conn, Partitions: 1, Transcript: transcript},
		{Conn: conn, Reader: l, Transcript: transcript},
		{Conn: conn, Reader: l, Partitions: 1},
	} {
		_, err := follow.New(o)
		require.Error(t, err)
	}
}
