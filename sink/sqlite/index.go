package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/search"
	"github.com/steno-io/steno/sink/tables"
)

//go:embed index.sql
var indexTables string

// indexVersion counts the changes of the words and of the index's tables. An index of another version is
// made anew by the next writer.
const indexVersion = 2

// Bounds of a transaction of the index.
const (
	indexEvents = 1024
	indexBytes  = 4 << 20 // of events, passed by at most one
)

var indexPragmas = []string{busyTimeout, "journal_mode(WAL)", "synchronous(NORMAL)", "cache_size(-8000)"}

// indexTries is after how many failures an event is passed over that SQLite may not be able to index.
const indexTries = 5

// index is the writer's side of the index.
type index struct {
	mu      sync.Mutex  // one transaction at a time
	db      *sql.DB     // nil until it is used, and after a failure
	file    os.FileInfo // what db has open
	memory  search.Memory
	careful bool  // something failed: each event has a transaction of its own
	event   int64 // the last that failed alone
	tries   int   // how often it did
}

// indexPath is the file beside the ledger's.
func indexPath(ledger string) string { return strings.TrimSuffix(ledger, ".db") + "-search.db" }

var errIndexMoved = errors.New("another process has indexed them")

// Index implements sink.Index.
func (l *Ledger) Index(ctx context.Context) (int, error) {
	if l.writers == nil {
		return 0, errReadOnly
	}
	l.index.mu.Lock()
	defer l.index.mu.Unlock()
	n, err := l.indexNext(ctx)
	if err != nil {
		l.index.memory.Forget()
		return 0, fmt.Errorf("index ledger %s: %w", l.path, errors.Join(err, l.mendIndex(err)))
	}
	return n, nil
}

// damaged reports whether an error says that the index's file is damaged, or is no index.
func damaged(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	code := e.Code() & 0xff
	return code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB || noTable(err)
}

// noTable reports whether a table is missing, or a column.
func noTable(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "no such table") || strings.Contains(err.Error(), "no such column") ||
		strings.Contains(err.Error(), "has no column"))
}

// mendIndex takes away a file that is damaged: it is made anew. Whoever has it open notices.
func (l *Ledger) mendIndex(why error) error {
	if !damaged(why) {
		return nil
	}
	path := indexPath(l.path)
	errs := []error{l.index.close()}
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + end); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("the index is damaged; %s may be deleted, with its -wal and -shm: %w", path, err)
	}
	return nil
}

func (x *index) close() error {
	if x.db == nil {
		return nil
	}
	err := x.db.Close()
	x.db = nil
	return err
}

// isThere reports whether the file that is open is the index, and not one that was taken away.
func (x *index) isThere(path string) bool {
	file, err := os.Stat(path)
	return err == nil && os.SameFile(file, x.file)
}

// useIndex opens the index, if it is not open.
func (l *Ledger) useIndex(ctx context.Context) error {
	if l.index.db != nil && !l.index.isThere(indexPath(l.path)) {
		l.index.memory.Forget() // somebody took it away
		if err := l.index.close(); err != nil {
			return err
		}
	}
	if l.index.db != nil {
		return nil
	}
	return l.openIndex(ctx)
}

// indexNext indexes the events behind the position.
func (l *Ledger) indexNext(ctx context.Context) (int, error) {
	if err := l.useIndex(ctx); err != nil {
		return 0, err
	}
	var position int64
	if err := l.index.db.QueryRowContext(ctx, `SELECT position FROM indexed`).Scan(&position); err != nil {
		return 0, err
	}
	batch, err := l.unindexed(ctx, position)
	if err != nil {
		return 0, err
	}
	if len(batch) == 0 {
		return l.indexMissing(ctx)
	}
	ctx = context.WithoutCancel(ctx) // what has begun is soon done
	if !l.index.careful {
		err = l.indexBatch(ctx, position, batch)
		if errors.Is(err, errIndexMoved) {
			l.index.memory.Forget()
			return len(batch), nil
		}
		if !refusedContent(err) {
			l.index.careful = mayBeTheEvent(err)
			return len(batch), err
		}
		l.index.memory.Forget()
	}
	n, err := l.indexEach(ctx, position, batch)
	l.index.careful = mayBeTheEvent(err)
	return n, err
}

// indexEach indexes events one by one, and passes over those that the index does not take.
func (l *Ledger) indexEach(ctx context.Context, position int64, batch []eventRow) (int, error) {
	for i, row := range batch {
		err := l.indexBatch(ctx, position, batch[i:i+1])
		if refusedContent(err) || mayBeTheEvent(err) && l.failedOften(row.id) {
			l.index.memory.Forget()
			batch[i].why = err
			err = l.indexBatch(ctx, position, batch[i:i+1])
		}
		if errors.Is(err, errIndexMoved) {
			l.index.memory.Forget()
			return i, nil
		}
		if err != nil {
			return i, fmt.Errorf("event %d: %w", row.id, err)
		}
		position = row.id
	}
	return len(batch), nil
}

// failedOften counts a failure of an event, and reports whether there were enough.
func (l *Ledger) failedOften(event int64) bool {
	if l.index.event != event {
		l.index.event, l.index.tries = event, 0
	}
	l.index.tries++
	return l.index.tries >= indexTries
}

// mayBeTheEvent reports whether an event may be why it could not be indexed: not a full disk, or a lock.
func mayBeTheEvent(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_ERROR, sqlite3.SQLITE_INTERNAL, sqlite3.SQLITE_NOMEM:
		return !noTable(err)
	}
	return false
}

func refusedContent(err error) bool { return err != nil && errors.Is(refused(err), sink.ErrRefused) }

// eventRow is a row of the ledger's events.
type eventRow struct {
	id, transcript, seq int64
	event               []byte
	why                 error // set: it cannot be indexed
}

// unindexed reads the ledger's events behind a position.
func (l *Ledger) unindexed(ctx context.Context, position int64) ([]eventRow, error) {
	rows, err := l.readers.QueryContext(ctx, `SELECT rowid, transcript, store_seq, event FROM events WHERE rowid > ? ORDER BY rowid LIMIT ?`,
		position, indexEvents)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	var out []eventRow
	for size := 0; size < indexBytes && rows.Next(); {
		var r eventRow
		if err := rows.Scan(&r.id, &r.transcript, &r.seq, (*blob)(&r.event)); err != nil {
			return nil, err
		}
		out, size = append(out, r), size+len(r.event)
	}
	return out, rows.Err()
}

// indexBatch indexes events in one transaction, which moves the position behind them. Their words are made
// before it: a transaction keeps other processes from the index.
func (l *Ledger) indexBatch(ctx context.Context, position int64, batch []eventRow) error {
	return l.putWords(ctx, batch, func(tx *sql.Tx) (int64, error) {
		last := batch[len(batch)-1]
		digest := sha256.Sum256(last.event)
		return changed(tx.ExecContext(ctx, `UPDATE indexed SET position = ?, digest = ? WHERE position = ?`, last.id, digest[:], position))
	})
}

// putWords puts the words of events in a transaction that begins with move, which is to change a row: else another
// process has changed it.
func (l *Ledger) putWords(ctx context.Context, batch []eventRow, move func(*sql.Tx) (int64, error)) error {
	type folded struct {
		at   int64
		line string
		why  error
	}
	said := make([]folded, len(batch))
	for i, r := range batch {
		if said[i].why = r.why; r.why != nil {
			continue
		}
		w, why := tables.ReadWords(&l.index.memory, r.transcript, r.seq, r.event)
		said[i] = folded{w.At, w.Texts.Line(), why}
	}
	tx, err := l.index.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	moved, err := move(tx)
	if err != nil {
		return err
	}
	if moved == 0 {
		return errIndexMoved
	}
	place, err := tx.PrepareContext(ctx, `INSERT INTO places (id, at, transcript, seq) VALUES (?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer place.Close() //nolint:errcheck // the transaction's end closes it
	words, err := tx.PrepareContext(ctx, `INSERT INTO words (rowid, line) VALUES (?, ?)`)
	if err != nil {
		return err
	}
	defer words.Close() //nolint:errcheck // the transaction's end closes it
	for i, r := range batch {
		if why := said[i].why; why != nil {
			if _, err := tx.ExecContext(ctx, `INSERT INTO unindexed (id, why) VALUES (?, ?)`, r.id, why.Error()); err != nil {
				return err
			}
			continue
		}
		if said[i].line == "" {
			continue
		}
		if _, err := place.ExecContext(ctx, r.id, said[i].at, r.transcript, r.seq); err != nil {
			return err
		}
		if _, err := words.ExecContext(ctx, r.id, said[i].line); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// openIndex opens the file, making its tables where there are none, or none that fit this build and this
// ledger.
func (l *Ledger) openIndex(ctx context.Context) error {
	path := indexPath(l.path)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) // the WAL takes over its permissions
	if err != nil {
		return err
	}
	file, err := f.Stat()
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	db, err := connect(path, 1, "_txlock=immediate", indexPragmas...)
	if err != nil {
		return err
	}
	if err := l.fitIndex(ctx, db); err != nil {
		return errors.Join(fmt.Errorf("open index %s: %w", path, err), db.Close())
	}
	l.index.db, l.index.file = db, file
	return nil
}

// fitIndex makes the index's tables anew where they are of another version, or of another ledger. Nobody stores or drops
// meanwhile: what is dropped by then is noted as missing, and who drops later finds that the index has nothing yet.
func (l *Ledger) fitIndex(ctx context.Context, db *sql.DB) error {
	fits := false
	err := inTx(ctx, db, func(tx *sql.Tx) (err error) {
		fits, err = l.fits(ctx, tx)
		return err
	})
	if fits || err != nil {
		return err
	}
	return l.transact(ctx, func(ctx context.Context, _ *writer) error {
		return inTx(ctx, db, func(tx *sql.Tx) error {
			if fits, err := l.fits(ctx, tx); fits || err != nil { // another process has made it
				return err
			}
			return l.makeIndex(ctx, tx)
		})
	})
}

func inTx(ctx context.Context, db *sql.DB, do func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// fits reports whether the index is of this build and this ledger.
func (l *Ledger) fits(ctx context.Context, tx *sql.Tx) (bool, error) {
	var version int
	if err := tx.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil || version != indexVersion {
		return false, err
	}
	return l.fitsLedger(ctx, tx)
}

func (l *Ledger) makeIndex(ctx context.Context, tx *sql.Tx) error {
	for _, table := range []string{"words", "places", "unindexed", "indexed", "missing"} {
		if _, err := tx.ExecContext(ctx, `DROP TABLE IF EXISTS `+table); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, indexTables+fmt.Sprintf(`PRAGMA user_version = %d`, indexVersion)); err != nil {
		return err
	}
	id, err := l.id(ctx)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE indexed SET ledger = ?`, id); err != nil {
		return err
	}
	return l.listMissing(ctx, tx)
}

// id is what tells this ledger from all others.
func (l *Ledger) id(ctx context.Context) (id []byte, err error) {
	err = l.readers.QueryRowContext(ctx, `SELECT id FROM ledger`).Scan(&id)
	return id, err
}

// fitsLedger reports whether the index is of this ledger, and the event at its position the one that was indexed.
func (l *Ledger) fitsLedger(ctx context.Context, tx *sql.Tx) (bool, error) {
	var position int64
	var ledger, digest, event []byte
	if err := tx.QueryRowContext(ctx, `SELECT ledger, position, digest FROM indexed`).Scan(&ledger, &position, &digest); err != nil {
		return false, err
	}
	if id, err := l.id(ctx); err != nil || !bytes.Equal(id, ledger) {
		return false, err
	}
	if position == 0 {
		return true, nil
	}
	err := l.readers.QueryRowContext(ctx, `SELECT event FROM events WHERE rowid = ?`, position).Scan(&event)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	sum := sha256.Sum256(event)
	return bytes.Equal(sum[:], digest), err
}
