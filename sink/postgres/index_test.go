package postgres_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/ledgertest"
	"github.com/steno-io/steno/sink/postgres"
	"github.com/steno-io/steno/sink/postgres/pgtest"
)

func say(t *testing.T, l sink.Ledger, s *ledgertest.Script, text string) {
	t.Helper()
	claim, err := l.Claim(within(t), 0)
	require.NoError(t, err)
	s.Next(1, ledgertest.Prompt(text))
	_, err = l.Store(within(t), sink.Batch{Claim: claim, Entries: []sink.Entry{s.Entry(1, s.Record())}})
	require.NoError(t, err)
}

func index(t *testing.T, l sink.Index) {
	t.Helper()
	for n := 1; n > 0; {
		var err error
		n, err = l.Index(within(t))
		require.NoError(t, err)
	}
}

func count(t *testing.T, l sink.Searcher, text string) int {
	t.Helper()
	page, err := l.Search(within(t), sink.SearchQuery{Text: text})
	require.NoError(t, err)
	return len(page.Hits)
}

// TestALedgerOfVersion1IsIndexed takes away what the second migration makes.
func TestALedgerOfVersion1IsIndexed(t *testing.T) {
	url := pgtest.Database(t)
	l := open(t, url)
	s := ledgertest.NewScript("one")
	say(t, l, s, "old words")
	require.NoError(t, l.Close())
	execute(t, url, `DROP TABLE steno.indexed, steno.words, steno.unindexed; UPDATE steno.version SET version = 1`)
	_, err := postgres.Open(within(t), url, postgres.Options{ReadOnly: true})
	require.ErrorIs(t, err, sink.ErrVersion)
	require.ErrorContains(t, err, "a sink of this build brings them up to date")
	l = open(t, url)
	defer l.Close() //nolint:errcheck // it always works
	now, err := l.Indexing(within(t))
	require.NoError(t, err)
	require.Equal(t, sink.Indexing{Behind: 1}, now)
	index(t, l)
	require.Equal(t, 1, count(t, l, "old"))
	say(t, l, s, "new words")
	index(t, l)
	require.Equal(t, 2, count(t, l, "words"))
	execute(t, url, `TRUNCATE steno.indexed, steno.words, steno.unindexed`)
	index(t, l)
	require.Equal(t, 2, count(t, l, "words"), "it can be made again")
}

// TestIndexPassesOverWhatAnotherIndexes holds a transcript's row as a sink in the middle of its work does.
func TestIndexPassesOverWhatAnotherIndexes(t *testing.T) {
	url := pgtest.Database(t)
	l := open(t, url)
	defer l.Close() //nolint:errcheck // it always works
	say(t, l, ledgertest.NewScript("one"), "words")
	index(t, l)
	held, err := pgx.Connect(within(t), url)
	require.NoError(t, err)
	defer held.Close(within(t)) //nolint:errcheck // the test is over
	tx, err := held.Begin(within(t))
	require.NoError(t, err)
	_, err = tx.Exec(within(t), `SELECT FROM steno.indexed FOR UPDATE`)
	require.NoError(t, err)
	one := ledgertest.NewScript("one")
	one.Next(1, ledgertest.Prompt("words"))
	one.Record()
	say(t, l, one, "later words")
	say(t, l, ledgertest.NewScript("two"), "other words")
	index(t, l)
	require.Equal(t, 2, count(t, l, "words"), "it waits for nobody")
	require.NoError(t, tx.Rollback(within(t)))
	index(t, l)
	require.Equal(t, 3, count(t, l, "words"))
}
