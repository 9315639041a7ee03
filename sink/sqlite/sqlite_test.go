package sqlite_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink"
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

func TestSearch(t *testing.T) {
	f := files{}
	ledgertest.RunSearch(t, f.open, func(t testing.TB, name string) {
		execute(t, strings.TrimSuffix(f.path(t, name), ".db")+"-search.db",
			`CREATE TRIGGER refuse BEFORE INSERT ON places WHEN NEW.seq = 2 BEGIN SELECT RAISE(ABORT, 'not this one'); END`)
	})
}

// TestAnIndexIsMadeAgainWithWhatWasDropped reads that in the archive.
func TestAnIndexIsMadeAgainWithWhatWasDropped(t *testing.T) {
	f := files{}
	ledgertest.RunRemade(t, func(t testing.TB, name string, sealed sink.Sealed) ledgertest.Ledger {
		l, err := sqlite.Open(f.path(t, name), sqlite.Options{Sealed: sealed})
		require.NoError(t, err)
		return l
	}, func(t testing.TB, name string) { require.NoError(t, os.Remove(indexOf(f.path(t, name)))) })
}

func execute(t testing.TB, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	defer db.Close() //nolint:errcheck // the statement is done
	_, err = db.Exec(statement)
	require.NoError(t, err)
}

func TestRun(t *testing.T) {
	f := files{}
	ledgertest.RunSink(t, f.open, func(t testing.TB, name string) {
		execute(t, f.path(t, name), `CREATE TRIGGER refuse BEFORE INSERT ON events WHEN instr(NEW.event, CAST('poison' AS BLOB)) > 0
BEGIN SELECT RAISE(ABORT, 'not this one'); END`)
	})
}

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}
