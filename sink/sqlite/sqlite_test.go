package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink/ledgertest"
	"github.com/steno-io/steno/sink/sqlite"
)

func TestLedger(t *testing.T) {
	dirs := map[string]string{}
	ledgertest.Run(t, func(t testing.TB, name string) ledgertest.Ledger {
		dir, ok := dirs[t.Name()]
		if !ok {
			dir = t.TempDir()
			dirs[t.Name()] = dir
		}
		l, err := sqlite.Open(filepath.Join(dir, name+".db"), sqlite.Options{})
		require.NoError(t, err)
		return l
	})
}
