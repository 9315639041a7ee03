package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink/postgres"
	"github.com/steno-io/steno/sink/postgres/pgtest"
)

const owned = 4 // partitions

// own runs an ownership; the channel gives how it ends, and a partition that it serves comes on taken.
func own(t *testing.T, l *postgres.Ledger, name string) (ended <-chan error, taken <-chan uint32) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	end, take := make(chan error, 1), make(chan uint32, owned)
	o := postgres.NewOwnership(l, postgres.OwnershipOptions{
		ID: name, Beat: 20 * time.Millisecond, Lease: time.Second, Log: zerolog.New(zerolog.NewTestWriter(t)),
	})
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		end <- o.Run(ctx, owned, func(ctx context.Context, partition uint32) error {
			select {
			case take <- partition:
			case <-ctx.Done():
			}
			<-ctx.Done()
			return nil
		})
	}()
	t.Cleanup(func() {
		stop()
		<-returned
	})
	return end, take
}

// await takes something from a channel.
func await[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-within(t).Done():
		require.Fail(t, "it does not come")
		panic("unreachable")
	}
}

func takesAll(t *testing.T, taken <-chan uint32) {
	t.Helper()
	for range owned {
		await(t, taken)
	}
}

// TestTwoSinksOfOneName: the second one ends, and the first one keeps what it has; a name whose sink was killed
// is free after the lease; and who was silent for so long that another has its name ends, too.
func TestTwoSinksOfOneName(t *testing.T) {
	url := pgtest.Database(t)
	l := open(t, url)
	t.Cleanup(func() { _ = l.Close() }) // it always works
	first, taken := own(t, l, "one")
	takesAll(t, taken)
	second, _ := own(t, l, "one")
	err := await(t, second)
	require.ErrorIs(t, err, postgres.ErrName)
	require.ErrorContains(t, err, "one")
	execute(t, url, `DO $$ BEGIN ASSERT (SELECT count(*) FROM steno.owners WHERE owner = 'one') = 4; END $$`)
	require.Empty(t, first)

	execute(t, url, `UPDATE steno.sinks SET instance = 'who came meanwhile' WHERE id = 'one'`)
	require.ErrorIs(t, await(t, first), postgres.ErrName)
	execute(t, url, `DO $$ BEGIN ASSERT (SELECT count(*) FROM steno.sinks WHERE id = 'one') = 1; END $$`)

	execute(t, url, `DELETE FROM steno.sinks; INSERT INTO steno.sinks (id, instance, beat) VALUES ('killed', 'before', clock_timestamp())`)
	third, taken := own(t, l, "killed")
	takesAll(t, taken)
	require.Empty(t, third)
}
