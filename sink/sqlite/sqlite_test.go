package sqlite_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink/ledgertest"
	"github.com/steno-io/steno/sink/sqlite"
)

// files gives each test's named stores a file.
type files map[string]string

func (f files) path(t testing.TB, name string) string {
	key := t.Name() + " " + name
	if f[key] == "" {
		f[key] = filepath.Join(t.TempDir(), name+".db")
	}
	return f[key]
}

func (f files) open(t testing.TB, name string) ledgertest.Ledger {
	l, err := sqlite.Open(f.path(t, name), sqlite.Options{})
	require.NoError(t, err)
	return l
}

func TestLedger(t *testing.T) { ledgertest.Run(t, files{}.open) }

func TestRun(t *testing.T) {
	f := files{}
	ledgertest.RunSink(t, f.open, func(t testing.TB, name string) {
		db, err := sql.Open("sqlite", "file:"+f.path(t, name))
		require.NoError(t, err)
		defer db.Close() //nolint:errcheck // the trigger is made
		_, err = db.Exec(`CREATE TRIGGER refuse BEFORE INSERT ON events WHEN instr(NEW.event, CAST('poison' AS BLOB)) > 0
BEGIN SELECT RAISE(ABORT, 'not this one'); END`)
		require.NoError(t, err)
	})
}

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}
