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
func (l *Ledger) Redrive(ctx context.Context, c sink.Claim, id schema.Identity) (bool, error) {
	err := l.asOwner(ctx, c, overSQL, func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, unparkSQL, id.String())
		if err == nil && tag.RowsAffected() == 0 {
			err = errNotParked // the epoch stays as it is
		}
		return err
	})
	switch {
	case errors.Is(err, errNotParked):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("redrive %s in ledger %s: %w", id, l.name, unreachable(forbidden(err)))
	}
	return true, nil
}

// errNotParked rolls a redrive back.
var errNotParked = errors.New("capture is not parked")
