package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/steno-io/steno/sink"
)

// errReadOnly is the answer of a ledger that was opened to be read.
var errReadOnly = errors.New("it was opened read-only")

// writer is the one connection that writes, with its statements.
type writer struct {
	conn  *sql.Conn
	stmts []*sql.Stmt

	begin, commit, rollback        *sql.Stmt
	claim, position                *sql.Stmt
	findCapture, makeCapture       *sql.Stmt
	findTranscript, makeTranscript *sql.Stmt
	saveCapture, saveTranscript    *sql.Stmt
	findEvent, putEvent            *sql.Stmt
}

const (
	claimSQL = `INSERT INTO partitions (partition, epoch) VALUES (?, 1)
ON CONFLICT (partition) DO UPDATE SET epoch = epoch + 1 RETURNING epoch, created, seq, digest`
	positionSQL = `UPDATE partitions SET created = ?, seq = ?, digest = ? WHERE partition = ? AND epoch = ?`

	findCaptureSQL = `SELECT ` + captureColumns + ` FROM captures c WHERE c.key = ?`
	makeCaptureSQL = `INSERT INTO captures (key) VALUES (?) RETURNING id`
	saveCaptureSQL = `UPDATE captures SET partition = ?, last_frame = ?, last_part = ?, chain = ?, translator = ?,
status = ?, open = ?, accounted = ?, last_counted = ?, shared = ?, parked_reason = ?, parked_session = ?, parked_ordinal = ?, parked_have = ?,
parked_got = ?, parked_seq = ?, parked_at = ? WHERE id = ?`

	findTranscriptSQL = `SELECT ` + transcriptColumns + ` FROM transcripts t WHERE t.capture = ? AND t.session = ?`
	makeTranscriptSQL = `INSERT INTO transcripts (capture, session) VALUES (?, ?) RETURNING id`
	saveTranscriptSQL = `UPDATE transcripts SET head = ?, frames = ?, messages = ?, agent = ?,
title = ?, cwd = ?, labels = ?, status = ?, prompt = ?, protocol = ?, dialect = ?, session_id = ?, stop = ?,
first_at = ?, last_at = ?, added_at = ? WHERE id = ?`

	findEventSQL = `SELECT event FROM events WHERE transcript = ? AND store_seq = ?`
	putEventSQL  = `INSERT INTO events (transcript, store_seq, event) VALUES (?, ?, ?)`
)

func newWriter(ctx context.Context, db *sql.DB) (*writer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{conn: conn}
	for _, s := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&w.begin, "BEGIN IMMEDIATE"}, {&w.commit, "COMMIT"}, {&w.rollback, "ROLLBACK"},
		{&w.claim, claimSQL}, {&w.position, positionSQL},
		{&w.findCapture, findCaptureSQL}, {&w.makeCapture, makeCaptureSQL}, {&w.saveCapture, saveCaptureSQL},
		{&w.findTranscript, findTranscriptSQL}, {&w.makeTranscript, makeTranscriptSQL}, {&w.saveTranscript, saveTranscriptSQL},
		{&w.findEvent, findEventSQL}, {&w.putEvent, putEventSQL},
	} {
		if *s.stmt, err = conn.PrepareContext(ctx, s.text); err != nil {
			return nil, errors.Join(fmt.Errorf("prepare %q: %w", s.text, err), w.close())
		}
		w.stmts = append(w.stmts, *s.stmt)
	}
	return w, nil
}

func (w *writer) close() error {
	var errs []error
	for _, s := range w.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, w.conn.Close())...)
}

// discard ends the connection itself, and with it whatever state it is in.
func (w *writer) discard() {
	for _, s := range w.stmts {
		_ = s.Close() // the connection that it belongs to goes too
	}
	_ = w.conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = w.conn.Close()
}

// transact runs do in a transaction. ctx bounds the wait for the lock only: a transaction that has
// begun is finished, since its answer would be lost by stopping it, not its work.
func (l *Ledger) transact(ctx context.Context, do func(context.Context, *writer) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.writers == nil {
		return errReadOnly
	}
	if l.w == nil {
		w, err := newWriter(ctx, l.writers)
		if err != nil {
			return err
		}
		l.w = w
	}
	w := l.w
	if _, err := w.begin.ExecContext(ctx); err != nil {
		l.drop()
		return fmt.Errorf("begin: %w", err)
	}
	ctx = context.WithoutCancel(ctx)
	err := do(ctx, w)
	if err == nil {
		if _, err = w.commit.ExecContext(ctx); err == nil {
			return nil
		}
		err = fmt.Errorf("commit: %w", err)
	}
	if _, undo := w.rollback.ExecContext(ctx); undo != nil {
		l.drop() // SQLite had ended the transaction, or the connection is of no more use
	}
	return refused(err)
}

func (l *Ledger) drop() {
	l.w.discard()
	l.w = nil
}

// refused marks the errors that the same content will meet again.
func refused(err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) {
		switch e.Code() & 0xff { // the rest of the code is detail
		case sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH:
			return fmt.Errorf("%w: %w", sink.ErrRefused, err)
		}
	}
	return err
}
