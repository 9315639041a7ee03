package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
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
	rows, err := l.readers.QueryContext(ctx, `SELECT `+captureColumns+`, t.session, t.head, t.frames
FROM captures c LEFT JOIN transcripts t ON t.capture = c.id WHERE `+where+` ORDER BY c.key, t.session`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	var out []sink.CaptureInfo
	for rows.Next() {
		var cr captureRow
		var session, head, frames sql.NullInt64
		if err := rows.Scan(append(cr.dest(), &session, &head, &frames)...); err != nil {
			return nil, err
		}
		c, err := cr.capture()
		if err != nil {
			return nil, err
		}
		if n := len(out); n == 0 || out[n-1].ID != c.ID {
			out = append(out, sink.CaptureInfo{Capture: *c})
		}
		if session.Valid {
			last := &out[len(out)-1]
			last.Sessions = append(last.Sessions, sink.SessionInfo{
				Session: uint32(session.Int64), Head: uint64(head.Int64), Frames: uint64(frames.Int64),
			})
		}
	}
	return out, rows.Err()
}

// Stats implements sink.Auditor.
func (l *Ledger) Stats(ctx context.Context) (sink.Stats, error) {
	s, err := l.stats(ctx)
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
	s := sink.Stats{Positions: map[uint32]sink.Position{}}
	err = tx.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM captures), (SELECT count(*) FROM transcripts),
(SELECT coalesce(sum(head), 0) FROM transcripts), (SELECT count(*) FROM captures WHERE parked_reason <> '')`).
		Scan(&s.Captures, &s.Transcripts, &s.Events, &s.Parked)
	if err != nil {
		return sink.Stats{}, err
	}
	rows, err := tx.QueryContext(ctx, `SELECT partition, created, seq, digest FROM partitions`)
	if err != nil {
		return sink.Stats{}, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	for rows.Next() {
		var partition uint32
		var created string
		var seq int64
		var p sink.Position
		if err := rows.Scan(&partition, &created, &seq, &p.Digest); err != nil {
			return sink.Stats{}, err
		}
		if p.Created, err = readTime(created); err != nil {
			return sink.Stats{}, err
		}
		p.Seq = uint64(seq)
		s.Positions[partition] = p
	}
	return s, rows.Err()
}
