// Package sqlite keeps the ledger in one SQLite file: one writer, and readers in any number of
// processes while it writes. The index of its search is in a file beside it, which may be deleted at
// any time, with its -wal and -shm: it is made again.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/steno-io/steno/sink"
)

// Options of a ledger.
type Options struct {
	// ReadOnly opens an existing file and never writes to it; Claim and Store then fail.
	ReadOnly bool
	// Sealed gives what was dropped, for an index that is made anew; nil: it is without that, and says so.
	Sealed sink.Sealed
}

// Ledger is a ledger in a file. It is safe for concurrent use.
type Ledger struct {
	path    string
	sealed  sink.Sealed // nil: no archive is to be had
	readers *sql.DB
	writers *sql.DB // nil if read-only
	index   index

	findersMu sync.Mutex
	found     *sql.DB     // reads the ledger and its index; nil until it is used
	foundFile os.FileInfo // the index that it has open

	mu sync.Mutex // guards w: one transaction at a time
	w  *writer    // nil after a failure; the next transaction makes another
}

var (
	_ sink.Ledger   = (*Ledger)(nil)
	_ sink.Reader   = (*Ledger)(nil)
	_ sink.Auditor  = (*Ledger)(nil)
	_ sink.Searcher = (*Ledger)(nil)
	_ sink.Index    = (*Ledger)(nil)
)

// Readers at once, and milliseconds to wait for another process's lock.
const (
	maxReaders  = 8
	busyTimeout = "busy_timeout(10000)"
)

// The writer's settings. With WAL, synchronous=NORMAL does not wait for the disk at each commit: a
// power failure may take the last transactions, whole ones and in order. That costs a replay and
// nothing else: position and events go in one transaction, so the sink reads the same records again
// from STENO_EVENTS, which is what is durable. A checkpoint after every 4,000 pages keeps the WAL
// near 16 MiB. The page cache is small because nothing is read twice: the memory of 4 MB is used again
// and again, and at 32 MB each event cost twice the processor time until it was full.
var writerPragmas = []string{
	busyTimeout, "journal_mode(WAL)", "synchronous(NORMAL)", "wal_autocheckpoint(4000)", "cache_size(-4000)",
}

// Open opens the ledger at path. A writer makes the file (0600) and its directory (0700) if they are
// not there, and brings the tables up to date; a reader refuses a file that is not there or not up
// to date.
func Open(path string, o Options) (*Ledger, error) {
	l, err := open(path, o)
	if err != nil {
		return nil, fmt.Errorf("open ledger %s: %w", path, err)
	}
	return l, nil
}

func open(path string, o Options) (*Ledger, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	l := &Ledger{path: path, sealed: o.Sealed}
	if o.ReadOnly {
		_, err = os.Stat(path)
	} else {
		err = l.openWriter()
	}
	if err == nil {
		l.readers, err = connect(path, maxReaders, "mode=ro", busyTimeout, "query_only(1)")
	}
	if err == nil {
		err = checkVersion(context.Background(), l.readers)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (l *Ledger) openWriter() error {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_RDWR, 0o600) // the WAL takes over its permissions
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if l.writers, err = connect(l.path, 1, "_txlock=immediate", writerPragmas...); err != nil {
		return err
	}
	return migrate(context.Background(), l.writers)
}

func connect(path string, connections int, query string, pragmas ...string) (*sql.DB, error) {
	for _, p := range pragmas {
		query += "&_pragma=" + url.QueryEscape(p)
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: query}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// Close waits for a running transaction and closes the files.
func (l *Ledger) Close() error {
	l.index.mu.Lock()
	defer l.index.mu.Unlock()
	l.findersMu.Lock()
	defer l.findersMu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	if l.w != nil {
		errs = append(errs, l.w.close())
		l.w = nil
	}
	for _, db := range []*sql.DB{l.found, l.index.db, l.readers, l.writers} { // a writer last: it clears the WAL away
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	l.index.db = nil
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close ledger %s: %w", l.path, err)
	}
	return nil
}
