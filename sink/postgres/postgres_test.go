package postgres_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink/ledgertest"
	"github.com/steno-io/steno/sink/postgres"
	"github.com/steno-io/steno/sink/postgres/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// opened gives each test's named stores a database.
func opened() ledgertest.Open {
	urls := map[string]string{}
	return func(t testing.TB, name string) ledgertest.Ledger {
		key := t.Name() + " " + name
		if urls[key] == "" {
			urls[key] = pgtest.Database(t)
		}
		return open(t, urls[key])
	}
}

func open(t testing.TB, url string) *postgres.Ledger {
	t.Helper()
	l, err := postgres.Open(context.Background(), url, postgres.Options{})
	require.NoError(t, err)
	return l
}

func TestLedger(t *testing.T) { ledgertest.Run(t, opened()) }
