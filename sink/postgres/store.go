package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/steno-io/steno/sink"
)

// grace is how long a transaction that has begun may go on when its caller is told to stop: ending
// it would lose its answer, not its work.
const grace = 5 * time.Second

// Store implements sink.Ledger. Events go in by COPY; all else is a few round trips whatever the
// batch's size: begin, the guarded update and what is kept of the captures in one; COPY; the new
// heads and the commit in one.
func (l *Ledger) Store(ctx context.Context, b sink.Batch) (sink.Stored, error) {
	out, err := l.store(ctx, b)
	if err != nil {
		return sink.Stored{}, fmt.Errorf("store batch of partition %d up to sequence %d in ledger %s: %w",
			b.Claim.Partition, b.Position.Seq, l.name, forbidden(refused(err)))
	}
	return out, nil
}

func (l *Ledger) store(ctx context.Context, b sink.Batch) (sink.Stored, error) {
	if l.readOnly {
		return sink.Stored{}, errReadOnly
	}
	pooled, err := l.pool.Acquire(ctx)
	if err != nil {
		return sink.Stored{}, err
	}
	defer pooled.Release() // a connection inside a transaction is closed
	ctx, done := outlive(ctx, grace)
	defer done()
	conn := pooled.Conn()
	out, err := storeIn(ctx, conn, b)
	if err != nil && conn.PgConn().TxStatus() != idle {
		_, _ = conn.Exec(ctx, `ROLLBACK`) // if it fails, the connection ends, and the transaction with it
	}
	return out, err
}

// asOwner does something in a transaction under a claim's epoch. guard changes the partition's row, which every
// transaction takes first: sink.ErrFenced where another owner has claimed it.
func (l *Ledger) asOwner(ctx context.Context, c sink.Claim, guard string, do func(context.Context, pgx.Tx) error) error {
	if l.readOnly {
		return errReadOnly
	}
	ctx, done := outlive(ctx, grace)
	defer done()
	return pgx.BeginFunc(ctx, l.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, silenceSQL); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, guard, int64(c.Partition), int64(c.Epoch))
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return fmt.Errorf("epoch %d is over: %w", c.Epoch, sink.ErrFenced)
		}
		return do(ctx, tx)
	})
}

// idle is the status of a connection outside a transaction.
const idle = 'I'

func storeIn(ctx context.Context, conn *pgx.Conn, b sink.Batch) (sink.Stored, error) {
	tx := newTx(conn)
	if err := tx.begin(ctx, b); err != nil {
		return sink.Stored{}, fmt.Errorf("begin: %w", err)
	}
	out, err := sink.Number(ctx, tx, b)
	if err != nil {
		return sink.Stored{}, err
	}
	if err := tx.copyEvents(ctx); err != nil {
		return sink.Stored{}, fmt.Errorf("copy events: %w", err)
	}
	if err := tx.saveAndCommit(ctx, out); err != nil {
		return sink.Stored{}, err
	}
	return out.Stored, nil
}

// outlive gives a context that lasts until done is called, or for grace after the end of ctx.
func outlive(ctx context.Context, grace time.Duration) (_ context.Context, done func()) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-longer.Done():
		case <-time.After(grace):
			cancel()
		}
	})
	return longer, func() {
		stop()
		cancel()
	}
}
