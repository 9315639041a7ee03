package tui

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

func TestTheClockOfAReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTempo()
		c.set(began)
		waits := func(at time.Duration) time.Duration {
			before := time.Now()
			require.NoError(t, c.WaitUntil(t.Context(), began.Add(at)))
			return time.Since(before)
		}
		require.Equal(t, 10*time.Second, waits(10*time.Second))
		c.alter(func() { c.speed = 4 })
		require.Equal(t, 10*time.Second, waits(50*time.Second))
		require.Zero(t, waits(40*time.Second))
		c.alter(func() { c.idle = 2 * time.Second })
		require.Equal(t, 2*time.Second, waits(time.Hour))
		require.Equal(t, began.Add(time.Hour), c.Now())

		c.alter(func() { c.paused = true })
		done := make(chan time.Duration)
		go func() { done <- waits(2 * time.Hour) }()
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, began.Add(time.Hour), c.Now(), "it stands still")
		c.step()
		require.Equal(t, time.Minute, <-done)
		require.Equal(t, began.Add(2*time.Hour), c.Now())

		go func() { done <- waits(3 * time.Hour) }()
		synctest.Wait()
		c.alter(func() { c.paused, c.idle, c.speed = false, 0, 60 })
		require.Equal(t, time.Minute, <-done)

		ctx, end := context.WithCancel(t.Context())
		end()
		require.ErrorIs(t, c.WaitUntil(ctx, began.Add(9*time.Hour)), context.Canceled)
	})
}

// played is a shelf with a transcript that types a text between its events: a word a second.
func played() *shelf {
	s := newShelf("Sacks")
	s.fill(0, 3) // at 1, 2 and 3 s
	s.typed = append(s.typed, s.events[s.rows[0].Transcript]...)
	for i, word := range []string{"There ", "are ", "14 ", "sacks"} {
		s.typed = append(s.typed, schema.Event{Transcript: s.rows[0].Transcript, AgentRole: "agent", Ephemeral: true,
			EmittedAt: began.Add(time.Duration(4+i) * time.Second), Kind: &schema.Delta{MessageID: "m", Index: uint64(i), TextFragment: word}})
	}
	s.typed = append(s.typed, s.store(0, &schema.Message{Role: schema.Assistant, Channel: schema.Answer, MessageID: "m", Text: "There are 14 sacks.", Boundary: schema.BoundaryTurnEnd}))
	last := &s.typed[len(s.typed)-1]
	last.EmittedAt = began.Add(20 * time.Second)
	s.rows[0].FirstAt, s.rows[0].LastAt = began.Add(time.Second), last.EmittedAt
	s.events[s.rows[0].Transcript][3].EmittedAt = last.EmittedAt
	return s
}

func TestAReplayIsControlled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newStage(t, played(), 80, 30, nil)
		x.until("Sacks")
		x.keys("R")
		x.until("number 1.", "▶ ×1", "0:19")
		x.keys("space")
		x.until("‖ paused")
		x.keys("right")
		x.until(" 0:05 ━")
		x.untilThat(func(string) bool { return x.m.stack[1].(*transcript).page.head() == 3 }, "it is there")
		x.keys("home")
		x.until(" 0:00 ─")
		for range 3 {
			x.keys(".")
		}
		x.until("number 3.")
		x.keys(".")
		x.until("  There")
		x.keys(".")
		x.until("  There are")
		x.keys("left", "left")
		x.until(" 0:00 ─", "number 1.")
		x.keys("i", "i", "i", "+", "+", "+", "+", "space") // pauses are cut, and the rest is fast
		x.until("There are 14 sacks.", "■ over", " 0:19 ━")
		x.keys("space")
		x.until("▶ ×16 · pauses ≤ 200ms")
		x.keys("space", "home")
		x.until("‖ paused", " 0:00 ─")
		x.tell(tea.MouseClickMsg{X: 40, Y: 28, Button: tea.MouseLeft}) // the middle of the bar
		x.until("‖ paused", " 0:09 ━")
		x.keys("end")
		x.until("■ over")
		x.keys("q")
		x.until("1 transcript")
	})
}

func TestAReplayFromHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := played()
		x := newStage(t, s, 80, 8, &s.rows[0])
		x.until("There are 14 sacks.")
		x.keys(":", "3", "enter", "down", "down", "down", "R")
		x.until("number 3.", "▶ ×1")
		x.keys("space")
		x.until("‖ paused")
		require.Contains(t, x.screen(), " 0:0")
	})
}

func TestAReplayThatFailedBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := played()
		x := newStage(t, s, 80, 30, nil)
		x.until("Sacks")
		fails := func(err error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.fails = err
		}
		fails(errors.New("the stream has gone"))
		x.keys("R")
		x.until("cannot replay: the stream has gone")
		x.keys("home")
		require.Contains(t, x.screen(), "▶ ×1")
		x.until("cannot replay: the stream has gone")
		fails(nil)
		x.keys("right")
		x.until("number 3.", "▶ ×1", " 0:05 ━")
	})
}

func TestStepsOfAReplayAddUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newStage(t, played(), 80, 30, nil)
		x.until("Sacks")
		x.keys("R")
		x.until("number 1.")
		x.keys("space", "right", "right")
		require.Contains(t, x.screen(), " 0:10 ━", "before it is there")
		x.until("‖ paused", "There are 14 sacks")
		require.Contains(t, x.screen(), " 0:10 ━")
		x.keys("end")
		x.until("■ over")
		time.Sleep(time.Minute) // of the bubble: the clock goes on
		x.keys("left")
		x.until(" 0:14 ━", "There are 14 sacks")
	})
}
