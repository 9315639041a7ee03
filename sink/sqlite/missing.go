package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/steno-io/steno/schema"
)

// firstMissing is the first id of events that were indexed without a rowid.
const firstMissing = 1 << 62

// listMissing notes in an index that is made anew what only archives have. What is dropped later is in it: the ledger is
// locked meanwhile.
func (l *Ledger) listMissing(ctx context.Context, tx *sql.Tx) error {
	rows, err := l.readers.QueryContext(ctx, `SELECT id, dropped FROM transcripts WHERE dropped > 0`)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	for rows.Next() {
		var id, last int64
		if err := rows.Scan(&id, &last); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO missing (transcript, next, last) VALUES (?, 1, ?)`, id, last); err != nil {
			return err
		}
	}
	return rows.Err()
}

// indexMissing indexes the next of the events that only an archive has. Without one they stay missing, and are
// counted.
func (l *Ledger) indexMissing(ctx context.Context) (int, error) {
	if l.sealed == nil {
		return 0, nil
	}
	var transcript, next, last int64
	err := l.index.db.QueryRowContext(ctx, `SELECT transcript, next, last FROM missing LIMIT 1`).Scan(&transcript, &next, &last)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	batch, err := l.archived(ctx, transcript, next)
	if err != nil {
		return 0, fmt.Errorf("read what was dropped: %w", err)
	}
	ctx = context.WithoutCancel(ctx) // what has begun is soon done
	err = l.putMissing(ctx, transcript, next, batch)
	if refusedContent(err) || mayBeTheEvent(err) { // the first of them alone, and at last without its words
		l.index.memory.Forget()
		if err = l.putMissing(ctx, transcript, next, batch[:1]); refusedContent(err) || mayBeTheEvent(err) && l.failedOften(-next) {
			batch[0].why = err
			err = l.putMissing(ctx, transcript, next, batch[:1])
		}
		batch = batch[:1]
	}
	if errors.Is(err, errIndexMoved) {
		l.index.memory.Forget()
		return len(batch), nil
	}
	return len(batch), err
}

// archived reads events of a transcript from a number on, at least one, out of the archive.
func (l *Ledger) archived(ctx context.Context, transcript, next int64) ([]eventRow, error) {
	var key string
	var session uint32
	err := l.readers.QueryRowContext(ctx, `SELECT c.key, t.session FROM transcripts t JOIN captures c ON c.id = t.capture WHERE t.id = ?`, transcript).
		Scan(&key, &session)
	if err != nil {
		return nil, err
	}
	id, err := schema.ParseIdentity(key)
	if err != nil {
		return nil, err
	}
	d, err := l.dropped(ctx, schema.Transcript{Identity: id, Session: session}, uint64(next))
	if err == nil && d == nil {
		err = fmt.Errorf("event %d of %s was not dropped", next, key)
	}
	if err != nil {
		return nil, err
	}
	var out []eventRow
	size := 0
	for e, err := range l.sealed(ctx, *d, uint64(next)) {
		if err != nil {
			return nil, err
		}
		out, size = append(out, eventRow{transcript: transcript, seq: int64(e.Seq), event: e.Bytes}), size+len(e.Bytes)
		if len(out) == indexEvents || size >= indexBytes {
			break
		}
	}
	if len(out) == 0 {
		err = fmt.Errorf("archive %s gives nothing of events %d to %d", d.Archive, next, d.Last)
	}
	return out, err
}

func (l *Ledger) putMissing(ctx context.Context, transcript, next int64, batch []eventRow) error {
	return l.putWords(ctx, batch, func(tx *sql.Tx) (int64, error) {
		var id int64
		err := tx.QueryRowContext(ctx, `SELECT max(coalesce((SELECT max(id) FROM places), 0), coalesce((SELECT max(id) FROM unindexed), 0), ? - 1)`, int64(firstMissing)).
			Scan(&id)
		if err != nil {
			return 0, err
		}
		for i := range batch {
			id++
			batch[i].id = id
		}
		behind := batch[len(batch)-1].seq + 1
		moved, err := changed(tx.ExecContext(ctx, `UPDATE missing SET next = ? WHERE transcript = ? AND next = ?`, behind, transcript, next))
		if err == nil {
			_, err = tx.ExecContext(ctx, `DELETE FROM missing WHERE transcript = ? AND next > last`, transcript)
		}
		return moved, err
	})
}
