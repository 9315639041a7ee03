package postgres

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/tables"
)

const claimSQL = `INSERT INTO steno.partitions (partition, epoch) VALUES ($1, 1)
ON CONFLICT (partition) DO UPDATE SET epoch = partitions.epoch + 1 RETURNING epoch, ` + tables.PositionColumns

// patience is how long a claim waits for a transaction of the earlier owner before it ends it.
const patience = 2 * time.Second

// Claim implements sink.Ledger. It is a transaction though it is one statement: whoever gives a claim up does not
// commit it, and a statement alone might be carried out late, after another one's claim, whose epoch it would end.
func (l *Ledger) Claim(ctx context.Context, partition uint32) (sink.Claim, error) {
	c, err := l.claim(ctx, partition)
	if err != nil {
		return sink.Claim{}, fmt.Errorf("claim partition %d in ledger %s: %w", partition, l.name, forbidden(err))
	}
	return c, nil
}

func (l *Ledger) claim(ctx context.Context, partition uint32) (sink.Claim, error) {
	if l.readOnly {
		return sink.Claim{}, errReadOnly
	}
	conn, err := l.pool.Acquire(ctx)
	if err != nil {
		return sink.Claim{}, err
	}
	defer conn.Release()
	claimed, done := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { l.unblock(claimed, conn.Conn().PgConn().PID()) })
	defer wg.Wait()
	defer done()
	var epoch int64
	var p sink.Position
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) (err error) {
		p, err = tables.ScanPosition(tx.QueryRow(ctx, claimSQL, int64(partition)), &epoch)
		return err
	})
	return sink.Claim{Partition: partition, Epoch: uint64(epoch), Position: p}, err
}

// unblock ends the transactions that a claim waits for longer than patience. An owner whose process
// or network froze in the middle of a transaction would else keep the partition's row locked for as
// long as its connection lasts; one that only is slow loses work which it is about to be fenced from.
// Other claims, which wait for a lock themselves, are left alone.
func (l *Ledger) unblock(ctx context.Context, claim uint32) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(patience):
		}
		// An error is met by the claim, too, or at the next round.
		_, _ = l.pool.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE pid = ANY (pg_blocking_pids($1)) AND wait_event_type IS DISTINCT FROM 'Lock'`, int32(claim))
	}
}
