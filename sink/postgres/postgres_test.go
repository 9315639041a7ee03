package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/ledgertest"
	"github.com/steno-io/steno/sink/postgres"
	"github.com/steno-io/steno/sink/postgres/pgtest"
)

// databases gives each test's named stores a database.
type databases map[string]string

func (d databases) url(t testing.TB, name string) string {
	key := t.Name() + " " + name
	if d[key] == "" {
		d[key] = pgtest.Database(t)
	}
	return d[key]
}

func (d databases) open(t testing.TB, name string) ledgertest.Ledger { return open(t, d.url(t, name)) }

func open(t testing.TB, url string) *postgres.Ledger {
	t.Helper()
	l, err := postgres.Open(within(t), url, postgres.Options{})
	require.NoError(t, err)
	return l
}

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// execute runs statements beside the ledger.
func execute(t testing.TB, url, statements string) {
	t.Helper()
	conn, err := pgx.Connect(within(t), url)
	require.NoError(t, err)
	_, err = conn.Exec(within(t), statements)
	require.NoError(t, err)
	require.NoError(t, conn.Close(within(t)))
}

func TestLedger(t *testing.T) { ledgertest.Run(t, databases{}.open) }

func TestSearch(t *testing.T) {
	d := databases{}
	ledgertest.RunSearch(t, d.open, func(t testing.TB, name string) {
		execute(t, d.url(t, name), `ALTER TABLE steno.words ADD CONSTRAINT refuse CHECK (store_seq <> 2)`)
	})
}

// TestWordsAreMadeAgainWithWhatWasDropped reads that in the archive.
func TestWordsAreMadeAgainWithWhatWasDropped(t *testing.T) {
	d := databases{}
	ledgertest.RunRemade(t, func(t testing.TB, name string, sealed sink.Sealed) ledgertest.Ledger {
		l, err := postgres.Open(within(t), d.url(t, name), postgres.Options{Sealed: sealed})
		require.NoError(t, err)
		return l
	}, func(t testing.TB, name string) { execute(t, d.url(t, name), `DELETE FROM steno.index_version`) })
}

func TestRun(t *testing.T) {
	d := databases{}
	ledgertest.RunSink(t, d.open, func(t testing.TB, name string) {
		execute(t, d.url(t, name), `CREATE FUNCTION steno.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE data_exception USING MESSAGE = 'not this one'; END $$;
CREATE TRIGGER refuse BEFORE INSERT ON steno.events FOR EACH ROW WHEN (position('poison'::bytea IN NEW.event) > 0)
EXECUTE FUNCTION steno.refuse()`)
	})
}
