package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
)

//go:embed migrations/*.sql
var migrations embed.FS

// ErrVersion: the file's tables are not those of this build.
var ErrVersion = errors.New("ledger of another version")

// steps gives the migrations in order; after the n-th the file's user_version is n.
func steps() ([]string, error) {
	entries, err := fs.ReadDir(migrations, "migrations") // sorted by name
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		text, err := fs.ReadFile(migrations, "migrations/"+e.Name())
		if err != nil {
			return nil, err
		}
		out = append(out, string(text))
	}
	return out, nil
}

// migrate runs what the file has not seen yet, in one transaction, so that it is done once even when
// two writers open a new file together.
func migrate(ctx context.Context, db *sql.DB) error {
	steps, err := steps()
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	var version int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version > len(steps) {
		return fmt.Errorf("tables have version %d, this build knows %d: %w", version, len(steps), ErrVersion)
	}
	for i, step := range steps[version:] {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return fmt.Errorf("migrate to version %d: %w", version+i+1, err)
		}
	}
	if version < len(steps) {
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(steps))); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func checkVersion(ctx context.Context, db *sql.DB) error {
	steps, err := steps()
	if err != nil {
		return err
	}
	var version int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version != len(steps) {
		return fmt.Errorf("tables have version %d, this build reads %d: %w", version, len(steps), ErrVersion)
	}
	return nil
}
