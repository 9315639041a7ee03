package intervene

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
)

// house serves captures, each with a target that says how many interventions came to it.
type house struct {
	mu      sync.Mutex
	served  []schema.Identity
	targets map[schema.Identity]*counter
}

func (h *house) Served(context.Context) ([]schema.Identity, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.served, nil
}

func (h *house) Target(id schema.Identity) Target {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.targets[id] = &counter{}
	return h.targets[id]
}

func (h *house) serve(ids ...schema.Identity) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.served = ids
}

// Captures come and go; of several processes that serve one, one gets an intervention.
func TestDesksOfManyCaptures(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	connect := func() *nats.Conn {
		conn, err := nats.Connect(s.URL())
		require.NoError(t, err)
		t.Cleanup(conn.Close)
		return conn
	}
	one, other := capture, capture
	other.Run = "r-2"
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	houses := []*house{{targets: map[schema.Identity]*counter{}}, {targets: map[schema.Identity]*counter{}}}
	serving, end := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	for _, h := range houses {
		h.serve(one)
		go func() { ended <- NewDesks().Serve(serving, connect(), h) }()
	}
	asker := connect()
	require.Eventually(t, func() bool {
		c, err := Ask(ctx, asker, one, "miller")
		return err == nil && c.Labels() == "cancel"
	}, 20*time.Second, 10*time.Millisecond)
	_, err := Send(ctx, asker, other, "miller", cancel("1", ""))
	require.ErrorIs(t, err, ErrNobody, "it is served by nobody")
	for n := range 20 {
		_, err := Send(ctx, asker, one, "miller", cancel(fmt.Sprint("i-", n), ""))
		require.NoError(t, err)
	}

	houses[0].serve(one, other)
	require.Eventually(t, func() bool {
		o, err := Send(ctx, asker, other, "miller", cancel("1", ""))
		return err == nil && o == schema.Stale("1 came")
	}, 20*time.Second, 10*time.Millisecond)
	o, err := Send(ctx, asker, other, "miller", cancel("1", ""))
	require.NoError(t, err)
	require.Equal(t, schema.Stale("1 came"), o, "the first outcome")
	houses[0].serve(one)
	require.Eventually(t, func() bool {
		_, err := Send(ctx, asker, other, "miller", cancel("2", ""))
		return err != nil
	}, 20*time.Second, 10*time.Millisecond)
	end()
	require.NoError(t, <-ended)
	require.NoError(t, <-ended)
	_, err = Send(ctx, asker, one, "miller", cancel("3", ""))
	require.ErrorIs(t, err, ErrNobody)
	came := 0
	for _, h := range houses {
		if target := h.targets[one]; target != nil {
			came += len(target.got)
		}
	}
	require.Equal(t, 20, came, "each came to one of them")
}

// laggard is a target that takes until it may.
type laggard struct{ came, may chan struct{} }

func (s laggard) Supported() []schema.Primitive { return []schema.Primitive{schema.PrimitiveCancel} }

func (s laggard) Deliver(context.Context, schema.Intervention) schema.Outcome {
	select {
	case s.came <- struct{}{}:
	default:
	}
	<-s.may
	return schema.Applied()
}

// slowly serves captures of laggards.
type slowly struct {
	served  []schema.Identity
	targets map[schema.Identity]laggard
}

func (s slowly) Served(context.Context) ([]schema.Identity, error) { return s.served, nil }

func (s slowly) Target(id schema.Identity) Target { return s.targets[id] }

// A conversation in which each intervention takes long does not take the places of all others.
func TestASlowConversationLeavesRoomForOthers(t *testing.T) {
	t.Parallel()
	conn, err := nats.Connect(natstest.Start(t).URL())
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	other, may := capture, make(chan struct{})
	other.Run = "r-2"
	free := make(chan struct{})
	close(free)
	house := slowly{[]schema.Identity{capture, other}, map[schema.Identity]laggard{
		capture: {make(chan struct{}, 1), may}, other: {make(chan struct{}, 1), free},
	}}
	ctx, end := context.WithTimeout(t.Context(), 30*time.Second)
	defer end()
	var serving sync.WaitGroup
	serving.Go(func() { _ = NewDesks().Serve(ctx, conn, house) })
	require.Eventually(t, func() bool {
		c, err := Ask(ctx, conn, other, "miller")
		return err == nil && c.Labels() == "cancel"
	}, 20*time.Second, 10*time.Millisecond)
	outcomes := make(chan schema.Outcome, maxUnderWay)
	var asking sync.WaitGroup
	for n := range cap(outcomes) {
		asking.Go(func() {
			o, err := Send(ctx, conn, capture, "miller", cancel(fmt.Sprint(n), ""))
			if err == nil {
				outcomes <- o
			}
		})
	}
	for range cap(outcomes) - maxAtDesk {
		select {
		case o := <-outcomes:
			require.Equal(t, schema.Stale("nothing was done: too many wait in this conversation"), o)
		case <-ctx.Done():
			t.Fatal("they wait for their turn")
		}
	}
	o, err := Send(ctx, conn, other, "miller", cancel("1", ""))
	require.NoError(t, err)
	require.Equal(t, schema.Applied(), o)
	close(may)
	for range maxAtDesk {
		require.Equal(t, schema.Applied(), <-outcomes)
	}
	asking.Wait()
	end()
	serving.Wait()
}

func TestDesksWithoutAConnection(t *testing.T) {
	t.Parallel()
	conn, err := nats.Connect(natstest.Start(t).URL())
	require.NoError(t, err)
	conn.Close()
	require.ErrorIs(t, NewDesks().Serve(t.Context(), conn, &house{}), nats.ErrConnectionClosed)
}
