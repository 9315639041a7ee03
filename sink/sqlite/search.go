package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/search"
	"github.com/steno-io/steno/sink/tables"
)

// dialect is SQLite's way with the common queries.
var dialect = tables.Dialect{
	Mark: "?", Bytes: func(s string) any { return s }, Contains: `instr(%s, %s) > 0`,
}

// errNoIndex: there is no index, or none of this build and this ledger, and so nothing is indexed yet.
var errNoIndex = errors.New("no index")

// finder makes connections that read the ledger and its index together.
type finder struct {
	driver        driver.Driver
	ledger, index string // what the driver opens; what is attached
}

// Driver implements driver.Connector.
func (f finder) Driver() driver.Driver { return f.driver }

// Connect implements driver.Connector.
func (f finder) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := f.driver.Open(f.ledger)
	if err != nil {
		return nil, err
	}
	_, err = conn.(driver.ExecerContext).ExecContext(ctx, `ATTACH ? AS search`, []driver.NamedValue{{Ordinal: 1, Value: f.index}})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("attach index: %w", err), conn.Close())
	}
	return conn, nil
}

// finders gives the connections to an index's file. Those to a file that was taken away are closed.
func (l *Ledger) finders(index os.FileInfo) (*sql.DB, error) {
	l.findersMu.Lock()
	defer l.findersMu.Unlock()
	if l.found != nil && os.SameFile(index, l.foundFile) {
		return l.found, nil
	}
	if l.found != nil {
		if err := l.found.Close(); err != nil {
			return nil, err
		}
	}
	l.found, l.foundFile = l.openFinders(), index
	return l.found, nil
}

func (l *Ledger) openFinders() *sql.DB {
	file := func(path, query string) string {
		u := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: query}
		return u.String()
	}
	db := sql.OpenDB(finder{
		driver: l.readers.Driver(),
		ledger: file(l.path, "mode=ro&_pragma="+url.QueryEscape(busyTimeout)+"&_pragma="+url.QueryEscape("query_only(1)")),
		index:  file(indexPath(l.path), "mode=ro"),
	})
	db.SetMaxOpenConns(maxReaders)
	db.SetMaxIdleConns(maxReaders)
	return db
}

// finding runs do in a transaction that reads the ledger and its index; errNoIndex if there is none. A
// writer takes away an index that shows damage.
func (l *Ledger) finding(ctx context.Context, do func(*sql.Tx) error) error {
	file, err := os.Stat(indexPath(l.path))
	if errors.Is(err, fs.ErrNotExist) {
		return errNoIndex
	} else if err != nil {
		return err
	}
	found, err := l.finders(file)
	if err != nil {
		return err
	}
	if err = inIndex(ctx, found, do); !damaged(err) {
		return err
	}
	if l.writers == nil {
		return fmt.Errorf("the index is damaged; %s may be deleted, with its -wal and -shm, and a sink makes it anew: %w", indexPath(l.path), err)
	}
	l.index.mu.Lock()
	defer l.index.mu.Unlock()
	if now, statErr := os.Stat(indexPath(l.path)); statErr == nil && os.SameFile(now, file) { // else it is mended
		l.index.memory.Forget()
		if mending := l.mendIndex(err); mending != nil {
			return errors.Join(err, mending)
		}
	}
	return errNoIndex
}

func inIndex(ctx context.Context, found *sql.DB, do func(*sql.Tx) error) error {
	tx, err := found.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it only read
	var version int
	if err := tx.QueryRowContext(ctx, `PRAGMA search.user_version`).Scan(&version); err != nil {
		return err
	}
	if version != indexVersion {
		return errNoIndex
	}
	var fits bool
	if err := tx.QueryRowContext(ctx, `SELECT l.id = i.ledger FROM main.ledger l, search.indexed i`).Scan(&fits); err != nil {
		return err
	}
	if !fits {
		return errNoIndex
	}
	return do(tx)
}

// Search implements sink.Searcher.
func (l *Ledger) Search(ctx context.Context, q sink.SearchQuery) (sink.HitPage, error) {
	hits, err := tables.ReadSearch(q)
	if err != nil {
		return sink.HitPage{}, err
	}
	var page sink.HitPage
	err = l.finding(ctx, func(tx *sql.Tx) error {
		var err error
		if hits.Agents, err = agents(ctx, tx, hits.Filter); err != nil {
			return err
		}
		if page, err = hits.Read(source{ctx, tx}); err != nil {
			return err
		}
		page.Indexing, err = indexing(ctx, tx)
		return err
	})
	if errors.Is(err, errNoIndex) {
		page = sink.HitPage{Hits: []sink.Hit{}}
		page.Indexing, err = l.nothingIndexed(ctx)
	}
	if err != nil {
		return sink.HitPage{}, fmt.Errorf("search ledger %s: %w", l.path, err)
	}
	return page, nil
}

// Indexing implements sink.Searcher.
func (l *Ledger) Indexing(ctx context.Context) (sink.Indexing, error) {
	var now sink.Indexing
	err := l.finding(ctx, func(tx *sql.Tx) (err error) {
		now, err = indexing(ctx, tx)
		return err
	})
	if errors.Is(err, errNoIndex) {
		now, err = l.nothingIndexed(ctx)
	}
	if err != nil {
		return sink.Indexing{}, fmt.Errorf("read the index of ledger %s: %w", l.path, err)
	}
	return now, nil
}

// indexing counts by rowids, which count the events: they are given in order, and none is taken away that is not
// indexed, nor the highest. An index that is made anew comes upon numbers without an event, and so is at most
// as far behind as this says; what was dropped before comes after all else.
func indexing(ctx context.Context, tx *sql.Tx) (sink.Indexing, error) {
	var behind, missing int64
	var now sink.Indexing
	err := tx.QueryRowContext(ctx, `SELECT coalesce((SELECT max(rowid) FROM events), 0) - position,
(SELECT count(*) FROM unindexed) FROM indexed`).Scan(&behind, &now.Failed)
	if err == nil {
		missing, err = missingIn(ctx, tx)
	}
	now.Behind = uint64(max(behind, 0) + missing) // the index may be read at a later moment than the ledger
	return now, err
}

// missingIn counts what was dropped and an index that was made anew has not yet.
func missingIn(ctx context.Context, tx *sql.Tx) (n int64, err error) {
	var there bool
	err = tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM search.sqlite_schema WHERE name = 'missing')`).Scan(&there)
	if err == nil && there { // else a build made it that drops nothing
		err = tx.QueryRowContext(ctx, `SELECT coalesce(sum(last - next + 1), 0) FROM search.missing`).Scan(&n)
	}
	return n, err
}

func (l *Ledger) nothingIndexed(ctx context.Context) (sink.Indexing, error) {
	var now sink.Indexing
	err := l.readers.QueryRowContext(ctx, `SELECT coalesce(max(rowid), 0) FROM events`).Scan(&now.Behind)
	return now, err
}

// source is what hits are read from.
type source struct {
	ctx context.Context
	tx  *sql.Tx
}

var _ tables.Source = source{}

// agents gives the names that the filter leaves, if it asks for one.
func agents(ctx context.Context, db querier, f sink.Filter) ([]string, error) {
	if f.Agent == "" {
		return nil, nil
	}
	rows, err := db.QueryContext(ctx, tables.Agents+`transcripts t`)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	return tables.ScanAgents(rows, f)
}

// transcriptIDs is the query of the ids of transcripts that a filter leaves.
const transcriptIDs = `SELECT t.id FROM transcripts t JOIN captures c ON c.id = t.capture`

// Places implements tables.Source.
func (s source) Places(h tables.Hits, limit int) ([]tables.Place, error) {
	w := tables.Where{Dialect: dialect}
	w.And(`words MATCH %s`, w.Arg(h.Query.FTS5()))
	h.Where(&w, `p.at`, `p.transcript`, `p.seq`, transcriptIDs)
	rows, err := s.tx.QueryContext(s.ctx, `SELECT p.at, p.transcript, p.seq FROM search.words JOIN search.places p ON p.id = words.rowid
WHERE `+w.String()+` ORDER BY p.at DESC, p.transcript DESC, p.seq DESC LIMIT `+w.Arg(limit), w.Args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	var out []tables.Place
	for rows.Next() {
		var p tables.Place
		if err := rows.Scan(&p.At, &p.Transcript, &p.Seq); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, rows.Err()
}

// Summary implements tables.Source.
func (s source) Summary(transcript int64) (sink.Summary, error) {
	sum, err := tables.ScanSummary(s.tx.QueryRowContext(s.ctx, `SELECT `+tables.CaptureColumns+`, `+tables.TranscriptColumns+`
FROM transcripts t JOIN captures c ON c.id = t.capture WHERE t.id = ?`, transcript))
	if errors.Is(err, sql.ErrNoRows) {
		err = sink.ErrNotFound
	}
	return sum, err
}

// Event implements tables.Source.
func (s source) Event(p tables.Place) ([]byte, error) {
	var event []byte
	err := s.tx.QueryRowContext(s.ctx, `SELECT event FROM events WHERE transcript = ? AND store_seq = ?`, p.Transcript, p.Seq).Scan((*blob)(&event))
	if errors.Is(err, sql.ErrNoRows) {
		err = sink.ErrNotFound
	}
	return event, err
}

// Dropped implements tables.Source.
func (s source) Dropped(p tables.Place, key schema.Transcript) (*sink.Dropped, error) {
	return droppedWith(s.tx.QueryRowContext(s.ctx, `SELECT ?2, ?2, d.archive, d.seal, substr(d.digests, (?2 - d.first) * 32 + 1, 32)
FROM dropped d WHERE d.transcript = ?1 AND d.last >= ?2 AND d.first <= ?2 ORDER BY d.last LIMIT 1`, p.Transcript, p.Seq), key)
}

// saying adds the condition that a search in a transcript finds something.
func saying(w *tables.Where, q search.Query) {
	w.And(`t.id IN (SELECT p.transcript FROM search.words JOIN search.places p ON p.id = words.rowid WHERE words MATCH %s)`, w.Arg(q.FTS5()))
}
