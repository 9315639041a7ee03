package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/search"
	"github.com/steno-io/steno/sink/tables"
)

// dialect is PostgreSQL's way with the common queries.
var dialect = tables.Dialect{
	Mark: "$", Bytes: func(s string) any { return []byte(s) }, Contains: `position(%[2]s IN %[1]s) > 0`, Collate: ` COLLATE "C"`,
}

// oneMoment is a transaction that reads all at one moment.
var oneMoment = pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}

// Search implements sink.Searcher.
func (l *Ledger) Search(ctx context.Context, q sink.SearchQuery) (sink.HitPage, error) {
	hits, err := tables.ReadSearch(q)
	if err != nil {
		return sink.HitPage{}, err
	}
	var page sink.HitPage
	err = pgx.BeginTxFunc(ctx, l.pool, oneMoment, func(tx pgx.Tx) (err error) {
		if hits.Agents, err = agents(ctx, tx, hits.Filter); err != nil {
			return err
		}
		if page, err = hits.Read(source{ctx, tx}); err != nil {
			return err
		}
		page.Indexing, err = readIndexing(ctx, tx)
		return err
	})
	if err != nil {
		return sink.HitPage{}, fmt.Errorf("search ledger %s: %w", l.name, unreachable(denied(err)))
	}
	return page, nil
}

// Indexing implements sink.Searcher.
func (l *Ledger) Indexing(ctx context.Context) (sink.Indexing, error) {
	now, err := indexingOf(ctx, l.pool)
	if err != nil {
		return sink.Indexing{}, fmt.Errorf("read the index of ledger %s: %w", l.name, unreachable(err))
	}
	return now, nil
}

func indexingOf(ctx context.Context, db querier) (sink.Indexing, error) {
	now, err := readIndexing(ctx, db)
	return now, denied(err)
}

func readIndexing(ctx context.Context, db querier) (sink.Indexing, error) {
	var now sink.Indexing
	var fits bool
	err := db.QueryRow(ctx, `SELECT `+fitsSQL+`, (SELECT coalesce(sum(u.head - coalesce(i.head, 0)), 0)::bigint
FROM (SELECT transcript, max(head) AS head FROM steno.unread GROUP BY transcript) u LEFT JOIN steno.indexed i ON i.transcript = u.transcript
WHERE u.head > coalesce(i.head, 0)), (SELECT count(*) FROM steno.unindexed)`).Scan(&fits, &now.Behind, &now.Failed)
	if err == nil && !fits { // nothing of it is searched
		now.Failed = 0
		err = db.QueryRow(ctx, `SELECT coalesce(sum(head), 0)::bigint FROM steno.transcripts`).Scan(&now.Behind)
	}
	return now, err
}

// source is what hits are read from.
type source struct {
	ctx context.Context
	tx  pgx.Tx
}

var _ tables.Source = source{}

// asker is a pool or a transaction.
type asker interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// agents gives the names that the filter leaves, if it asks for one.
func agents(ctx context.Context, db asker, f sink.Filter) ([]string, error) {
	if f.Agent == "" {
		return nil, nil
	}
	rows, err := db.Query(ctx, tables.Agents+`steno.transcripts t`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return tables.ScanAgents(rows, f)
}

// transcriptIDs is the query of the ids of transcripts that a filter leaves.
const transcriptIDs = `SELECT t.id FROM steno.transcripts t JOIN steno.captures c ON c.id = t.capture`

// found is the query of the events that say what is searched for, none where the words are not this build's.
// Of an event in several pieces no piece need say it all.
func found(w *tables.Where, q search.Query) string {
	sql := `SELECT DISTINCT at, transcript, store_seq FROM steno.words WHERE ` + fitsSQL + ` AND line @@ ` + w.Arg(q.TSQuery()) + `::text::tsquery`
	if len(q.Terms) == 1 {
		return sql
	}
	var all []string
	for _, t := range q.Terms {
		all = append(all, `bool_or(line @@ `+w.Arg(t.TSQuery())+`::text::tsquery)`)
	}
	return sql + `
UNION SELECT at, transcript, store_seq FROM steno.words WHERE ` + fitsSQL + ` AND many AND line @@ ` + w.Arg(q.AnyTSQuery()) + `::text::tsquery
GROUP BY at, transcript, store_seq HAVING ` + strings.Join(all, ` AND `)
}

// Places implements tables.Source.
func (s source) Places(h tables.Hits, limit int) ([]tables.Place, error) {
	w := tables.Where{Dialect: dialect}
	from := found(&w, h.Query)
	h.Where(&w, `at`, `transcript`, `store_seq`, transcriptIDs)
	rows, err := s.tx.Query(s.ctx, `SELECT at, transcript, store_seq FROM (`+from+`) f WHERE `+w.String()+`
ORDER BY at DESC, transcript DESC, store_seq DESC LIMIT `+w.Arg(limit), w.Args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[tables.Place])
}

// Summary implements tables.Source.
func (s source) Summary(transcript int64) (sink.Summary, error) {
	sum, err := tables.ScanSummary(s.tx.QueryRow(s.ctx, `SELECT `+tables.CaptureColumns+`, `+tables.TranscriptColumns+`
FROM steno.transcripts t JOIN steno.captures c ON c.id = t.capture WHERE t.id = $1`, transcript))
	if errors.Is(err, pgx.ErrNoRows) {
		err = sink.ErrNotFound
	}
	return sum, err
}

// Event implements tables.Source.
func (s source) Event(p tables.Place) ([]byte, error) {
	var event []byte
	err := s.tx.QueryRow(s.ctx, `SELECT event FROM steno.events WHERE transcript = $1 AND store_seq = $2`, p.Transcript, p.Seq).Scan(&event)
	if errors.Is(err, pgx.ErrNoRows) {
		err = sink.ErrNotFound
	}
	return event, err
}

// Dropped implements tables.Source.
func (s source) Dropped(p tables.Place, key schema.Transcript) (*sink.Dropped, error) {
	return droppedIn(s.tx.QueryRow(s.ctx, droppedAloneSQL, p.Transcript, p.Seq), key)
}
