package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/ledgertest"
	"github.com/steno-io/steno/sink/sqlite"
)

func indexOf(ledger string) string { return strings.TrimSuffix(ledger, ".db") + "-search.db" }

// say stores a record of one message.
func say(t *testing.T, l *sqlite.Ledger, s *ledgertest.Script, seq uint64, text string) {
	t.Helper()
	claim, err := l.Claim(within(t), 0)
	require.NoError(t, err)
	s.Next(1, ledgertest.Prompt(text))
	_, err = l.Store(within(t), sink.Batch{Claim: claim, Entries: []sink.Entry{s.Entry(seq, s.Record())}})
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
	page, err := l.Search(within(t), sink.SearchQuery{Text: text, Limit: sink.MaxHits})
	require.NoError(t, err)
	return len(page.Hits)
}

func openLedger(t *testing.T, path string, o sqlite.Options) *sqlite.Ledger {
	t.Helper()
	l, err := sqlite.Open(path, o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() }) // may be closed by then
	return l
}

// TestIndexIsMadeAgain: of a ledger that an older build made, with words of another build, of a ledger that
// was put back from a copy, and where the file is damaged.
func TestIndexIsMadeAgain(t *testing.T) {
	path := files{}.path(t, "ledger")
	s := ledgertest.NewScript("one")
	l := openLedger(t, path, sqlite.Options{})
	say(t, l, s, 1, "first words")
	index(t, l)
	require.NoError(t, l.Close())
	old, err := os.ReadFile(path)
	require.NoError(t, err)

	for name, spoil := range map[string]func(){
		"gone":            func() { require.NoError(t, os.Remove(indexOf(path))) },
		"another version": func() { execute(t, indexOf(path), `PRAGMA user_version = 99`) },
		"no tables":       func() { require.NoError(t, os.WriteFile(indexOf(path), nil, 0o600)) },
	} {
		spoil()
		r := openLedger(t, path, sqlite.Options{ReadOnly: true})
		now, err := r.Indexing(within(t))
		require.NoError(t, err, name)
		require.Equal(t, sink.Indexing{Behind: 1}, now, name)
		require.Zero(t, count(t, r, "words"), name)
		require.NoError(t, r.Close())
		l := openLedger(t, path, sqlite.Options{})
		index(t, l)
		require.Equal(t, 1, count(t, l, "words"), name)
		require.NoError(t, l.Close())
	}

	l = openLedger(t, path, sqlite.Options{})
	say(t, l, s, 2, "later words")
	index(t, l)
	require.Equal(t, 2, count(t, l, "words"))
	require.NoError(t, l.Close())
	require.NoError(t, os.WriteFile(path, old, 0o600)) // as it was before the later words
	l = openLedger(t, path, sqlite.Options{})
	other := ledgertest.NewScript("other")
	say(t, l, other, 2, "different words")
	index(t, l)
	require.Equal(t, 1, count(t, l, "different"))
	require.Equal(t, 2, count(t, l, "words"))
	require.Zero(t, count(t, l, "later"))
	require.NoError(t, l.Close())

	text, err := os.ReadFile(indexOf(path))
	require.NoError(t, err)
	for i := 100; i < len(text); i++ {
		text[i] = 0xa5
	}
	require.NoError(t, os.WriteFile(indexOf(path), text, 0o600))
	l = openLedger(t, path, sqlite.Options{})
	_, err = l.Index(within(t))
	require.Error(t, err, "it is said")
	say(t, l, other, 3, "the ledger does not need it")
	index(t, l)
	require.Equal(t, 2, count(t, l, "words"))
}

// TestAnIndexOfAnotherLedgerIsMadeAgain: a ledger is lost and made anew beside its old index, with the same events in
// another order and the same one last.
func TestAnIndexOfAnotherLedgerIsMadeAgain(t *testing.T) {
	path := files{}.path(t, "ledger")
	store := func(l *sqlite.Ledger, texts ...string) {
		for i, text := range texts {
			say(t, l, ledgertest.NewScript(text), uint64(i)+1, text)
		}
	}
	l := openLedger(t, path, sqlite.Options{})
	store(l, "millet", "oats", "rye")
	index(t, l)
	require.NoError(t, l.Close())
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + end); end == "" {
			require.NoError(t, err)
		}
	}
	l = openLedger(t, path, sqlite.Options{})
	store(l, "oats", "millet", "rye")
	require.Zero(t, count(t, l, "millet"), "nothing is indexed yet")
	now, err := l.Indexing(within(t))
	require.NoError(t, err)
	require.Equal(t, sink.Indexing{Behind: 3}, now)
	index(t, l)
	for _, text := range []string{"millet", "oats", "rye"} {
		page, err := l.Search(within(t), sink.SearchQuery{Text: text, Limit: sink.MaxHits})
		require.NoError(t, err)
		require.Len(t, page.Hits, 1)
		require.Equal(t, text, page.Hits[0].Snippet)
	}
}

func TestIndexBesideReaders(t *testing.T) {
	path := files{}.path(t, "ledger")
	w := openLedger(t, path, sqlite.Options{})
	say(t, w, ledgertest.NewScript("one"), 1, "words")
	r := openLedger(t, path, sqlite.Options{ReadOnly: true})
	require.Zero(t, count(t, r, "words"))
	index(t, w)
	require.Equal(t, 1, count(t, r, "words"), "a reader sees what is indexed while it is open")
	say(t, w, ledgertest.NewScript("two"), 2, "words")
	index(t, w)
	require.Equal(t, 2, count(t, r, "words"))
	_, err := r.Index(within(t))
	require.ErrorContains(t, err, "read-only")
	require.NoError(t, w.Close())
	require.Equal(t, 2, count(t, r, "words"), "no writer is needed")
	info, err := os.Stat(indexOf(path))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// sinkIndexes makes the test binary's sink fill its index.
const sinkIndexes = "STENO_TEST_SINK_INDEXES"

// TestIndexKilledAtRandomPoints kills a sink's process again and again while it stores and indexes.
func TestIndexKilledAtRandomPoints(t *testing.T) {
	f := files{}
	s := ledgertest.NewStage(t, 1, f.open)
	require.NoError(t, s.Ledger.Close())
	script, said := s.Scripts[0], 0
	for range 8 {
		for range 40 {
			script.Next(1, ledgertest.Prompt(fmt.Sprintf("count%d", said)))
			said++
			s.PublishRecord(script, script.Record())
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), sinkURL+"="+s.URL(), sinkLedger+"="+f.path(t, "ledger"), sinkIndexes+"=1")
		cmd.Stderr = io.Discard
		require.NoError(t, cmd.Start())
		time.Sleep(time.Duration(20+rand.IntN(150)) * time.Millisecond)
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait())
	}
	s.Ledger = s.Open()
	k, stop := s.Run(sink.Options{Index: s.Ledger})
	s.Wait(k)
	s.WaitIndexed(t)
	require.NoError(t, stop())
	for i := range said {
		require.Equal(t, 1, count(t, s.Ledger, fmt.Sprintf("count%d", i)), "count%d", i)
	}
}

// TestIndexDoesNotWaitForReaders: one that takes its time holds up neither the ledger nor the index.
func TestIndexDoesNotWaitForReaders(t *testing.T) {
	path := files{}.path(t, "ledger")
	w := openLedger(t, path, sqlite.Options{})
	s := ledgertest.NewScript("one")
	say(t, w, s, 1, "words")
	index(t, w)
	db, err := sql.Open("sqlite", "file:"+indexOf(path)+"?mode=ro")
	require.NoError(t, err)
	defer db.Close() //nolint:errcheck // the test is over
	tx, err := db.BeginTx(context.Background(), nil)
	require.NoError(t, err)
	defer tx.Rollback() //nolint:errcheck // it only read
	var n int
	require.NoError(t, tx.QueryRow(`SELECT count(*) FROM places`).Scan(&n))
	say(t, w, s, 2, "words")
	index(t, w)
	require.Equal(t, 2, count(t, w, "words"))
}

// TestDamageThatASearchMeetsIsMended, and what is open does not keep the file that was taken away.
func TestDamageThatASearchMeetsIsMended(t *testing.T) {
	path := files{}.path(t, "ledger")
	w := openLedger(t, path, sqlite.Options{})
	s := ledgertest.NewScript("one")
	say(t, w, s, 1, "words")
	index(t, w)
	open := openLedger(t, path, sqlite.Options{ReadOnly: true})
	require.Equal(t, 1, count(t, open, "words"))
	for name, spoil := range map[string]func(){
		"bytes": func() {
			require.NoError(t, w.Close())
			text, err := os.ReadFile(indexOf(path))
			require.NoError(t, err)
			for i := 100; i < len(text); i++ {
				text[i] = 0xa5
			}
			require.NoError(t, os.Remove(indexOf(path)))
			require.NoError(t, os.WriteFile(indexOf(path), text, 0o600))
			for _, end := range []string{"-wal", "-shm"} {
				_ = os.Remove(indexOf(path) + end) // the last one to close it may have
			}
			w = openLedger(t, path, sqlite.Options{})
		},
		"table": func() { execute(t, indexOf(path), `DROP TABLE places`) },
	} {
		spoil()
		r := openLedger(t, path, sqlite.Options{ReadOnly: true})
		_, err := r.Search(within(t), sink.SearchQuery{Text: "words"})
		require.ErrorContains(t, err, indexOf(path)+" may be deleted", name)
		page, err := w.Search(within(t), sink.SearchQuery{Text: "words"})
		require.NoError(t, err, name)
		require.Empty(t, page.Hits, name)
		require.Equal(t, sink.Indexing{Behind: 1}, page.Indexing, name)
		require.NoFileExists(t, indexOf(path)+"-wal", name)
		index(t, w)
		for _, l := range []*sqlite.Ledger{w, r, open} {
			require.Equal(t, 1, count(t, l, "words"), name)
		}
	}
}

// TestIndexThatIsDeletedWhileItIsOpenIsMadeAgain as it may be at any time.
func TestIndexThatIsDeletedWhileItIsOpenIsMadeAgain(t *testing.T) {
	path := files{}.path(t, "ledger")
	w := openLedger(t, path, sqlite.Options{})
	say(t, w, ledgertest.NewScript("one"), 1, "words")
	index(t, w)
	require.Equal(t, 1, count(t, w, "words"))
	for _, end := range []string{"", "-wal", "-shm"} {
		require.NoError(t, os.Remove(indexOf(path)+end))
	}
	require.Zero(t, count(t, w, "words"))
	index(t, w)
	require.Equal(t, 1, count(t, w, "words"))
}

// TestAnEventThatFailsAlwaysIsPassedOver after some tries.
func TestAnEventThatFailsAlwaysIsPassedOver(t *testing.T) {
	path := files{}.path(t, "ledger")
	w := openLedger(t, path, sqlite.Options{})
	s := ledgertest.NewScript("one")
	say(t, w, s, 1, "words")
	index(t, w)
	execute(t, indexOf(path), `CREATE TRIGGER fail BEFORE INSERT ON places WHEN NEW.seq = 2 BEGIN SELECT abs(-9223372036854775807 - 1); END`)
	say(t, w, s, 2, "bad words")
	say(t, w, s, 3, "words behind")
	for range 5 {
		_, err := w.Index(within(t))
		require.ErrorContains(t, err, "overflow")
	}
	index(t, w)
	require.Equal(t, 2, count(t, w, "words"))
	now, err := w.Indexing(within(t))
	require.NoError(t, err)
	require.Equal(t, sink.Indexing{Failed: 1}, now)
}
