package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/search"
	"github.com/steno-io/steno/sink/tables"
)

// Transcripts implements sink.Reader.
func (l *Ledger) Transcripts(ctx context.Context, q sink.Query) (sink.Page, error) {
	query, err := tables.ReadQuery(q)
	if err != nil {
		return sink.Page{}, err
	}
	var page sink.Page
	if q.Text == "" {
		page, err = l.transcripts(ctx, l.readers, query, nil)
	} else {
		var text search.Query
		if text, err = search.Parse(q.Text); err != nil {
			return sink.Page{}, err
		}
		err = l.finding(ctx, func(tx *sql.Tx) (err error) {
			page, err = l.transcripts(ctx, tx, query, &text)
			return err
		})
		if errors.Is(err, errNoIndex) {
			return sink.Page{}, nil
		}
	}
	if err != nil {
		return sink.Page{}, fmt.Errorf("list transcripts of ledger %s: %w", l.path, err)
	}
	return page, nil
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func (l *Ledger) transcripts(ctx context.Context, db querier, p tables.Page, text *search.Query) (sink.Page, error) {
	var err error
	if p.Agents, err = agents(ctx, db, p.Filter); err != nil {
		return sink.Page{}, err
	}
	return p.Read(func(p tables.Page, limit int, scan func(tables.Rows) error) error {
		w := tables.Where{Dialect: dialect}
		p.Where(&w)
		if text != nil {
			saying(&w, *text)
		}
		rows, err := db.QueryContext(ctx, `SELECT `+tables.CaptureColumns+`, `+tables.TranscriptColumns+`
FROM transcripts t JOIN captures c ON c.id = t.capture WHERE `+w.String()+`
ORDER BY t.added_at DESC, t.id DESC LIMIT `+w.Arg(limit), w.Args...)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
		return scan(rows)
	})
}

// Transcript implements sink.Reader.
func (l *Ledger) Transcript(ctx context.Context, key schema.Transcript) (sink.Summary, error) {
	s, err := tables.ScanSummary(l.readers.QueryRowContext(ctx, `SELECT `+tables.CaptureColumns+`, `+tables.TranscriptColumns+`
FROM captures c JOIN transcripts t ON t.capture = c.id WHERE c.key = ? AND t.session = ?`, key.Identity.String(), key.Session))
	if errors.Is(err, sql.ErrNoRows) {
		err = sink.ErrNotFound
	}
	if err != nil {
		return sink.Summary{}, fmt.Errorf("read transcript %s of ledger %s: %w", key, l.path, err)
	}
	return s, nil
}

// Events implements sink.Reader. A read transaction that stayed open would keep the WAL from being
// reset.
func (l *Ledger) Events(ctx context.Context, key schema.Transcript, after uint64, limit int) iter.Seq2[sink.Event, error] {
	return tables.Events(after, limit, func(dst []sink.Event, after uint64, limit int) ([]sink.Event, error) {
		page, err := l.events(ctx, dst, key, after, limit)
		if err != nil {
			return nil, fmt.Errorf("read events of %s after %d of ledger %s: %w", key, after, l.path, err)
		}
		return page, nil
	}, func(seq uint64) (*sink.Dropped, error) { return l.dropped(ctx, key, seq) })
}

// dropped gives the piece that an event was dropped with; nil if it was not.
func (l *Ledger) dropped(ctx context.Context, key schema.Transcript, seq uint64) (*sink.Dropped, error) {
	d, err := droppedWith(l.readers.QueryRowContext(ctx, `SELECT `+tables.DroppedColumns+` FROM dropped d WHERE d.transcript =
(SELECT t.id FROM transcripts t JOIN captures c ON c.id = t.capture WHERE c.key = ? AND t.session = ?)
AND d.last >= ? AND d.first <= ? ORDER BY d.last LIMIT 1`, key.Identity.String(), key.Session, int64(seq), int64(seq)), key)
	if err != nil {
		return nil, fmt.Errorf("look whether event %d of %s was dropped from ledger %s: %w", seq, key, l.path, err)
	}
	return d, nil
}

func droppedWith(row *sql.Row, key schema.Transcript) (*sink.Dropped, error) {
	d, err := tables.ScanDropped(row, key)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return d, err
}

func (l *Ledger) events(ctx context.Context, dst []sink.Event, key schema.Transcript, after uint64, limit int) ([]sink.Event, error) {
	rows, err := l.readers.QueryContext(ctx, `SELECT e.store_seq, e.event FROM events e WHERE e.transcript =
(SELECT t.id FROM transcripts t JOIN captures c ON c.id = t.capture WHERE c.key = ? AND t.session = ?)
AND e.store_seq > ? ORDER BY e.store_seq LIMIT ?`, key.Identity.String(), key.Session, int64(after), limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	return tables.ScanEvents(dst, rows, func(seq *int64, event *[]byte) error { return rows.Scan(seq, (*blob)(event)) })
}

// blob takes the driver's bytes, which are a copy already, without copying them once more.
type blob []byte

// Scan implements sql.Scanner.
func (b *blob) Scan(src any) error {
	bytes, ok := src.([]byte)
	if !ok {
		return fmt.Errorf("want bytes, got %T", src)
	}
	*b = bytes
	return nil
}
