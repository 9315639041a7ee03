package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

const (
	overSQL   = `UPDATE steno.partitions SET epoch = epoch + 1, created = '', seq = 0, digest = '' WHERE partition = $1 AND epoch = $2`
	unparkSQL = `UPDATE steno.captures SET parked_reason = '', parked_session = 0, parked_ordinal = 0, parked_have = NULL,
parked_got = NULL, parked_seq = 0, parked_at = '' WHERE key = $1 AND parked_reason <> ''`
)

// Redrive implements sink.Ledger.
func (l *Ledger) Redrive(ctx context.Context, c sink.Claim, id schema.Identity) (parked bool, err error) {
	if l.readOnly {
		err = errReadOnly
	} else {
		parked, err = l.redrive(ctx, c, id)
	}
	if err != nil {
		return false, fmt.Errorf("redrive %s in ledger %s: %w", id, l.name, forbidden(err))
	}
	return parked, nil
}

func (l *Ledger) redrive(ctx context.Context, c sink.Claim, id schema.Identity) (parked bool, err error) {
	err = pgx.BeginFunc(ctx, l.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, silenceSQL); err != nil {
			return err
		}
		// The partition's row first, as every transaction takes it.
		tag, err := tx.Exec(ctx, overSQL, int64(c.Partition), int64(c.Epoch))
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return fmt.Errorf("epoch %d is over: %w", c.Epoch, sink.ErrFenced)
		}
		if tag, err = tx.Exec(ctx, unparkSQL, id.String()); err != nil {
			return err
		}
		if parked = tag.RowsAffected() > 0; !parked {
			return errNotParked // the epoch stays as it is
		}
		return nil
	})
	if errors.Is(err, errNotParked) {
		return false, nil
	}
	return parked, err
}

// errNotParked rolls a redrive back.
var errNotParked = errors.New("capture is not parked")
