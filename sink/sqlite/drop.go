package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/tables"
)

const (
	holdSQL           = `UPDATE partitions SET epoch = epoch WHERE partition = ? AND epoch = ?`
	findSessionSQL    = `SELECT t.id, t.head, t.dropped FROM transcripts t JOIN captures c ON c.id = t.capture WHERE c.key = ? AND t.session = ?`
	pieceSQL          = `SELECT store_seq, event FROM events WHERE transcript = ? AND store_seq BETWEEN ? AND ? ORDER BY store_seq`
	pieceRowSQL       = `SELECT coalesce(max(rowid), 0) FROM events WHERE transcript = ? AND store_seq BETWEEN ? AND ?`
	dropPieceSQL      = `DELETE FROM events WHERE transcript = ? AND store_seq BETWEEN ? AND ?`
	droppedUpToSQL    = `UPDATE transcripts SET dropped = ? WHERE id = ?`
	putDroppedSQL     = `INSERT INTO dropped (transcript, first, last, archive, seal, digests) VALUES (?, ?, ?, ?, ?, ?)`
	hardenSQL         = `UPDATE indexed SET position = position`
	positionOfNextSQL = `SELECT position FROM indexed`
)

// Drop implements sink.Ledger. The index must have the events, on the disk, before they go, and is left alone meanwhile:
// by this process, and where others write the ledger too (a holder's end and the next one's beginning may overlap) it is
// not made anew while a transaction of the ledger runs.
func (l *Ledger) Drop(ctx context.Context, c sink.Claim, d sink.Dropped) (bool, error) {
	err := l.dropPiece(ctx, c, &d)
	switch {
	case errors.Is(err, tables.ErrDroppedAlready):
		return true, nil
	case errors.Is(err, tables.ErrNotIndexed):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("drop events %d to %d of %s from ledger %s: %w", d.First, d.Last, d.Transcript, l.path, err)
	}
	return true, nil
}

func (l *Ledger) dropPiece(ctx context.Context, c sink.Claim, d *sink.Dropped) error {
	if l.writers == nil {
		return errReadOnly
	}
	l.index.mu.Lock()
	defer l.index.mu.Unlock()
	if err := l.useIndex(ctx); err != nil {
		return fmt.Errorf("open the index: %w", err)
	}
	return l.dropIndexed(ctx, c, d)
}

// dropIndexed drops a piece with the index that is open.
func (l *Ledger) dropIndexed(ctx context.Context, c sink.Claim, d *sink.Dropped) error {
	return l.transact(ctx, func(ctx context.Context, w *writer) error {
		rows, err := changed(w.conn.ExecContext(ctx, holdSQL, c.Partition, int64(c.Epoch)))
		if err != nil {
			return err
		}
		if rows == 0 {
			return fmt.Errorf("epoch %d is over: %w", c.Epoch, sink.ErrFenced)
		}
		t, err := w.session(ctx, d)
		if err == nil {
			err = tables.MayDrop(d, t)
		}
		if err == nil {
			err = l.indexHas(ctx, w, t, d)
		}
		if err == nil {
			err = w.compare(ctx, t, d)
		}
		if err != nil {
			return err
		}
		return w.drop(ctx, t, d)
	})
}

// session reads what bounds the dropping of a transcript.
func (w *writer) session(ctx context.Context, d *sink.Dropped) (*sink.Transcript, error) {
	var head, dropped int64
	t := &sink.Transcript{Session: d.Transcript.Session}
	err := w.conn.QueryRowContext(ctx, findSessionSQL, d.Transcript.Identity.String(), t.Session).Scan(&t.ID, &head, &dropped)
	if errors.Is(err, sql.ErrNoRows) {
		err = sink.ErrNotFound
	}
	t.Head, t.Dropped = uint64(head), uint64(dropped)
	return t, err
}

// indexHas looks that the index is behind a piece, and puts that on the disk; one that was taken away since it was opened
// has nothing. The row at the index's position is not
// dropped, by which it knows its ledger; nor so is the highest, whose rowid would be given again.
func (l *Ledger) indexHas(ctx context.Context, w *writer, t *sink.Transcript, d *sink.Dropped) (err error) {
	if !l.index.isThere(indexPath(l.path)) {
		return tables.ErrNotIndexed
	}
	var last, position int64
	if err := w.conn.QueryRowContext(ctx, pieceRowSQL, t.ID, int64(d.First), int64(d.Last)).Scan(&last); err != nil {
		return err
	}
	if err := l.index.db.QueryRowContext(ctx, positionOfNextSQL).Scan(&position); err != nil {
		return err
	}
	if position <= last {
		return tables.ErrNotIndexed
	}
	if _, err := l.index.db.ExecContext(ctx, `PRAGMA synchronous = FULL`); err != nil {
		return err
	}
	_, err = l.index.db.ExecContext(ctx, hardenSQL) // with all that was written before it
	_, back := l.index.db.ExecContext(ctx, `PRAGMA synchronous = NORMAL`)
	return errors.Join(err, back)
}

// compare holds the events of a piece against its digests.
func (w *writer) compare(ctx context.Context, t *sink.Transcript, d *sink.Dropped) error {
	rows, err := w.conn.QueryContext(ctx, pieceSQL, t.ID, int64(d.First), int64(d.Last))
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	next := d.First
	var event sql.RawBytes
	for ; rows.Next(); next++ {
		var seq int64
		if err := rows.Scan(&seq, &event); err != nil {
			return err
		}
		if uint64(seq) != next || !d.Is(next, event) {
			return fmt.Errorf("event %d is not what archive %s has: %w", next, d.Archive, sink.ErrOther)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if next <= d.Last {
		return fmt.Errorf("event %d is not there: %w", next, sink.ErrOther)
	}
	return nil
}

func (w *writer) drop(ctx context.Context, t *sink.Transcript, d *sink.Dropped) error {
	if _, err := w.conn.ExecContext(ctx, putDroppedSQL, t.ID, int64(d.First), int64(d.Last), d.Archive, int64(d.Seal), d.Digests); err != nil {
		return err
	}
	if _, err := w.conn.ExecContext(ctx, droppedUpToSQL, int64(d.Last), t.ID); err != nil {
		return err
	}
	_, err := w.conn.ExecContext(ctx, dropPieceSQL, t.ID, int64(d.First), int64(d.Last))
	return err
}
