package intervene

import (
	"context"
	"fmt"
	"maps"
	"slices"
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
		conn, _ := s.Connect(t)
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

// stuck is a target that takes until it may.
type stuck chan struct{}

func (stuck) Supported() []schema.Primitive { return []schema.Primitive{schema.PrimitiveCancel} }

func (s stuck) Deliver(context.Context, schema.Intervention) schema.Outcome {
	<-s
	return schema.Applied()
}

// stuckHouse serves captures of stuck targets.
type stuckHouse map[schema.Identity]stuck

func (h stuckHouse) Served(context.Context) ([]schema.Identity, error) {
	return slices.Collect(maps.Keys(h)), nil
}

func (h stuckHouse) Target(id schema.Identity) Target { return h[id] }

// A conversation in which each intervention takes long does not take the places of all others.
func TestASlowConversationLeavesRoomForOthers(t *testing.T) {
	t.Parallel()
	conn, _ := natstest.Start(t).Connect(t)
	other := capture
	other.Run = "r-2"
	house := stuckHouse{capture: make(stuck), other: make(stuck)}
	close(house[other])
	ctx, end := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	serving.Go(func() { _ = NewDesks().Serve(ctx, conn, house) })
	t.Cleanup(serving.Wait)
	t.Cleanup(end)
	t.Cleanup(func() { close(house[capture]) })
	answers := func(id schema.Identity) func() bool {
		return func() bool {
			ctx, done := context.WithTimeout(ctx, time.Second)
			defer done()
			_, err := Ask(ctx, conn, id, "miller")
			return err == nil
		}
	}
	require.Eventually(t, answers(capture), 20*time.Second, 10*time.Millisecond)
	require.Eventually(t, answers(other), 20*time.Second, 10*time.Millisecond)
	for n := range maxUnderWay {
		require.NoError(t, conn.PublishRequest(schema.InterveneSubject(capture, "miller"), nats.NewInbox(),
			encode(message{Intervention: cancel(fmt.Sprint(n), "")})))
	}
	require.Eventually(t, answers(other), 20*time.Second, 10*time.Millisecond)
	o, err := Send(ctx, conn, other, "miller", cancel("1", ""))
	require.NoError(t, err)
	require.Equal(t, schema.Applied(), o)
}

// What is served no more when a connection comes again is forgotten, as it is while there is one.
func TestCapturesThatGoBetweenTwoConnections(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	desks, h := NewDesks(), &house{targets: map[schema.Identity]*counter{}}
	h.serve(capture)
	asker, _ := s.Connect(t)
	serve := func(until func() bool) {
		conn, _ := s.Connect(t)
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- desks.Serve(ctx, conn, h) }()
		require.Eventually(t, until, 20*time.Second, 10*time.Millisecond)
		end()
		require.NoError(t, <-ended)
	}
	remembered := func() int {
		desks.mu.Lock()
		defer desks.mu.Unlock()
		return len(desks.desks)
	}
	serve(func() bool {
		ctx, done := context.WithTimeout(t.Context(), time.Second)
		defer done()
		_, err := Send(ctx, asker, capture, "miller", cancel("1", ""))
		return err == nil
	})
	require.Equal(t, 1, remembered(), "it may go on over the next connection")
	h.serve()
	serve(func() bool { return remembered() == 0 })
}

func TestDesksWithoutAConnection(t *testing.T) {
	t.Parallel()
	conn, err := nats.Connect(natstest.Start(t).URL())
	require.NoError(t, err)
	conn.Close()
	require.ErrorIs(t, NewDesks().Serve(t.Context(), conn, &house{}), nats.ErrConnectionClosed)
}
