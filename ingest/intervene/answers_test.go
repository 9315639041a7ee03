package intervene

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
)

// gate is a target whose messages take until they may; its cancels are done at once.
type gate struct {
	begun chan struct{} // one for each message
	goOn  chan struct{}
}

func (gate) Supported() []schema.Primitive { return []schema.Primitive{schema.PrimitiveCancel} }

func (g gate) Deliver(_ context.Context, i schema.Intervention) schema.Outcome {
	if i.Kind.Kind == schema.PrimitiveInject {
		g.begun <- struct{}{}
		<-g.goOn
	}
	return schema.Applied()
}

func inject(id string) schema.Intervention {
	return schema.Intervention{ID: id, Kind: schema.InterventionKind{Kind: schema.PrimitiveInject, Text: "Go on"}}
}

// gates serves one capture.
type gates struct{ gate }

func (gates) Served(context.Context) ([]schema.Identity, error) {
	return []schema.Identity{capture}, nil
}
func (g gates) Target(schema.Identity) Target { return g.gate }

// attending are the two ways to take interventions for a capture, each until ctx ends.
var attending = map[string]func(ctx context.Context, conn *nats.Conn, g gate) error{
	"desk": func(ctx context.Context, conn *nats.Conn, g gate) error {
		return NewDesk(g).Serve(ctx, conn, capture, nil)
	},
	"desks": func(ctx context.Context, conn *nats.Conn, g gate) error { return NewDesks().Serve(ctx, conn, gates{g}) },
}

// attend serves a gate; it is open when the test ends.
func attend(t *testing.T, conn *nats.Conn, serve func(context.Context, *nats.Conn, gate) error) gate {
	t.Helper()
	g := gate{make(chan struct{}, 1000), make(chan struct{})}
	ctx, end := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	var failed error
	serving.Go(func() { failed = serve(ctx, conn, g) })
	t.Cleanup(func() {
		select {
		case <-g.goOn:
		default:
			close(g.goOn)
		}
		end()
		serving.Wait()
		require.NoError(t, failed)
	})
	require.Eventually(t, func() bool {
		_, err := Ask(t.Context(), conn, capture, "miller")
		return err == nil
	}, 20*time.Second, 10*time.Millisecond)
	return g
}

// Whoever sends one hears of it, however many come at once: what finds no place is told so, and done when it comes again.
func TestEachOfABurstIsAnswered(t *testing.T) {
	t.Parallel()
	for name, serve := range attending {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := natstest.Start(t)
			conn, _ := s.Connect(t)
			asker, _ := s.Connect(t)
			g := attend(t, conn, serve)
			const burst = 5 * maxQueue
			answers := make(chan error, burst)
			for n := range burst {
				go func() {
					ctx, done := context.WithTimeout(t.Context(), time.Minute)
					defer done()
					_, err := Send(ctx, asker, capture, "miller", inject(fmt.Sprint(n)))
					answers <- err
				}()
			}
			<-g.begun
			busy := 0
			for ; busy < burst-2*maxQueue; busy++ { // what waits for the first one is at most that
				require.ErrorIs(t, <-answers, ErrBusy)
			}
			close(g.goOn)
			applied := 0
			for range burst - busy {
				err := <-answers
				if errors.Is(err, ErrBusy) {
					continue
				}
				require.NoError(t, err)
				applied++
			}
			require.Positive(t, applied)
			for n := range burst { // each once, whether it was the first time or is now
				o, err := Send(t.Context(), asker, capture, "miller", inject(fmt.Sprint(n)))
				require.NoError(t, err)
				require.Equal(t, schema.Applied(), o)
			}
			require.Len(t, g.begun, burst-1)
		})
	}
}

// A cancel is meant for what goes on now: no message that takes long is in its way, nor are those that wait for it.
func TestACancelDoesNotWaitForMessages(t *testing.T) {
	t.Parallel()
	for name, serve := range attending {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, _ := natstest.Start(t).Connect(t)
			g := attend(t, conn, serve)
			ctx, done := context.WithTimeout(t.Context(), 20*time.Second)
			defer done()
			for n := range 2 * maxQueue {
				require.NoError(t, conn.PublishRequest(schema.InterveneSubject(capture, "miller"), nats.NewInbox(),
					encode(message{Intervention: inject(fmt.Sprint("i-", n))})))
			}
			<-g.begun
			o, err := Send(ctx, conn, capture, "miller", cancel("c", ""))
			require.NoError(t, err)
			require.Equal(t, schema.Applied(), o)
			_, err = Send(ctx, conn, capture, "miller", cancel("i-0", ""))
			require.ErrorIs(t, err, ErrRefused, "another one's id, which is under way")
		})
	}
}

// An outcome is not forgotten before it is known: what came again meanwhile would be done twice.
func TestWhatIsUnderWayIsNotForgotten(t *testing.T) {
	t.Parallel()
	g := gate{make(chan struct{}, 2), make(chan struct{})}
	d := NewDesk(g)
	var under sync.WaitGroup
	under.Go(func() { d.deliver(t.Context(), inject("slow"), time.Now()) })
	<-g.begun
	for n := range maxAnswered + 10 {
		require.JSONEq(t, `{"outcome":"Applied"}`, string(d.deliver(t.Context(), cancel(fmt.Sprint(n), ""), time.Now())))
	}
	under.Go(func() { d.deliver(t.Context(), inject("slow"), time.Now()) })
	close(g.goOn)
	under.Wait()
	require.Empty(t, g.begun)
}
