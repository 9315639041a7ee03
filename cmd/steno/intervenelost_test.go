package main

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/intervene"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
)

// An intervention whose answer went with the server, as when a directory's holder changes, is sent again under its id.
func TestAnInterventionOutlivesTheServer(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	options := []nats.Option{nats.ReconnectBufSize(-1), nats.MaxReconnects(-1), nats.ReconnectWait(10 * time.Millisecond)}
	tap, err := nats.Connect(s.URL(), options...)
	require.NoError(t, err)
	defer tap.Close()
	conn, err := nats.Connect(s.URL(), options...)
	require.NoError(t, err)
	defer conn.Close()
	id := schema.Identity{Namespace: "default", Workflow: "w", Run: "r", Attempt: 1}
	came := make(chan schema.Intervention, 2)
	desk, err := tap.Subscribe(schema.InterveneSubjects(id), func(m *nats.Msg) {
		var i schema.Intervention
		if json.Unmarshal(m.Data, &i) != nil {
			return
		}
		if came <- i; len(came) == 2 {
			_ = m.Respond([]byte(`{"outcome":"Applied"}`)) // it is missed otherwise
		}
	})
	require.NoError(t, err)
	require.NoError(t, tap.Flush())

	i := schema.Intervention{ID: "c-1", Kind: schema.InterventionKind{Kind: schema.PrimitiveCancel}, IssuedAt: time.Now().UTC()}
	type answer struct {
		o   schema.Outcome
		err error
	}
	answered := make(chan answer)
	ctx, done := context.WithCancel(minute(t))
	send := func() {
		o, err := sendIntervention(ctx, conn, id, "miller", i, true, false)
		answered <- answer{o, err}
	}
	go send()
	require.Eventually(t, func() bool { return len(came) == 1 }, time.Minute, time.Millisecond)
	s.Restart(t)
	require.Equal(t, answer{o: schema.Applied()}, <-answered)
	require.Equal(t, <-came, <-came)

	// Where nobody is there any more then, it is not said that nothing was done.
	go send()
	require.Eventually(t, func() bool { return len(came) == 1 }, time.Minute, time.Millisecond)
	require.NoError(t, desk.Unsubscribe())
	s.Restart(t)
	time.AfterFunc(tapWithin+time.Second, done)
	require.ErrorIs(t, (<-answered).err, intervene.ErrUnanswered)
}
