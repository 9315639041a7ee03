package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// A page of events is read at once, so that a reader who takes his time holds no read transaction,
// which would keep the WAL from being reset.
const (
	pageEvents = 512
	pageBytes  = 4 << 20
)

// Transcripts implements sink.Reader.
func (l *Ledger) Transcripts(ctx context.Context, q sink.Query) (sink.Page, error) {
	added, id, err := readCursor(q.After)
	if err != nil {
		return sink.Page{}, err
	}
	limit := q.Limit
	if limit <= 0 || limit > sink.MaxPage {
		limit = sink.MaxPage
	}
	page, err := l.transcripts(ctx, limit, added, id)
	if err != nil {
		return sink.Page{}, fmt.Errorf("list transcripts of ledger %s: %w", l.path, err)
	}
	return page, nil
}

func (l *Ledger) transcripts(ctx context.Context, limit int, added, id int64) (sink.Page, error) {
	rows, err := l.readers.QueryContext(ctx, `SELECT `+captureColumns+`, `+transcriptColumns+`
FROM transcripts t JOIN captures c ON c.id = t.capture WHERE (t.added_at, t.id) < (?, ?)
ORDER BY t.added_at DESC, t.id DESC LIMIT ?`, added, id, limit+1)
	if err != nil {
		return sink.Page{}, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	var page sink.Page
	var last *sink.Transcript
	for rows.Next() {
		s, t, err := scanSummary(rows)
		if err != nil {
			return sink.Page{}, err
		}
		if len(page.Transcripts) == limit {
			page.Next = writeCursor(last)
			break
		}
		page.Transcripts, last = append(page.Transcripts, s), t
	}
	return page, rows.Err()
}

func scanSummary(from row) (sink.Summary, *sink.Transcript, error) {
	var cr captureRow
	var tr transcriptRow
	if err := from.Scan(append(cr.dest(), tr.dest()...)...); err != nil {
		return sink.Summary{}, nil, err
	}
	c, err := cr.capture()
	if err != nil {
		return sink.Summary{}, nil, err
	}
	t, err := tr.transcript()
	if err != nil {
		return sink.Summary{}, nil, err
	}
	return sink.Summarise(c, t), t, nil
}

// Transcript implements sink.Reader.
func (l *Ledger) Transcript(ctx context.Context, key schema.Transcript) (sink.Summary, error) {
	s, _, err := scanSummary(l.readers.QueryRowContext(ctx, `SELECT `+captureColumns+`, `+transcriptColumns+`
FROM captures c JOIN transcripts t ON t.capture = c.id WHERE c.key = ? AND t.session = ?`, key.Identity.String(), key.Session))
	if errors.Is(err, sql.ErrNoRows) {
		err = sink.ErrNotFound
	}
	if err != nil {
		return sink.Summary{}, fmt.Errorf("read transcript %s of ledger %s: %w", key, l.path, err)
	}
	return s, nil
}

// Events implements sink.Reader.
func (l *Ledger) Events(ctx context.Context, key schema.Transcript, after uint64, limit int) iter.Seq2[sink.Event, error] {
	return func(yield func(sink.Event, error) bool) {
		left := limit
		if limit <= 0 {
			left = math.MaxInt
		}
		page := make([]sink.Event, 0, min(left, pageEvents))
		for left > 0 {
			var err error
			page, err = l.events(ctx, page[:0], key, after, min(left, pageEvents))
			if err != nil {
				yield(sink.Event{}, fmt.Errorf("read events of %s after %d of ledger %s: %w", key, after, l.path, err))
				return
			}
			if len(page) == 0 {
				return
			}
			left -= len(page)
			after = page[len(page)-1].Seq
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

func (l *Ledger) events(ctx context.Context, page []sink.Event, key schema.Transcript, after uint64, limit int) ([]sink.Event, error) {
	if after > math.MaxInt64 {
		return nil, nil // no number is that high
	}
	rows, err := l.readers.QueryContext(ctx, `SELECT e.store_seq, e.event FROM events e WHERE e.transcript =
(SELECT t.id FROM transcripts t JOIN captures c ON c.id = t.capture WHERE c.key = ? AND t.session = ?)
AND e.store_seq > ? ORDER BY e.store_seq LIMIT ?`, key.Identity.String(), key.Session, int64(after), limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	for size := 0; size < pageBytes && rows.Next(); {
		var e sink.Event
		var seq int64
		if err := rows.Scan(&seq, (*blob)(&e.Bytes)); err != nil {
			return nil, err
		}
		e.Seq = uint64(seq)
		page, size = append(page, e), size+len(e.Bytes)
	}
	return page, rows.Err()
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

func writeCursor(t *sink.Transcript) string {
	return fmt.Sprintf("%d.%d", t.AddedAt.UnixNano(), t.ID)
}

func readCursor(s string) (added, id int64, err error) {
	if s == "" {
		return math.MaxInt64, math.MaxInt64, nil
	}
	a, i, _ := strings.Cut(s, ".")
	added, err = strconv.ParseInt(a, 10, 64)
	if err == nil {
		id, err = strconv.ParseInt(i, 10, 64)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("read page cursor %q: %w", s, err)
	}
	return added, id, nil
}
