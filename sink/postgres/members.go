package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// members is the tables sinks and owners, as one sink sees them. It has a connection of its own, so
// that a busy pool makes nobody look dead.
type members struct {
	config *pgx.ConnConfig
	id     string
	// instance is unlike that of any other process of its name.
	instance string
	lease    time.Duration
	entered  bool      // the name is this process's
	other    time.Time // when another one that has the name gave a sign of life
	count    uint32    // partitions in all
	conn     *pgx.Conn // nil before the first statement and after a failure
}

const (
	beatSQL = `INSERT INTO steno.sinks (id, instance, beat) VALUES ($1, $2, clock_timestamp())
ON CONFLICT (id) DO UPDATE SET beat = clock_timestamp() WHERE sinks.instance = excluded.instance`
	otherSQL = `SELECT beat FROM steno.sinks WHERE id = $1`
	// A sink whose row is locked is alive, or is being forgotten by somebody else.
	forgetSQL = `DELETE FROM steno.sinks WHERE id IN
(SELECT id FROM steno.sinks WHERE beat < clock_timestamp() - $1::interval FOR UPDATE SKIP LOCKED)`
	liveSQL = `SELECT id FROM steno.sinks WHERE beat >= clock_timestamp() - $1::interval ORDER BY joined`
	fillSQL = `INSERT INTO steno.owners (partition) SELECT generate_series(0, $1::bigint - 1) ON CONFLICT DO NOTHING`
	mineSQL = `SELECT partition FROM steno.owners WHERE owner = $1 AND partition < $2`
	// A row that is locked is being taken by somebody else.
	takeSQL = `UPDATE steno.owners SET owner = $1 WHERE partition IN
(SELECT partition FROM steno.owners WHERE partition < $2 AND NOT owner = ANY ($3) ORDER BY partition LIMIT $4 FOR UPDATE SKIP LOCKED)
RETURNING partition`
	releaseSQL = `UPDATE steno.owners SET owner = '' WHERE owner = $1 AND partition = $2`
	leaveSQL   = `WITH gone AS (DELETE FROM steno.sinks WHERE id = $1 AND instance = $2 RETURNING id)
UPDATE steno.owners SET owner = '' WHERE owner IN (SELECT id FROM gone)`
)

// ErrName marks a sink of whose name another one lives.
var ErrName = errors.New("another sink of this name lives")

// errWaiting marks a name that another process has, which may have been killed.
var errWaiting = errors.New("another sink of this name was there a moment ago")

// round gives a sign of life and takes free partitions up to this sink's share. It gives all that are
// this sink's by then, in order. An error wraps ErrName if another sink of its name lives, errWaiting if that
// is not known yet, sink.ErrDenied if a right is missing.
func (m *members) round(ctx context.Context) (mine []uint32, share int, err error) {
	err = m.use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			mine, share, err = m.roundIn(ctx, tx)
			return err
		})
	})
	if err != nil {
		return nil, 0, fmt.Errorf("own partitions as sink %s: %w", m.id, forbidden(err))
	}
	m.entered = true
	return mine, share, nil
}

func (m *members) roundIn(ctx context.Context, tx pgx.Tx) (mine []uint32, share int, err error) {
	lease := fmt.Sprintf("%d milliseconds", m.lease.Milliseconds())
	if _, err := tx.Exec(ctx, silenceSQL); err != nil {
		return nil, 0, err
	}
	if _, err := tx.Exec(ctx, forgetSQL, lease); err != nil {
		return nil, 0, fmt.Errorf("forget sinks that are gone: %w", err)
	}
	given, err := tx.Exec(ctx, beatSQL, m.id, m.instance)
	if err != nil {
		return nil, 0, fmt.Errorf("give a sign of life: %w", err)
	}
	if given.RowsAffected() == 0 {
		return nil, 0, m.named(ctx, tx)
	}
	live, err := collect[string](ctx, tx, liveSQL, lease)
	if err != nil {
		return nil, 0, fmt.Errorf("list sinks: %w", err)
	}
	share = shareOf(int(m.count), len(live), slices.Index(live, m.id))
	if mine, err = collect[uint32](ctx, tx, mineSQL, m.id, int64(m.count)); err != nil {
		return nil, 0, fmt.Errorf("list own partitions: %w", err)
	}
	if len(mine) < share {
		taken, err := collect[uint32](ctx, tx, takeSQL, m.id, int64(m.count), live, share-len(mine))
		if err != nil {
			return nil, 0, fmt.Errorf("take partitions: %w", err)
		}
		mine = append(mine, taken...)
	}
	slices.Sort(mine)
	return mine, share, nil
}

// named says what it is that has the name: nobody if it was killed, else it gives another sign of life.
func (m *members) named(ctx context.Context, tx pgx.Tx) error {
	var beat time.Time
	if err := tx.QueryRow(ctx, otherSQL, m.id).Scan(&beat); err != nil {
		return fmt.Errorf("look at the other sink of this name: %w", err)
	}
	if m.entered || !m.other.IsZero() && !beat.Equal(m.other) {
		return ErrName
	}
	m.other = beat
	return errWaiting
}

// shareOf is how many partitions the sink at a rank has, so that all shares together are all
// partitions. The first ranks, those who joined first, have the ones left over.
func shareOf(partitions, sinks, rank int) int {
	if rank < 0 || sinks == 0 {
		return 0
	}
	share := partitions / sinks
	if rank < partitions%sinks {
		share++
	}
	return share
}

// release gives a partition back.
func (m *members) release(ctx context.Context, partition uint32) error {
	return m.use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, releaseSQL, m.id, int64(partition))
		return err
	})
}

// leave gives all partitions back and ends the membership, and the connection.
func (m *members) leave(ctx context.Context) error {
	err := m.use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, leaveSQL, m.id, m.instance)
		return err
	})
	if m.conn != nil {
		err = errors.Join(err, m.conn.Close(ctx))
		m.conn = nil
	}
	return err
}

// use does something on the connection, within a part of the lease: a server that does not answer
// must not make the end of the lease pass unseen. After a failure another connection is made; that somebody else has the
// name is none.
func (m *members) use(ctx context.Context, do func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, m.lease/2)
	defer cancel()
	if m.conn == nil {
		conn, err := pgx.ConnectConfig(ctx, m.config)
		if err != nil {
			return err
		}
		if _, err := conn.Exec(ctx, fillSQL, int64(m.count)); err != nil {
			return errors.Join(fmt.Errorf("list partitions: %w", err), conn.Close(ctx))
		}
		m.conn = conn
	}
	err := do(ctx, m.conn)
	if err != nil && !errors.Is(err, errWaiting) {
		_ = m.conn.Close(ctx) // the error says more
		m.conn = nil
	}
	return err
}

func collect[T any](ctx context.Context, tx pgx.Tx, sql string, args ...any) ([]T, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[T])
}
