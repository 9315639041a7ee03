package api

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// One asks at a time. Others take what is known, or wait no longer than they care to.
func TestOneReadsTheParked(t *testing.T) {
	id := schema.Identity{Namespace: "n", Workflow: "w", Run: "r"}
	type reply struct {
		ids []schema.Identity
		err error
	}
	asks, replies := make(chan time.Duration, 1), make(chan reply)
	p := &parkedList{log: zerolog.Nop(), connected: func() bool { return true }, list: func(ctx context.Context) ([]schema.Identity, error) {
		by, _ := ctx.Deadline()
		asks <- time.Until(by)
		r := <-replies
		return r.ids, r.err
	}}
	first := make(chan error, 1)
	ask := func() {
		go func() { _, err := p.now(t.Context()); first <- err }()
		within := <-asks
		require.Positive(t, within)
		require.LessOrEqual(t, within, parkedWithin)
	}
	ask()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.now(gone)
	require.ErrorIs(t, err, context.Canceled)
	broken := errors.New("broken")
	replies <- reply{err: broken}
	require.ErrorIs(t, <-first, broken)

	ask()
	replies <- reply{ids: []schema.Identity{id}}
	require.NoError(t, <-first)
	p.at = time.Time{} // it is old
	ask()
	known, err := p.now(t.Context()) // it does not wait
	require.NoError(t, err)
	require.True(t, known[id])
	replies <- reply{err: broken}
	require.NoError(t, <-first, "the last one goes on")
}
