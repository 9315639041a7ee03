package follow

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/natstest"
)

// counted counts those who wait for its end.
type counted struct {
	context.Context
	n atomic.Int32
}

func (c *counted) Done() <-chan struct{} {
	c.n.Add(1)
	return c.Context.Done()
}

// Many who ask at once are answered by few reads, each with what was read after it asked.
func TestWhoAsksTogetherReadsOnce(t *testing.T) {
	turns := turns[string, int]{by: map[string]*turn[int]{}}
	var mu sync.Mutex
	reads, overlap, stored := 0, 0, 0
	begun, proceed := make(chan struct{}, 100), make(chan struct{})
	read := func(context.Context) (int, error) {
		mu.Lock()
		reads++
		overlap++
		require.Equal(t, 1, overlap, "two read at once")
		mu.Unlock()
		begun <- struct{}{}
		<-proceed
		mu.Lock()
		defer mu.Unlock()
		overlap--
		return stored, nil
	}
	results := make(chan int, 100)
	waiting := &counted{Context: context.Background()}
	ask := func() {
		v, err := turns.do(waiting, "k", read)
		require.NoError(t, err)
		results <- v
	}
	go ask()
	<-begun // the first one reads
	for range 50 {
		go ask()
	}
	left, cancel := context.WithCancel(t.Context())
	require.Eventually(t, func() bool { return waiting.n.Load() == 49 }, time.Minute, time.Millisecond, "all but who reads next wait")
	cancel()
	_, err := turns.do(left, "k", read)
	require.ErrorIs(t, err, context.Canceled, "whoever goes away does not wait")
	mu.Lock()
	stored = 1 // after all of them asked; the first may see it or not
	mu.Unlock()
	close(proceed)
	for range 51 {
		<-results
	}
	require.Equal(t, 2, reads)
	v, err := turns.do(t.Context(), "k", read)
	require.NoError(t, err)
	require.Equal(t, 1, v)
	require.Empty(t, turns.by, "nothing is kept")

	boom := errors.New("boom")
	_, err = turns.do(t.Context(), "k", func(context.Context) (int, error) { return 0, boom })
	require.ErrorIs(t, err, boom)
	require.Empty(t, turns.by)
}

// What one asks for after something was stored is never from a read that began before that.
func TestASharedReadIsNeverOlderThanTheQuestion(t *testing.T) {
	turns := turns[int, int]{by: map[int]*turn[int]{}}
	var mu sync.Mutex
	stored := 0
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 2000 {
				mu.Lock()
				stored++
				want := stored
				mu.Unlock()
				got, err := turns.do(context.Background(), 0, func(context.Context) (int, error) {
					mu.Lock()
					defer mu.Unlock()
					return stored, nil
				})
				if err != nil || got < want {
					t.Errorf("want %d or more, got %d, %v", want, got, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestFollowersShareSubscriptions(t *testing.T) {
	s := natstest.StartWith(t, natstest.Options{Bare: true})
	shared := NewShared(s.NC, nil)
	before := s.NC.NumSubscriptions()
	var leave []func() error
	inboxes := []*inbox{newInbox(), newInbox(), newInbox()}
	for _, b := range inboxes {
		l, err := shared.subscribe("a", b, b.delta)
		require.NoError(t, err)
		leave = append(leave, l)
	}
	require.Equal(t, before+1, s.NC.NumSubscriptions())
	say := func() {
		require.NoError(t, s.NC.PublishMsg(&nats.Msg{Subject: "a", Data: []byte("x")}))
	}
	hears := func(b *inbox) {
		t.Helper()
		select {
		case <-b.ready:
			require.Len(t, b.take().messages, 1)
		case <-time.After(time.Minute):
			require.Fail(t, "it hears nothing")
		}
	}
	say()
	for _, b := range inboxes {
		hears(b)
	}
	require.NoError(t, leave[0]())
	say()
	hears(inboxes[1])
	hears(inboxes[2])
	require.Empty(t, inboxes[0].take().messages)
	require.NoError(t, leave[1]())
	require.NoError(t, leave[2]())
	require.Equal(t, before, s.NC.NumSubscriptions())
	require.Empty(t, shared.subjects)
	l, err := shared.subscribe("a", inboxes[0], inboxes[0].delta)
	require.NoError(t, err)
	say()
	hears(inboxes[0])
	s.NC.Close()
	require.NoError(t, l(), "the connection took the subscription with it")
}
