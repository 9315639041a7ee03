package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/tables"
)

// Captures implements sink.Auditor.
func (l *Ledger) Captures(ctx context.Context, after string, limit int) ([]sink.CaptureInfo, error) {
	out, err := l.captures(ctx, `c.id IN (SELECT id FROM captures WHERE key > ? ORDER BY key LIMIT ?)`, after, limit)
	if err != nil {
		return nil, fmt.Errorf("list captures of ledger %s: %w", l.path, err)
	}
	return out, nil
}

// Capture implements sink.Auditor.
func (l *Ledger) Capture(ctx context.Context, id schema.Identity) (sink.CaptureInfo, error) {
	out, err := l.captures(ctx, `c.key = ?`, id.String())
	if err == nil && len(out) == 0 {
		err = sink.ErrNotFound
	}
	if err != nil {
		return sink.CaptureInfo{}, fmt.Errorf("read capture %s of ledger %s: %w", id, l.path, err)
	}
	return out[0], nil
}

// captures reads captures with their sessions in one statement, which is one moment.
func (l *Ledger) captures(ctx context.Context, where string, args ...any) ([]sink.CaptureInfo, error) {
	rows, err := l.readers.QueryContext(ctx, `SELECT `+tables.CaptureColumns+`, `+tables.SessionColumns+`
FROM captures c LEFT JOIN transcripts t ON t.capture = c.id WHERE `+where+` ORDER BY c.key, t.session`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	return tables.ScanCaptures(rows)
}

// Stats implements sink.Auditor.
func (l *Ledger) Stats(ctx context.Context) (sink.Stats, error) {
	s, err := l.stats(ctx)
	if err == nil {
		s.Indexing, err = l.Indexing(ctx)
	}
	if err != nil {
		return sink.Stats{}, fmt.Errorf("count ledger %s: %w", l.path, err)
	}
	return s, nil
}

func (l *Ledger) stats(ctx context.Context) (sink.Stats, error) {
	tx, err := l.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return sink.Stats{}, err
	}
	defer tx.Rollback() //nolint:errcheck // it only read
	var s sink.Stats
	err = tx.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM captures), (SELECT count(*) FROM transcripts),
(SELECT coalesce(sum(head), 0) FROM transcripts), (SELECT coalesce(sum(dropped), 0) FROM transcripts), (SELECT count(*) FROM captures WHERE parked_reason <> '')`).
		Scan(&s.Captures, &s.Transcripts, &s.Events, &s.Dropped, &s.Parked)
	if err != nil {
		return sink.Stats{}, err
	}
	rows, err := tx.QueryContext(ctx, `SELECT partition, `+tables.PositionColumns+` FROM partitions`)
	if err != nil {
		return sink.Stats{}, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	s.Positions, err = tables.ScanPositions(rows)
	return s, err
}
