package intervene

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
)

var capture = schema.Identity{Namespace: "default", Workflow: "mill", Run: "r-1", Attempt: 1}

// counter delivers cancels and says how many came.
type counter struct{ got []schema.Intervention }

func (c *counter) Supported() []schema.Primitive { return []schema.Primitive{schema.PrimitiveCancel} }

func (c *counter) Deliver(_ context.Context, i schema.Intervention) schema.Outcome {
	if i.Kind.Kind != schema.PrimitiveCancel {
		return schema.NotSupported(i.Kind.Kind)
	}
	c.got = append(c.got, i)
	return schema.Stale("%d came", len(c.got))
}

func cancel(id, reason string) schema.Intervention {
	return schema.Intervention{ID: id, Kind: schema.InterventionKind{Kind: schema.PrimitiveCancel, Reason: reason}}
}

func TestInterventionsComeThrough(t *testing.T) {
	t.Parallel()
	conn, _ := natstest.Start(t).Connect(t)
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	_, err := Send(ctx, conn, capture, "miller", cancel("1", ""))
	require.ErrorIs(t, err, ErrNobody)

	elsewhere, err := conn.SubscribeSync("steno.raw.>")
	require.NoError(t, err)
	target := &counter{}
	desk := NewDesk(Targets{target})
	for range 2 { // what was answered is remembered over connections
		serving, end := context.WithCancel(t.Context())
		served, ended := make(chan struct{}), make(chan error, 1)
		go func() { ended <- desk.Serve(serving, conn, capture, func() { close(served) }) }()
		<-served
		i := cancel("1", "enough")
		i.IssuedBy, i.IssuedAt = "the king", time.Now()
		o, err := Send(ctx, conn, capture, "miller", i)
		require.NoError(t, err)
		require.Equal(t, schema.Stale("1 came"), o)
		require.Len(t, target.got, 1)
		require.Equal(t, "miller", target.got[0].IssuedBy, "as the subject says, whatever is claimed")
		_, err = Send(ctx, conn, capture, "miller", cancel("1", "another"))
		require.ErrorIs(t, err, ErrRefused)
		require.ErrorContains(t, err, `id "1" was another one's`)
		_, err = Send(ctx, conn, capture, "baker", i)
		require.ErrorIs(t, err, ErrRefused, "another's outcome is not his")

		paused := true
		o, err = Send(ctx, conn, capture, "miller", schema.Intervention{ID: "2", Kind: schema.InterventionKind{Kind: schema.PrimitivePause, Paused: &paused}})
		require.NoError(t, err)
		require.Equal(t, schema.NotSupported(schema.PrimitivePause), o)
		c, err := Ask(ctx, conn, capture, "miller")
		require.NoError(t, err)
		require.Equal(t, "cancel", c.Labels())

		for _, bad := range []string{
			"", "[]", `{"id":"9"}`, `{"id":"a b","kind":{"kind":"Cancel"}}`, `{"id":"9","kind":{"kind":"Burn"}}`,
			`{"id":"9","kind":{"kind":"InjectMessage","text":" "}}`, `{"id":"9","kind":{"kind":"PauseResume"}}`,
			`{"id":"9","kind":{"kind":"UpdateBudget"}}`, `{"id":"9","kind":{"kind":"RespondToApproval","decision":{"decision":"Perhaps"}}}`,
			`{"id":"9","kind":{"kind":"InjectMessage","text":"x","priority":{"priority":"Soon"}}}`,
			`{"id":"9","capabilities":true}`, `{"id":"9","kind":{"kind":"Cancel","reason":"` + strings.Repeat("x", maxMessage) + `"}}`,
		} {
			m, err := conn.RequestWithContext(ctx, schema.InterveneSubject(capture, "miller"), []byte(bad))
			require.NoError(t, err)
			require.Contains(t, string(m.Data), `{"error":"`, bad)
		}
		require.NoError(t, conn.PublishRequest(schema.InterveneSubject(capture, "miller"), "steno.raw.0.x", []byte(`{"capabilities":true}`)))
		_, err = Ask(ctx, conn, capture, "miller") // it comes behind that
		require.NoError(t, err)
		end()
		require.NoError(t, <-ended)
	}
	require.Len(t, target.got, 1)
	require.NoError(t, conn.Flush())
	answers, _, err := elsewhere.Pending()
	require.NoError(t, err)
	require.Zero(t, answers, "no answer goes where the asker himself might not write")
}

func TestOutcomesAreForgottenInTheEnd(t *testing.T) {
	t.Parallel()
	d := NewDesk(Targets{})
	for i := range maxAnswered + 10 {
		require.JSONEq(t, `{"outcome":"CapabilityNotSupported","primitive":{"primitive":"Cancel"}}`, string(d.deliver(t.Context(), cancel(fmt.Sprint(i), ""), time.Now())))
	}
	require.Len(t, d.answered, maxAnswered)
	require.Contains(t, d.answered, fmt.Sprint(maxAnswered+9))
}

// slow holds each delivery up until it is told to go on.
type slow struct {
	counter
	begun, goOn chan struct{}
}

func (s *slow) Deliver(ctx context.Context, i schema.Intervention) schema.Outcome {
	s.begun <- struct{}{}
	<-s.goOn
	return s.counter.Deliver(ctx, i)
}

// clock is one that is set, and tells whenever it was looked at.
type clock struct {
	mu     sync.Mutex
	time   time.Time
	looked chan struct{}
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looked <- struct{}{}
	return c.time
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.time = c.time.Add(d)
}

// What has waited for others too long would hit what comes then: it is not done, nor is it when it comes again.
func TestWhatHasWaitedIsStale(t *testing.T) {
	t.Parallel()
	conn, _ := natstest.Start(t).Connect(t)
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	target, clock := &slow{begun: make(chan struct{}), goOn: make(chan struct{})}, &clock{looked: make(chan struct{}, 100)}
	desk := NewDesk(target)
	desk.now = clock.now
	serving, end := context.WithCancel(t.Context())
	served, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- desk.Serve(serving, conn, capture, func() { close(served) }) }()
	<-served

	type answer struct {
		o   schema.Outcome
		err error
	}
	send := func(id string) <-chan answer {
		c := make(chan answer, 1)
		go func() {
			o, err := Send(ctx, conn, capture, "miller", cancel(id, ""))
			c <- answer{o, err}
		}()
		return c
	}
	first := send("1")
	<-clock.looked // when it came
	<-clock.looked // and whether that is long ago
	<-target.begun
	second := send("2")
	<-clock.looked
	clock.pass(MaxWait)
	third := send("3")
	<-clock.looked
	clock.pass(time.Millisecond)
	target.goOn <- struct{}{}
	require.Equal(t, answer{o: schema.Stale("1 came")}, <-first)
	stale := <-second
	require.NoError(t, stale.err)
	require.Equal(t, schema.OutcomeStale, stale.o.Outcome)
	require.Contains(t, stale.o.Detail, "5.001s after it came")
	<-target.begun
	target.goOn <- struct{}{}
	require.Equal(t, answer{o: schema.Stale("2 came")}, <-third)
	require.Equal(t, stale, <-send("2"), "it gets its first outcome")

	fourth := send("4")
	<-target.begun
	for range 2 + 1 + 2 { // how old the second and the third were, when the second came again, and both of the fourth
		<-clock.looked
	}
	fifth := send("5")
	<-clock.looked
	end()
	target.goOn <- struct{}{}
	require.Equal(t, answer{o: schema.Stale("3 came")}, <-fourth)
	require.Equal(t, answer{o: schema.Stale("nobody takes interventions for it any more")}, <-fifth)
	require.NoError(t, <-ended)
	require.Len(t, target.got, 3)
}
