package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/iotest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink"
)

func TestRefused(t *testing.T) {
	for code, want := range map[string]bool{
		"22021": true,  // character not in repertoire
		"22P05": true,  // untranslatable character
		"23505": true,  // unique violation
		"23514": true,  // check violation
		"54000": true,  // program limit exceeded
		"40001": false, // serialization failure
		"40P01": false, // deadlock
		"08006": false, // connection failure
		"08P01": false, // protocol violation
		"25006": false, // read-only transaction: a standby
		"25P03": false, // idle in transaction for too long
		"28P01": false, // wrong password
		"42P01": false, // no such table
		"53100": false, // disk full
		"53200": false, // out of memory
		"53300": false, // too many connections
		"55P03": false, // lock not available
		"57014": false, // query canceled
		"57P01": false, // admin shutdown
		"57P03": false, // cannot connect now
		"58030": false, // I/O error
		"XX000": false, // internal error
		"":      false,
	} {
		err := fmt.Errorf("store: %w", &pgconn.PgError{Code: code})
		require.Equal(t, want, errors.Is(refused(err), sink.ErrRefused), code)
	}
	require.NoError(t, refused(nil))
	require.NotErrorIs(t, refused(io.ErrUnexpectedEOF), sink.ErrRefused)
}

func TestShares(t *testing.T) {
	for partitions := range 40 {
		for sinks := 1; sinks < 40; sinks++ {
			sum := 0
			for rank := range sinks {
				share := shareOf(partitions, sinks, rank)
				require.Contains(t, []int{partitions / sinks, partitions/sinks + 1}, share)
				sum += share
			}
			require.Equal(t, partitions, sum)
		}
	}
	require.Zero(t, shareOf(32, 3, -1), "a sink that is not listed")
	require.Zero(t, shareOf(32, 0, 0))
}

func TestCopyingReads(t *testing.T) {
	var events []event
	for i := range 5 {
		events = append(events, event{place{int64(i), uint64(i)}, make([]byte, i*7)})
	}
	require.NoError(t, iotest.TestReader(&copying{events: events}, whole(t, events)))
}

func whole(t *testing.T, events []event) []byte {
	all, err := io.ReadAll(iotest.OneByteReader(&copying{events: events}))
	require.NoError(t, err)
	require.Equal(t, 11+4+4+len(events)*(2+4+8+4+8+4)+7*(0+1+2+3+4)+2, len(all))
	return all
}

func TestOutlive(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	longer, done := outlive(ctx, 30*time.Millisecond)
	cancel()
	require.NoError(t, longer.Err(), "it may go on")
	<-longer.Done()
	done()
	longer, done = outlive(context.Background(), time.Hour)
	require.NoError(t, longer.Err())
	done()
	require.Error(t, longer.Err())
}

func TestAReaderSaysWhoBringsOlderTablesUpToDate(t *testing.T) {
	require.NoError(t, readable(2, 2))
	for version, says := range map[int]string{0: "no tables", 1: "a sink of this build brings them up to date", 3: "a newer steno"} {
		err := readable(version, 2)
		require.ErrorIs(t, err, sink.ErrVersion)
		require.ErrorContains(t, err, says)
	}
}

func TestUnreachable(t *testing.T) {
	for name, err := range map[string]error{
		"a connection closed by the driver": fmt.Errorf("read: %w", pgconn.ErrConnClosed),
		"the end of a connection":           io.ErrUnexpectedEOF,
		"a server that shuts down":          &pgconn.PgError{Code: "57P01"},
	} {
		require.ErrorIs(t, unreachable(err), ErrUnreachable, name)
		require.ErrorIs(t, unreachable(err), err, "the cause stays: %s", name)
	}
	for name, err := range map[string]error{
		"a canceled question":     fmt.Errorf("read: %w", context.Canceled),
		"a canceled statement":    &pgconn.PgError{Code: pgQueryCanceled},
		"a table that is missing": &pgconn.PgError{Code: "42P01"},
	} {
		require.NotErrorIs(t, unreachable(err), ErrUnreachable, name)
	}
}
