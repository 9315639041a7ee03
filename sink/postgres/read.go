package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

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
	var text search.Query
	if q.Text != "" {
		if text, err = search.Parse(q.Text); err != nil {
			return sink.Page{}, err
		}
	}
	if query.Agents, err = agents(ctx, l.pool, q.Filter); err != nil {
		return sink.Page{}, fmt.Errorf("list transcripts of ledger %s: %w", l.name, unreachable(err))
	}
	page, err := query.Read(func(p tables.Page, limit int, scan func(tables.Rows) error) error {
		return l.transcripts(ctx, p, text, limit, scan)
	})
	if err != nil {
		return sink.Page{}, fmt.Errorf("list transcripts of ledger %s: %w", l.name, unreachable(err))
	}
	return page, nil
}

func (l *Ledger) transcripts(ctx context.Context, p tables.Page, text search.Query, limit int, scan func(tables.Rows) error) error {
	w := tables.Where{Dialect: dialect}
	p.Where(&w)
	if len(text.Terms) > 0 {
		w.And(`t.id IN (SELECT f.transcript FROM (%s) f)`, found(&w, text))
	}
	rows, err := l.pool.Query(ctx, `SELECT `+tables.CaptureColumns+`, `+tables.TranscriptColumns+`
FROM steno.transcripts t JOIN steno.captures c ON c.id = t.capture WHERE `+w.String()+`
ORDER BY t.added_at DESC, t.id DESC LIMIT `+w.Arg(limit), w.Args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	return scan(rows)
}

// Transcript implements sink.Reader.
func (l *Ledger) Transcript(ctx context.Context, key schema.Transcript) (sink.Summary, error) {
	s, err := tables.ScanSummary(l.pool.QueryRow(ctx, `SELECT `+tables.CaptureColumns+`, `+tables.TranscriptColumns+`
FROM steno.captures c JOIN steno.transcripts t ON t.capture = c.id WHERE c.key = $1 AND t.session = $2`, key.Identity.String(), int64(key.Session)))
	if errors.Is(err, pgx.ErrNoRows) {
		err = sink.ErrNotFound
	}
	if err != nil {
		return sink.Summary{}, fmt.Errorf("read transcript %s of ledger %s: %w", key, l.name, unreachable(err))
	}
	return s, nil
}

// Events implements sink.Reader.
func (l *Ledger) Events(ctx context.Context, key schema.Transcript, after uint64, limit int) iter.Seq2[sink.Event, error] {
	return tables.Events(after, limit, func(dst []sink.Event, after uint64, limit int) ([]sink.Event, error) {
		page, err := l.events(ctx, dst, key, after, limit)
		if err != nil {
			return nil, fmt.Errorf("read events of %s after %d of ledger %s: %w", key, after, l.name, unreachable(err))
		}
		return page, nil
	}, func(seq uint64) (*sink.Dropped, error) { return l.droppedWith(ctx, key, seq) })
}

// droppedWith gives the piece that an event was dropped with; nil if it was not.
func (l *Ledger) droppedWith(ctx context.Context, key schema.Transcript, seq uint64) (*sink.Dropped, error) {
	id, err := l.session(ctx, key)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	var d *sink.Dropped
	if err == nil {
		d, err = dropped(ctx, l.pool, id, int64(seq), key)
	}
	if err != nil {
		return nil, fmt.Errorf("look whether event %d of %s was dropped from ledger %s: %w", seq, key, l.name, unreachable(denied(err)))
	}
	return d, nil
}

// session gives a transcript's id.
func (l *Ledger) session(ctx context.Context, key schema.Transcript) (id int64, err error) {
	err = l.pool.QueryRow(ctx, `SELECT t.id FROM steno.transcripts t JOIN steno.captures c ON c.id = t.capture
WHERE c.key = $1 AND t.session = $2`, key.Identity.String(), int64(key.Session)).Scan(&id)
	return id, err
}

// pageSQL reads events of a transcript ($1) from a number ($2) on, at most so many ($3), and no more
// bytes ($4) than a page takes: the server would send all that it found, wanted or not.
const pageSQL = `SELECT store_seq, event FROM (
  SELECT store_seq, event, sum(octet_length(event)) OVER (ORDER BY store_seq) - octet_length(event) AS bytes_before
  FROM (SELECT store_seq, event FROM steno.events WHERE transcript = $1 AND store_seq >= $2 ORDER BY store_seq LIMIT $3) e
) e WHERE bytes_before < $4 ORDER BY store_seq`

func (l *Ledger) events(ctx context.Context, dst []sink.Event, key schema.Transcript, after uint64, limit int) ([]sink.Event, error) {
	id, err := l.session(ctx, key)
	if errors.Is(err, pgx.ErrNoRows) {
		return dst, nil
	}
	if err != nil {
		return nil, err
	}
	rows, err := l.pool.Query(ctx, pageSQL, id, int64(after)+1, limit, tables.PageBytes)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return tables.ScanEvents(dst, rows, func(seq *int64, event *[]byte) error { return rows.Scan(seq, event) })
}
