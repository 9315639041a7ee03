package follow_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/follow"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// talker is a conversation of A2A.
type talker struct {
	*tap
	t *testing.T
}

func (p *pipeline) talker(run string) *talker {
	_, js := p.Connect(p.t)
	c := &talker{&tap{js: js, id: schema.Identity{Namespace: "n", Workflow: "w", Run: run, Attempt: 1}}, p.t}
	c.frame(p.t, schema.FromControl, schema.TypeOpen, `{"protocol":"a2a","peer":"mill"}`)
	return c
}

func (c *talker) asks(exchange, text string) {
	c.exchange(c.t, exchange, schema.ChanRequest, `{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"messageId":"`+exchange+
		`","role":"ROLE_USER","parts":[{"text":"`+text+`"}]}}}`)
}

func (c *talker) says(exchange, text string) {
	c.exchange(c.t, exchange, schema.ChanStream, `{"message":{"messageId":"a-`+exchange+`","role":"ROLE_AGENT","parts":[{"text":"`+text+`"}]}}`)
	c.exchange(c.t, exchange, "", "")
}

// newestOf follows whatever is said last, from a transcript on; each call of the returned function gives
// what it tells next.
func (p *pipeline) newestOf(first *talker, idle time.Duration) (next func() string, stop func()) {
	conn, _ := p.Connect(p.t)
	told, done := make(chan string, 1000), make(chan error, 1)
	ctx, cancel := context.WithTimeout(context.Background(), within)
	key := schema.Transcript{Identity: first.id}
	require.Eventually(p.t, func() bool { _, err := p.ledger.Transcript(ctx, key); return err == nil }, within, 5*time.Millisecond)
	seqs, at := map[schema.Transcript]uint64{}, key
	go func() {
		done <- follow.Newest(ctx, follow.NewestOptions{
			Options: follow.Options{Conn: conn, Reader: p.ledger, Partitions: p.Info.Partitions, Transcript: key, Poll: 50 * time.Millisecond},
			Idle:    idle, Counts: func(s sink.Summary) bool { return !s.Empty },
		}, func(i follow.Item) error {
			switch i := i.(type) {
			case *follow.Begin:
				at = i.Summary.Transcript
				told <- "begin " + i.Summary.Transcript.Run
			case *follow.Event:
				if m, ok := i.Event.Kind.(*schema.Message); ok {
					told <- m.Text
				}
				if seqs[at]++; i.Seq != seqs[at] {
					return fmt.Errorf("want event %d of %s, got %d", seqs[at], at, i.Seq)
				}
			case *follow.End:
				told <- string(i.Status)
			}
			return nil
		})
	}()
	stop = func() {
		cancel()
		require.NoError(p.t, <-done)
		require.Empty(p.t, told)
	}
	return func() string {
		select {
		case s := <-told:
			return s
		case err := <-done:
			done <- err
			return fmt.Sprint("it ended: ", err)
		case <-ctx.Done():
			return "nothing"
		}
	}, stop
}

// Conversations one after the other, and one that goes on: each is told when it says something, from where
// it had been told.
func TestNewestGoesOnWithTheNextConversation(t *testing.T) {
	p := newPipeline(t)
	p.worker()
	old, one, two, card := p.talker("old"), p.talker("one"), p.talker("two"), p.talker("card")
	for _, c := range []*talker{old, one} {
		c.asks("e1", "Begin "+c.id.Run)
		c.says("e1", "Bye")
	}
	require.Eventually(t, func() bool {
		s, err := p.ledger.Transcript(t.Context(), schema.Transcript{Identity: old.id})
		return err == nil && s.Status == schema.StatusEnded
	}, within, 5*time.Millisecond)
	next, stop := p.newestOf(one, time.Hour)
	tells := func(want ...string) {
		t.Helper()
		for _, w := range want {
			require.Equal(t, w, next())
		}
	}
	tells("begin one", "Begin one", "Bye", "ended")
	card.exchange(t, "e1", schema.ChanCard, `{"name":"mill"}`) // nobody says anything
	two.asks("e1", "Go")
	tells("begin two", "Go")
	one.asks("e2", "And now?") // two has not ended
	time.Sleep(200 * time.Millisecond)
	two.says("e1", "Gone")
	tells("Gone", "ended", "begin one", "And now?")
	one.says("e2", "Nothing")
	tells("Nothing", "ended")
	old.asks("e2", "Again") // it was not told before
	tells("begin old", "Begin old", "Bye", "Again")
	old.says("e2", "Well")
	tells("Well", "ended")
	stop()
}

// An open conversation that is silent gives way to one that speaks.
func TestNewestLeavesWhoIsSilent(t *testing.T) {
	p := newPipeline(t)
	p.worker()
	one, two := p.talker("one"), p.talker("two")
	one.asks("e1", "Wait")
	next, stop := p.newestOf(one, 300*time.Millisecond)
	require.Equal(t, "begin one", next())
	require.Equal(t, "Wait", next())
	began := time.Now()
	two.asks("e1", "Go")
	require.Equal(t, "begin two", next())
	require.Less(t, 250*time.Millisecond, time.Since(began))
	require.Equal(t, "Go", next())
	one.says("e1", "Here")
	require.Equal(t, "begin one", next())
	require.Equal(t, "Here", next())
	require.Equal(t, "ended", next())
	two.says("e1", "There")
	require.Equal(t, "begin two", next())
	require.Equal(t, "There", next())
	require.Equal(t, "ended", next())
	stop()
}

func TestNewestStopsAndFails(t *testing.T) {
	require.Error(t, follow.Newest(t.Context(), follow.NewestOptions{}, nil))
	p := newPipeline(t)
	p.worker()
	one := p.talker("one")
	one.asks("e1", "Wait")
	key := schema.Transcript{Identity: one.id}
	require.Eventually(t, func() bool { _, err := p.ledger.Transcript(t.Context(), key); return err == nil }, within, 5*time.Millisecond)
	o := follow.NewestOptions{Options: follow.Options{Conn: p.NC, Reader: p.ledger, Partitions: p.Info.Partitions, Transcript: key}}
	require.NoError(t, follow.Newest(t.Context(), o, func(i follow.Item) error {
		if _, ok := i.(*follow.Event); ok {
			return follow.ErrStop
		}
		return nil
	}))
	require.ErrorContains(t, follow.Newest(t.Context(), o, func(follow.Item) error { return context.DeadlineExceeded }), "deadline")
	o.Transcript.Run = "nobody"
	require.ErrorIs(t, follow.Newest(t.Context(), o, func(follow.Item) error { return nil }), sink.ErrNotFound)
}
