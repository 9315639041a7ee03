package bench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/sqlite"
)

// Goals of the sink.
const (
	goalSQLite   = 40_000
	goalPostgres = 20_000
)

// database is what a sink's ledger is kept in.
type database struct {
	name string
	goal float64
	// open makes a ledger in which nothing is stored, and drop takes it away.
	open func(ctx context.Context) (ledger, error)
	drop func(ctx context.Context) error
	// insert stores rows into such a ledger's table of events by a plain loop, so many in a transaction.
	// It takes the time up to the last commit: closing SQLite moves the whole WAL and syncs.
	insert func(ctx context.Context, rows []row, batch int) (time.Duration, error)
}

type ledger interface {
	sink.Ledger
	sink.Reader
	Close() error
}

// row is one event as it is stored.
type row struct {
	transcript int
	seq        uint64
	event      []byte
}

// sink stores the records of a stream, from the stream into the ledger. The ceiling inserts the same
// bytes into the same table in transactions of the same size.
func (b *bench) sink(ctx context.Context) error {
	of, err := b.recording(schema.ACP)
	if err != nil {
		return err
	}
	return b.recorded(ctx, "sink", []Recording{of}, b.size.captures, 0, func(r *rig, load *backlog) error {
		databases := []database{sqliteIn(filepath.Join(r.dir, "ledger"))}
		if b.Ledger != "" {
			d, err := postgresAt(ctx, b.Ledger)
			if err != nil {
				return err
			}
			databases = append(databases, d)
		}
		for _, d := range databases {
			if err := b.sinkInto(ctx, r, load, d); err != nil {
				return err
			}
		}
		return nil
	})
}

// recorded is withRig with a backlog that is translated.
func (b *bench) recorded(ctx context.Context, name string, of []Recording, captures, waiting int, do func(*rig, *backlog) error) error {
	return withRig(ctx, everySecond, func(r *rig) error {
		b.Say("%s: storing a backlog", name)
		load, err := r.backlog(ctx, of, captures, waiting)
		if err != nil {
			return err
		}
		if _, _, err := b.translated(ctx, r, load); err != nil {
			return err
		}
		return do(r, load)
	})
}

func (b *bench) sinkInto(ctx context.Context, r *rig, load *backlog, d database) error {
	total, err := b.durable(load)
	if err != nil {
		return err
	}
	var rows []row
	batch := 0
	name := "sink, " + d.name
	figure, ceiling, err := b.beside(ctx, name,
		func(ctx context.Context) (rate float64, err error) {
			l, err := d.open(ctx)
			if err != nil {
				return 0, err
			}
			took, transactions, err := store(ctx, r, l, total)
			if err == nil && rows == nil {
				rows, err = stored(ctx, l)
			}
			if err == nil && len(rows) != total {
				err = fmt.Errorf("stored %d events of %d", len(rows), total)
			}
			batch = max(total/max(transactions, 1), 1)
			return float64(total) / took.Seconds(), errors.Join(err, l.Close(), d.drop(context.WithoutCancel(ctx)))
		},
		func(ctx context.Context) (rate float64, err error) {
			l, err := d.open(ctx) // makes the table
			if err != nil {
				return 0, err
			}
			err = l.Close()
			var took time.Duration
			if err == nil {
				took, err = d.insert(ctx, rows, batch)
			}
			return float64(len(rows)) / took.Seconds(), errors.Join(err, d.drop(context.WithoutCancel(ctx)))
		})
	if err != nil {
		return err
	}
	return b.higher(name, "events/s", figure, ceiling, d.goal)
}

// store runs a sink until so many events are in the ledger.
func store(ctx context.Context, r *rig, l sink.Ledger, events int) (took time.Duration, transactions int, err error) {
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var n, count atomic.Int64
	var end atomic.Int64
	begin := time.Now()
	k := sink.New(sink.Options{JS: r.js, Ledger: l, OnStored: func(out sink.Stored) {
		if len(out.Parked) > 0 {
			stop(fmt.Errorf("capture %s is parked: %s", out.Parked[0].Capture, out.Parked[0].Reason))
		}
		count.Add(1)
		if n.Add(int64(out.Events)) == int64(events) {
			end.Store(int64(time.Since(begin)))
			stop(nil)
		}
	}})
	err = k.Run(running)
	if cause := context.Cause(running); err == nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	if err == nil {
		err = ctx.Err()
	}
	return time.Duration(end.Load()), int(count.Load()), err
}

// stored gives all events of a ledger.
func stored(ctx context.Context, l sink.Reader) ([]row, error) {
	var rows []row
	transcripts := 0
	for t, err := range sink.All(ctx, l) {
		if err != nil {
			return nil, err
		}
		transcripts++
		for e, err := range l.Events(ctx, t.Transcript, 0, 0) {
			if err != nil {
				return nil, err
			}
			rows = append(rows, row{transcripts, e.Seq, e.Bytes})
		}
	}
	return rows, nil
}

// sqliteIn is a ledger in a directory that is made for it.
func sqliteIn(dir string) database {
	path := filepath.Join(dir, "ledger.db")
	return database{
		name: "SQLite", goal: goalSQLite,
		open: func(context.Context) (ledger, error) {
			l, err := sqlite.Open(path, sqlite.Options{})
			if err != nil {
				return nil, err // not a ledger that is nil inside
			}
			return l, nil
		},
		drop: func(context.Context) error { return os.RemoveAll(dir) },
		insert: func(ctx context.Context, rows []row, batch int) (time.Duration, error) {
			return insertSQLite(ctx, path, rows, batch)
		},
	}
}

// insertSQLite inserts with the ledger's own settings. It looks at ctx between two transactions: the
// driver starts a goroutine for each statement that could be cancelled, which would lower the ceiling.
func insertSQLite(ctx context.Context, path string, rows []row, batch int) (took time.Duration, err error) {
	query := url.Values{"_txlock": {"immediate"}, "_pragma": {
		"journal_mode(WAL)", "synchronous(NORMAL)", "wal_autocheckpoint(4000)", "cache_size(-4000)",
	}}
	u := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: query.Encode()}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return 0, fmt.Errorf("open SQLite: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	begin := time.Now()
	for len(rows) > 0 {
		n := min(batch, len(rows))
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if err := insertBatch(context.WithoutCancel(ctx), db, rows[:n]); err != nil {
			return 0, fmt.Errorf("insert into SQLite: %w", err)
		}
		rows = rows[n:]
	}
	return time.Since(begin), nil
}

func insertBatch(ctx context.Context, db *sql.DB, rows []row) (err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // does nothing behind a commit
	put, err := tx.PrepareContext(ctx, `INSERT INTO events (transcript, store_seq, event) VALUES (?, ?, ?)`)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, put.Close()) }()
	for _, r := range rows {
		if _, err := put.ExecContext(ctx, r.transcript, r.seq, r.event); err != nil {
			return err
		}
	}
	return tx.Commit()
}
