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
	"github.com/steno-io/steno/sink/tables"
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
	over, unpark                   *sql.Stmt
	dropped                        *sql.Stmt

	piece   *sink.Dropped // that was read last; a piece never changes
	pieceOf int64         // its transcript
}

const (
	claimSQL = `INSERT INTO partitions (partition, epoch) VALUES (?, 1)
ON CONFLICT (partition) DO UPDATE SET epoch = epoch + 1 RETURNING epoch, ` + tables.PositionColumns
	positionSQL = `UPDATE partitions SET created = ?, seq = ?, digest = ? WHERE partition = ? AND epoch = ?`

	findCaptureSQL = `SELECT ` + tables.CaptureColumns + ` FROM captures c WHERE c.key = ?`
	makeCaptureSQL = `INSERT INTO captures (key) VALUES (?) RETURNING id`
	// Values are numbered as tables.CaptureValues gives them: the key, ?2, never changes.
	saveCaptureSQL = `UPDATE captures SET partition = ?3, last_frame = ?4, last_part = ?5, chain = ?6, translator = ?7,
status = ?8, open = ?9, accounted = ?10, last_counted = ?11, shared = ?12, parked_reason = ?13, parked_session = ?14, parked_ordinal = ?15,
parked_have = ?16, parked_got = ?17, parked_seq = ?18, parked_at = ?19 WHERE id = ?1 AND key = ?2`

	findTranscriptSQL = `SELECT ` + tables.TranscriptColumns + ` FROM transcripts t WHERE t.capture = ? AND t.session = ?`
	makeTranscriptSQL = `INSERT INTO transcripts (capture, session) VALUES (?, ?) RETURNING id`
	// Values are numbered as tables.TranscriptValues gives them: the session, ?2, never changes.
	saveTranscriptSQL = `UPDATE transcripts SET head = ?3, frames = ?4, messages = ?5, agent = ?6,
title = ?7, cwd = ?8, labels = ?9, status = ?10, prompt = ?11, protocol = ?12, dialect = ?13, session_id = ?14, stop = ?15,
first_at = ?16, last_at = ?17, added_at = ?18 WHERE id = ?1 AND session = ?2`

	findEventSQL = `SELECT event FROM events WHERE transcript = ? AND store_seq = ?`
	putEventSQL  = `INSERT INTO events (transcript, store_seq, event) VALUES (?, ?, ?)`

	droppedSQL = `SELECT ` + tables.DroppedColumns + ` FROM dropped d WHERE d.transcript = ? AND d.last >= ? AND d.first <= ? ORDER BY d.last LIMIT 1`

	overSQL   = `UPDATE partitions SET epoch = epoch + 1, created = '', seq = 0, digest = '' WHERE partition = ? AND epoch = ?`
	unparkSQL = `UPDATE captures SET parked_reason = '', parked_session = 0, parked_ordinal = 0, parked_have = NULL, parked_got = NULL,
parked_seq = 0, parked_at = '' WHERE key = ? AND parked_reason <> ''`
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
		{&w.over, overSQL}, {&w.unpark, unparkSQL}, {&w.dropped, droppedSQL},
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
