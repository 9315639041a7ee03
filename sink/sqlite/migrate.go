package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"

	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/tables"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate runs the migrations that the file has not seen yet (its user_version says how many it has), in
// one transaction, so that it is done once even when
// two writers open a new file together.
func migrate(ctx context.Context, db *sql.DB) error {
	steps, err := tables.Steps(migrations, "migrations")
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
		return fmt.Errorf("tables have version %d, this build knows %d: %w", version, len(steps), sink.ErrVersion)
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
	steps, err := tables.Steps(migrations, "migrations")
	if err != nil {
		return err
	}
	var version int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version != len(steps) {
		return fmt.Errorf("tables have version %d, this build reads %d: %w", version, len(steps), sink.ErrVersion)
	}
	return nil
}
