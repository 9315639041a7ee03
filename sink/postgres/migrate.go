package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/tables"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrationLock is the advisory lock under which tables are made: processes may start at once.
const migrationLock = 0x7374656e6f // "steno"

// migrate runs the migrations that the database has not seen yet, in one transaction.
func migrate(ctx context.Context, db *pgxpool.Pool) error {
	steps, err := tables.Steps(migrations, "migrations")
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, migrationLock); err != nil {
			return err
		}
		version, err := version(ctx, tx)
		if err != nil {
			return err
		}
		if version > len(steps) {
			return fmt.Errorf("tables have version %d, this build knows %d: %w", version, len(steps), sink.ErrVersion)
		}
		if version == 0 {
			if _, err := tx.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS steno; CREATE TABLE IF NOT EXISTS steno.version (version bigint NOT NULL)`); err != nil {
				return err
			}
		}
		for i, step := range steps[version:] {
			if _, err := tx.Exec(ctx, step); err != nil { // without arguments a step may be many statements
				return fmt.Errorf("migrate to version %d: %w", version+i+1, err)
			}
		}
		if version == len(steps) {
			return nil
		}
		if _, err := tx.Exec(ctx, `DELETE FROM steno.version`); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO steno.version VALUES ($1)`, len(steps))
		return err
	})
}

// querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// version is how many migrations the database has seen. It looks for the table first, since a
// statement that fails ends its transaction.
func version(ctx context.Context, db querier) (int, error) {
	var there bool
	if err := db.QueryRow(ctx, `SELECT to_regclass('steno.version') IS NOT NULL`).Scan(&there); err != nil || !there {
		return 0, err
	}
	var version int
	err := db.QueryRow(ctx, `SELECT coalesce(max(version), 0) FROM steno.version`).Scan(&version)
	return version, err
}

func checkVersion(ctx context.Context, db *pgxpool.Pool) error {
	steps, err := tables.Steps(migrations, "migrations")
	if err != nil {
		return err
	}
	version, err := version(ctx, db)
	if err != nil {
		return err
	}
	return readable(version, len(steps))
}

// readable says what to do about tables that this build does not read.
func readable(version, known int) error {
	switch {
	case version == known:
		return nil
	case version == 0:
		return fmt.Errorf("no tables of steno are there; a sink makes them (start steno worker sink): %w", sink.ErrVersion)
	case version < known:
		return fmt.Errorf("tables have version %d, this build reads %d; a sink of this build brings them up to date (start steno worker sink): %w",
			version, known, sink.ErrVersion)
	}
	return fmt.Errorf("tables have version %d, this build reads %d; a newer steno made them: %w", version, known, sink.ErrVersion)
}

// unreachable marks the errors that say that there is no server to ask, now: a connection that cannot
// be made or was lost, and what a server says that starts or shuts down.
func unreachable(err error) error {
	var answer *pgconn.PgError
	var network net.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &answer):
		if class := answer.Code[:min(2, len(answer.Code))]; class != "08" && class != "57" || answer.Code == pgQueryCanceled {
			return err
		}
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		// A connection that the driver closed when something else failed on it; not safe to retry for the
		// driver, which does not know whether the question was sent.
		errors.Is(err, pgconn.ErrConnClosed), pgconn.SafeToRetry(err):
	default:
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, err)
}

// pgQueryCanceled is of the class of interventions, and only of the statement.
const pgQueryCanceled = "57014"

// refused marks the errors that the same content will meet again: what PostgreSQL says of data, of
// constraints and of its own limits. Everything else (a lost connection, a deadlock, a full disk, a
// server that shuts down) may be gone at the next try.
func refused(err error) error {
	var e *pgconn.PgError
	if errors.As(err, &e) && len(e.Code) == 5 {
		switch e.Code[:2] {
		case "22", "23", "54":
			return fmt.Errorf("%w: %w", sink.ErrRefused, err)
		}
	}
	return err
}
