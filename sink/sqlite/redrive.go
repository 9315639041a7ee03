package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// errNotParked rolls a redrive back: the epoch stays as it is.
var errNotParked = errors.New("capture is not parked")

// Redrive implements sink.Ledger.
func (l *Ledger) Redrive(ctx context.Context, c sink.Claim, id schema.Identity) (bool, error) {
	err := l.transact(ctx, func(ctx context.Context, w *writer) error {
		rows, err := changed(w.over.ExecContext(ctx, c.Partition, int64(c.Epoch)))
		if err != nil {
			return err
		}
		if rows == 0 {
			return fmt.Errorf("epoch %d is over: %w", c.Epoch, sink.ErrFenced)
		}
		rows, err = changed(w.unpark.ExecContext(ctx, id.String()))
		if err == nil && rows == 0 {
			err = errNotParked
		}
		return err
	})
	if errors.Is(err, errNotParked) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("redrive %s in ledger %s: %w", id, l.path, err)
	}
	return true, nil
}
