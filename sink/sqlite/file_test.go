package sqlite_test

import (
	"context"
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/ledgertest"
	"github.com/steno-io/steno/sink/sqlite"
)

func TestFileIsTheOwnersAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b", "100%?#", "ledger")
	path := filepath.Join(dir, "led ger.db")
	l, err := sqlite.Open(path, sqlite.Options{})
	require.NoError(t, err)
	storeOne(t, l, "one")
	defer func() { require.NoError(t, l.Close()) }()
	files := 0
	require.NoError(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		} else {
			files++
		}
		require.Equal(t, want, info.Mode().Perm(), name)
		return nil
	}))
	require.Equal(t, 3, files, "the ledger, its WAL and the WAL's index")
}

func storeOne(t *testing.T, l *sqlite.Ledger, run string) schema.Transcript {
	t.Helper()
	claim, err := l.Claim(context.Background(), 0)
	require.NoError(t, err)
	s := ledgertest.NewScript(run)
	s.Next(0, ledgertest.Raw("x"))
	_, err = l.Store(context.Background(), sink.Batch{Claim: claim, Entries: []sink.Entry{s.Entry(1, s.Record())}})
	require.NoError(t, err)
	return s.Transcript(0)
}

func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	_, err := sqlite.Open(path, sqlite.Options{ReadOnly: true})
	require.ErrorIs(t, err, fs.ErrNotExist)
	w, err := sqlite.Open(path, sqlite.Options{})
	require.NoError(t, err)
	key := storeOne(t, w, "one")

	read := func() *sqlite.Ledger {
		r, err := sqlite.Open(path, sqlite.Options{ReadOnly: true})
		require.NoError(t, err)
		sum, err := r.Transcript(context.Background(), key)
		require.NoError(t, err)
		require.Equal(t, uint64(1), sum.Head)
		return r
	}
	beside := read()
	other := storeOne(t, w, "two")
	_, err = beside.Transcript(context.Background(), other)
	require.NoError(t, err, "a reader sees what is stored while it is open")
	_, err = beside.Claim(context.Background(), 0)
	require.ErrorContains(t, err, "read-only")
	_, err = beside.Store(context.Background(), sink.Batch{})
	require.ErrorContains(t, err, "read-only")
	require.NoError(t, beside.Close())

	require.NoError(t, w.Close())
	require.NoError(t, read().Close(), "no writer is needed")
}

func TestOpenRefusesAnotherVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	_, err := sqlite.Open(path, sqlite.Options{ReadOnly: true})
	require.ErrorIs(t, err, sink.ErrVersion, "a reader makes no tables")

	db, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	_, err = db.Exec("PRAGMA user_version = 99")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	_, err = sqlite.Open(path, sqlite.Options{})
	require.ErrorIs(t, err, sink.ErrVersion)
	require.ErrorContains(t, err, path)

	require.NoError(t, os.WriteFile(path, []byte("this is not a database, and long enough to be looked at as one"), 0o600))
	_, err = sqlite.Open(path, sqlite.Options{})
	require.Error(t, err)
}
