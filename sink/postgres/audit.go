package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/tables"
)

// Captures implements sink.Auditor.
func (l *Ledger) Captures(ctx context.Context, after string, limit int) ([]sink.CaptureInfo, error) {
	out, err := l.captures(ctx, `c.id IN (SELECT id FROM steno.captures WHERE key > $1 ORDER BY key LIMIT $2)`, after, limit)
	if err != nil {
		return nil, fmt.Errorf("list captures of ledger %s: %w", l.name, unreachable(err))
	}
	return out, nil
}

// Capture implements sink.Auditor.
func (l *Ledger) Capture(ctx context.Context, id schema.Identity) (sink.CaptureInfo, error) {
	out, err := l.captures(ctx, `c.key = $1`, id.String())
	if err == nil && len(out) == 0 {
		err = sink.ErrNotFound
	}
	if err != nil {
		return sink.CaptureInfo{}, fmt.Errorf("read capture %s of ledger %s: %w", id, l.name, unreachable(err))
	}
	return out[0], nil
}

// captures reads captures with their sessions in one statement, which is one moment.
func (l *Ledger) captures(ctx context.Context, where string, args ...any) ([]sink.CaptureInfo, error) {
	rows, err := l.pool.Query(ctx, `SELECT `+tables.CaptureColumns+`, `+tables.SessionColumns+`
FROM steno.captures c LEFT JOIN steno.transcripts t ON t.capture = c.id WHERE `+where+` ORDER BY c.key, t.session`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return tables.ScanCaptures(rows)
}

// Stats implements sink.Auditor.
func (l *Ledger) Stats(ctx context.Context) (sink.Stats, error) {
	var s sink.Stats
	err := pgx.BeginTxFunc(ctx, l.pool, oneMoment, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `SELECT (SELECT count(*) FROM steno.captures), (SELECT count(*) FROM steno.transcripts),
(SELECT coalesce(sum(head), 0)::bigint FROM steno.transcripts), (SELECT coalesce(sum(dropped), 0)::bigint FROM steno.transcripts),
(SELECT count(*) FROM steno.captures WHERE parked_reason <> '')`).
			Scan(&s.Captures, &s.Transcripts, &s.Events, &s.Dropped, &s.Parked)
		if err != nil {
			return err
		}
		if s.Indexing, err = indexingOf(ctx, tx); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `SELECT partition, `+tables.PositionColumns+` FROM steno.partitions`)
		if err != nil {
			return err
		}
		defer rows.Close()
		s.Positions, err = tables.ScanPositions(rows)
		return err
	})
	if err != nil {
		return sink.Stats{}, fmt.Errorf("count ledger %s: %w", l.name, unreachable(err))
	}
	return s, nil
}
