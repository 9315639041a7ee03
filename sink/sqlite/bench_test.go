package sqlite_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/ledgertest"
	"github.com/steno-io/steno/sink/sqlite"
	"github.com/steno-io/steno/sink/verify"
	"github.com/steno-io/steno/sink/verify/verifytest"
)

const benchBatch = 1024 // events of a transaction

// BenchmarkStore stores batches over many captures; compare with BenchmarkBareInsert.
func BenchmarkStore(b *testing.B) { ledgertest.BenchStore(b, files{}.open, benchBatch) }

// BenchmarkRead reads records as the sink's reader does, beside the writer.
func BenchmarkRead(b *testing.B) { ledgertest.BenchRead(b) }

// BenchmarkIndex fills the index of the search.
func BenchmarkIndex(b *testing.B) { ledgertest.BenchIndex(b, files{}.open) }

// BenchmarkRunSaying is BenchmarkRun with messages, with the index and without it.
func BenchmarkRunSaying(b *testing.B) { ledgertest.BenchRunSaying(b, files{}.open) }

// BenchmarkRun is the whole: from a real stream into the ledger.
func BenchmarkRun(b *testing.B) { ledgertest.BenchRun(b, files{}.open) }

// BenchmarkBareInsert is the ceiling: the same bytes into the same table, and nothing else.
func BenchmarkBareInsert(b *testing.B) {
	path := filepath.Join(b.TempDir(), "ledger.db")
	l, err := sqlite.Open(path, sqlite.Options{})
	require.NoError(b, err)
	require.NoError(b, l.Close())
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=wal_autocheckpoint(4000)&_pragma=cache_size(-4000)")
	require.NoError(b, err)
	defer db.Close() //nolint:errcheck // the benchmark is over
	event := ledgertest.BenchEvent(b)
	n := 0
	for b.Loop() {
		tx, err := db.Begin()
		if err != nil {
			b.Fatal(err)
		}
		stmt, err := tx.Prepare(`INSERT INTO events (transcript, store_seq, event) VALUES (?, ?, ?)`)
		if err != nil {
			b.Fatal(err)
		}
		for range benchBatch {
			n++
			if _, err := stmt.Exec(n%ledgertest.BenchTranscripts, n/ledgertest.BenchTranscripts, event); err != nil {
				b.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	ledgertest.BenchRate(b, n)
}

// BenchmarkVerify proves one long capture in a ledger, its frames in memory.
func BenchmarkVerify(b *testing.B) {
	const frames = 40_000
	id := ledgertest.NewScript("one").ID
	all := verifytest.Tell(b, strings.Repeat(strings.ReplaceAll(ledgertest.BenchText, " ", "_")+" ", frames))
	l, err := sqlite.Open(filepath.Join(b.TempDir(), "ledger.db"), sqlite.Options{})
	require.NoError(b, err)
	defer l.Close() //nolint:errcheck // the benchmark is over
	claim, err := l.Claim(context.Background(), 0)
	require.NoError(b, err)
	e := sink.NewEntry(id, 1, ledgertest.Epoch, "", verifytest.Record(b, id, all, 1))
	_, err = l.Store(context.Background(), sink.Batch{Claim: claim, Entries: []sink.Entry{e}})
	require.NoError(b, err)
	source := verifytest.Tale{Of: map[schema.Identity][]*schema.Frame{id: all}}
	events := 0
	for b.Loop() {
		r, err := verify.Run(context.Background(), verify.Options{Frames: source, Ledger: l, NewFold: verifytest.Fold, Settled: allSettled})
		if err != nil || len(r.Findings) > 0 {
			b.Fatal(err, r.Findings)
		}
		events += int(r.Events)
	}
	ledgertest.BenchRate(b, events)
}
