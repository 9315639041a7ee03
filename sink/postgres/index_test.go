package postgres_test

import (
	"context"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
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

// TestALedgerOfVersion1IsIndexed takes away what the later migrations make.
func TestALedgerOfVersion1IsIndexed(t *testing.T) {
	url := pgtest.Database(t)
	l := open(t, url)
	s := ledgertest.NewScript("one")
	say(t, l, s, "old words")
	require.NoError(t, l.Close())
	execute(t, url, `DROP TABLE steno.indexed, steno.words, steno.unindexed, steno.unread, steno.index_version, steno.dropped; ALTER TABLE steno.sinks DROP COLUMN instance;
	ALTER TABLE steno.transcripts DROP COLUMN dropped;
	UPDATE steno.version SET version = 1`)
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
	execute(t, url, `TRUNCATE steno.index_version`)
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

// TestAnEventThatFailsAlwaysIsPassedOver: it holds up its own transcript for some tries, and no other.
func TestAnEventThatFailsAlwaysIsPassedOver(t *testing.T) {
	url := pgtest.Database(t)
	l := open(t, url)
	defer l.Close() //nolint:errcheck // it always works
	one := ledgertest.NewScript("one")
	for _, text := range []string{"words before", "bad words", "words behind"} {
		one.Next(1, ledgertest.Prompt(text))
	}
	claim, err := l.Claim(within(t), 0)
	require.NoError(t, err)
	_, err = l.Store(within(t), sink.Batch{Claim: claim, Entries: []sink.Entry{one.Entry(1, one.Record())}})
	require.NoError(t, err)
	say(t, l, ledgertest.NewScript("two"), "other words")
	execute(t, url, `CREATE FUNCTION steno.fail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE 'the words are too many' USING ERRCODE = 'XX000'; END $$;
CREATE TRIGGER fail BEFORE INSERT ON steno.words FOR EACH ROW WHEN (NEW.line @@ 'bad'::tsquery) EXECUTE FUNCTION steno.fail()`)
	_, err = l.Index(within(t))
	require.ErrorContains(t, err, "too many")
	_, err = l.Index(within(t))
	require.ErrorContains(t, err, "event 2 of transcript")
	require.Equal(t, 1, count(t, l, "before"))
	require.Equal(t, 1, count(t, l, "other"))
	require.Zero(t, count(t, l, "behind"))
	for range 3 {
		_, err = l.Index(within(t))
		require.ErrorContains(t, err, "too many")
	}
	index(t, l)
	require.Equal(t, 3, count(t, l, "words"))
	now, err := l.Indexing(within(t))
	require.NoError(t, err)
	require.Equal(t, sink.Indexing{Failed: 1}, now)
}

// TestWhatAnEventThatIsRefusedSaidIsFound in the event behind it, which says the same.
func TestWhatAnEventThatIsRefusedSaidIsFound(t *testing.T) {
	url := pgtest.Database(t)
	l := open(t, url)
	defer l.Close() //nolint:errcheck // it always works
	execute(t, url, `ALTER TABLE steno.words ADD CONSTRAINT refuse CHECK (store_seq <> 1)`)
	s := ledgertest.NewScript("one")
	for range 2 {
		s.Next(1, &schema.ToolState{ToolID: "c", Name: "mill", Title: "Grind", State: schema.ToolPhase{Phase: schema.Executing}})
	}
	claim, err := l.Claim(within(t), 0)
	require.NoError(t, err)
	_, err = l.Store(within(t), sink.Batch{Claim: claim, Entries: []sink.Entry{s.Entry(1, s.Record())}})
	require.NoError(t, err)
	index(t, l)
	page, err := l.Search(within(t), sink.SearchQuery{Text: "mill grind"})
	require.NoError(t, err)
	require.Len(t, page.Hits, 1)
	require.Equal(t, uint64(2), page.Hits[0].Seq)
	require.Equal(t, sink.Indexing{Failed: 1}, page.Indexing)
}

// TestIndexingEndsWithItsContext, and goes on with the next one.
func TestIndexingEndsWithItsContext(t *testing.T) {
	l := open(t, pgtest.Database(t))
	defer l.Close() //nolint:errcheck // it always works
	say(t, l, ledgertest.NewScript("one"), "words")
	ctx, cancel := context.WithCancel(within(t))
	cancel()
	_, err := l.Index(ctx)
	require.ErrorIs(t, err, context.Canceled)
	index(t, l)
	require.Equal(t, 1, count(t, l, "words"))
}

// TestARoleWithoutTheIndexIsToldWhatItLacks, as one is whose grant is older than the index.
func TestARoleWithoutTheIndexIsToldWhatItLacks(t *testing.T) {
	url := pgtest.Database(t)
	l := open(t, url)
	require.NoError(t, l.Close())
	config, err := pgx.ParseConfig(url)
	require.NoError(t, err)
	role := "reads_" + config.Database
	execute(t, url, `CREATE ROLE `+role+`; GRANT USAGE ON SCHEMA steno TO `+role+`; GRANT SELECT ON ALL TABLES IN SCHEMA steno TO `+role+`;
REVOKE ALL ON steno.indexed, steno.words, steno.unindexed FROM `+role+`; ALTER DATABASE `+config.Database+` SET role TO `+role)
	t.Cleanup(func() {
		execute(t, url, `SET ROLE NONE; ALTER DATABASE `+config.Database+` RESET role; DROP OWNED BY `+role+`; DROP ROLE `+role)
	})
	r, err := postgres.Open(within(t), url, postgres.Options{ReadOnly: true})
	require.NoError(t, err)
	defer r.Close() //nolint:errcheck // it always works
	const lacks = "GRANT SELECT ON ALL TABLES IN SCHEMA steno"
	_, err = r.Stats(within(t))
	require.ErrorContains(t, err, lacks)
	_, err = r.Indexing(within(t))
	require.ErrorContains(t, err, lacks)
	_, err = r.Search(within(t), sink.SearchQuery{Text: "words"})
	require.ErrorContains(t, err, lacks)
}

// lock locks tables against everybody until the returned function is called.
func lock(t *testing.T, url, names string) (release func()) {
	t.Helper()
	conn, err := pgx.Connect(within(t), url)
	require.NoError(t, err)
	_, err = conn.Exec(within(t), `BEGIN; LOCK TABLE `+names+` IN ACCESS EXCLUSIVE MODE`)
	require.NoError(t, err)
	return sync.OnceFunc(func() { require.NoError(t, conn.Close(within(t))) })
}

// TestStoringNeedsNoIndex: words are made and written outside the transaction that stores.
func TestStoringNeedsNoIndex(t *testing.T) {
	url := pgtest.Database(t)
	l := open(t, url)
	defer l.Close() //nolint:errcheck // it always works
	s := ledgertest.NewScript("one")
	say(t, l, s, "words")
	index(t, l)
	release := lock(t, url, `steno.words, steno.indexed, steno.unindexed`)
	defer release()
	say(t, l, s, "later words")
	release()
	index(t, l)
	require.Equal(t, 2, count(t, l, "words"))
}

// TestWhatIsBehindIsFoundWithoutLookingAtAll transcripts, and counted without.
func TestWhatIsBehindIsFoundWithoutLookingAtAll(t *testing.T) {
	url := pgtest.Database(t)
	l := open(t, url)
	defer l.Close() //nolint:errcheck // it always works
	one, two := ledgertest.NewScript("one"), ledgertest.NewScript("two")
	say(t, l, one, "words")
	index(t, l)
	say(t, l, one, "later words")
	say(t, l, one, "last words")
	say(t, l, two, "other words")
	release := lock(t, url, `steno.transcripts, steno.captures`)
	defer release()
	now, err := l.Indexing(within(t))
	require.NoError(t, err)
	require.Equal(t, sink.Indexing{Behind: 3}, now)
	index(t, l)
	now, err = l.Indexing(within(t))
	require.NoError(t, err)
	require.Zero(t, now)
	release()
	require.Equal(t, 4, count(t, l, "words"))
}

// TestWordsOfAnotherVersion: those of an older build are made anew, those of a newer one are left to it; until
// then nothing is found, and that is said.
func TestWordsOfAnotherVersion(t *testing.T) {
	url := pgtest.Database(t)
	l := open(t, url)
	s := ledgertest.NewScript("one")
	say(t, l, s, "words")
	say(t, l, s, "more words")
	index(t, l)
	require.Equal(t, 2, count(t, l, "words"))
	unfit := func() {
		page, err := l.Search(within(t), sink.SearchQuery{Text: "words"})
		require.NoError(t, err)
		require.Empty(t, page.Hits)
		require.Equal(t, sink.Indexing{Behind: 2}, page.Indexing)
		now, err := l.Indexing(within(t))
		require.NoError(t, err)
		require.Equal(t, page.Indexing, now)
		listed, err := l.Transcripts(within(t), sink.Query{Text: "words"})
		require.NoError(t, err)
		require.Empty(t, listed.Transcripts)
	}
	execute(t, url, `UPDATE steno.index_version SET version = 99`)
	unfit()
	index(t, l) // while it is open
	unfit()
	require.NoError(t, l.Close())
	l = open(t, url)
	index(t, l)
	unfit()
	execute(t, url, `UPDATE steno.index_version SET version = 0`)
	unfit()
	index(t, l)
	require.Equal(t, 2, count(t, l, "words"), "while it is open")
	require.NoError(t, l.Close())
	execute(t, url, `UPDATE steno.index_version SET version = 0`)
	l = open(t, url)
	defer l.Close() //nolint:errcheck // it always works
	index(t, l)
	require.Equal(t, 2, count(t, l, "words"))
	now, err := l.Indexing(within(t))
	require.NoError(t, err)
	require.Zero(t, now)
}
