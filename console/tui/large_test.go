package tui

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/follow"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// heavy is a shelf with a transcript of large events: each holds so many bytes.
func heavy(events, size int) *shelf {
	s := newShelf("Sacks")
	image := `{"type":"image","data":"` + strings.Repeat("o", size) + `"}`
	for i := range events {
		s.store(0, &schema.Message{Role: schema.Assistant, Channel: schema.Answer, MessageID: fmt.Sprint(i), Content: schema.JSON(fmt.Sprintf(`[{"type":"text","text":"number %d."},%s]`, i+1, image)), Boundary: schema.BoundaryTurnEnd})
	}
	return s
}

func TestWhatIsAroundALargeEventHasIt(t *testing.T) {
	s := heavy(260, 64<<10)
	events, err := readAround(t.Context(), s, s.rows[0].Transcript, 200)
	require.NoError(t, err)
	require.LessOrEqual(t, weightOf(events), 3*readBytes)
	first := events[0].StoreSeq
	require.Greater(t, first, uint64(117), "they are too large for all that are above")
	require.Less(t, first, uint64(200))
	require.Greater(t, events[len(events)-1].StoreSeq, uint64(200))
	for i, e := range events {
		require.EqualValues(t, first+uint64(i), e.StoreSeq)
	}
}

func TestAJumpAmongLargeEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := heavy(400, 64<<10)
		x := newStage(t, s, 80, 20, &s.rows[0])
		x.until("400  ? help", "number 400.")
		x.keys(":", "2", "0", "0", "enter")
		x.until("▌  number 200.")
	})
}

func TestATextIsFoundAmongLargeEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := heavy(300, 24<<10)
		x := newStage(t, s, 80, 20, &s.rows[0])
		x.until("300  ? help", "number 300.")
		x.keys("/")
		x.keys(strings.Split("number 3.", "")...)
		x.keys("enter")
		x.until("▌  number 3.")
		x.keys("N")
		x.until("not found above")
		x.keys("n")
		x.until("not found below")
	})
}

// gated is a shelf whose events wait, from a number on, until they are let through, or the reader goes.
type gated struct {
	*shelf
	gate  chan struct{}
	waits chan struct{} // has an entry for each reader that waits
	gone  chan struct{} // has an entry for each of them that went
}

func (g gated) Events(ctx context.Context, key schema.Transcript, after uint64, limit int) iter.Seq2[sink.Event, error] {
	return func(yield func(sink.Event, error) bool) {
		if after < 250 {
			g.waits <- struct{}{}
			select {
			case <-g.gate:
			case <-ctx.Done():
				g.gone <- struct{}{}
				yield(sink.Event{}, ctx.Err())
				return
			}
		}
		g.shelf.Events(ctx, key, after, limit)(yield)
	}
}

func newGated(events int) gated {
	g := gated{newShelf("Sacks"), make(chan struct{}), make(chan struct{}, 64), make(chan struct{}, 64)}
	g.fill(0, events)
	return g
}

// stage shows a gated shelf.
func (g gated) stage(t *testing.T) *stage {
	x := newStage(t, g.shelf, 80, 20, nil)
	x.until("Sacks")
	x.m.o.Ledger = g
	x.keys("enter")
	x.until("● live", "? help")
	return x
}

func TestALookForATextIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGated(900)
		x := g.stage(t)
		x.keys("/", "z", "z", "enter")
		x.until("looking for it")
		<-g.waits
		x.keys("esc")
		<-g.gone
		require.NotContains(t, x.screen(), "looking for it")
		x.keys("/", "r", " ", "9", ".", "enter") // another one is taken at once
		x.until("looking for it", "/r 9.")
		<-g.waits
		x.keys("/", "r", " ", "8", ".", "enter")
		<-g.gone
		close(g.gate)
		x.until("▌  number 8.")
		require.NotContains(t, x.screen(), "looking for it")
	})
}

func TestTheLastJumpCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGated(900)
		x := g.stage(t)
		x.keys(":", "7", "enter") // it has to wait
		x.keys(":", "4", "0", "0", "enter")
		x.until("▌  number 400.")
		x.keys("end")
		close(g.gate)
		x.untilThat(func(string) bool { return !x.m.stack[1].(*transcript).busy }, "all is read")
		require.Contains(t, x.screen(), "number 900.")
	})
}

func TestANewFollowerBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf("Sacks")
		s.fill(0, 3)
		s.leaves = make(chan struct{})
		x := newStage(t, s, 80, 20, &s.rows[0])
		x.until("number 3.")
		x.untilThat(func(string) bool { return s.followed(0) }, "followed")
		s.tell(0, &follow.Lag{Reason: follow.LagDisconnected})
		s.tell(0, &follow.Lag{Reason: follow.LagBehind, Events: 7})
		x.until("connection lost")
		s.leaves <- struct{}{}
		x.until("cannot read: the follower has gone")
		x.until("● live")
	})
}

func TestNobodyIsToldOfASilentReplay(t *testing.T) {
	in := newInflow()
	in.restart()
	require.NoError(t, in.take(&follow.Event{Seq: 1, Event: schema.Event{Kind: &schema.Message{}}}))
	require.Equal(t, news{quiet: true}, in.news())
	in.loud()
	n := in.news()
	require.True(t, n.anew)
	require.Len(t, n.events, 1)
}
