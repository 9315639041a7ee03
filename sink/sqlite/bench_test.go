package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/ledgertest"
	"github.com/steno-io/steno/sink/sqlite"
	"github.com/steno-io/steno/sink/verify"
)

const (
	benchCaptures = 50
	benchRecord   = 8    // events of a record
	benchBatch    = 1024 // events of a transaction
)

// benchText makes events of about 1 KiB.
var benchText = strings.Repeat("all the world's a stage ", 26)

func benchRecordOf(s *ledgertest.Script) schema.Record {
	for i := range benchRecord {
		s.Next(uint32(i%2), ledgertest.Raw(benchText))
	}
	return s.Record()
}

func rate(b *testing.B, events int) {
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkStore stores batches over many captures; compare with BenchmarkBareInsert.
func BenchmarkStore(b *testing.B) {
	l, err := sqlite.Open(filepath.Join(b.TempDir(), "ledger.db"), sqlite.Options{})
	require.NoError(b, err)
	defer l.Close() //nolint:errcheck // the benchmark is over
	claim, err := l.Claim(context.Background(), 0)
	require.NoError(b, err)
	scripts := make([]*ledgertest.Script, benchCaptures)
	for i := range scripts {
		scripts[i] = ledgertest.NewScript(fmt.Sprint(i))
	}
	seq, events := uint64(0), 0
	for b.Loop() {
		b.StopTimer()
		batch := sink.Batch{Claim: claim}
		for range benchBatch / benchRecord {
			seq++
			s := scripts[int(seq)%len(scripts)]
			batch.Entries = append(batch.Entries, s.Entry(seq, benchRecordOf(s)))
		}
		batch.Position.Seq = seq
		b.StartTimer()
		out, err := l.Store(context.Background(), batch)
		if err != nil {
			b.Fatal(err)
		}
		events += out.Events
	}
	rate(b, events)
}

// BenchmarkBareInsert is the ceiling: the same bytes into the same table, and nothing else.
func BenchmarkBareInsert(b *testing.B) {
	path := filepath.Join(b.TempDir(), "ledger.db")
	l, err := sqlite.Open(path, sqlite.Options{})
	require.NoError(b, err)
	require.NoError(b, l.Close())
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=wal_autocheckpoint(4000)&_pragma=cache_size(-32000)")
	require.NoError(b, err)
	defer db.Close() //nolint:errcheck // the benchmark is over
	script := ledgertest.NewScript("0")
	event, err := schema.WithStoreSeq(benchRecordOf(script).Events[0], 1)
	require.NoError(b, err)
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
			if _, err := stmt.Exec(n%(2*benchCaptures), n/(2*benchCaptures), event); err != nil {
				b.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	rate(b, n)
}

// BenchmarkRead reads records as the sink's reader does, beside the writer.
func BenchmarkRead(b *testing.B) {
	s := ledgertest.NewScript("0")
	r := benchRecordOf(s)
	header, err := r.Header()
	require.NoError(b, err)
	payload := r.Payload()
	events := 0
	b.ReportAllocs()
	for b.Loop() {
		r, err := schema.DecodeRecord(header, payload)
		if err != nil {
			b.Fatal(err)
		}
		e := sink.NewEntry(s.ID, 1, ledgertest.Epoch, sink.Digest("subject", header, payload), r)
		if e.Refused != nil {
			b.Fatal(e.Refused)
		}
		events += len(r.Events)
	}
	rate(b, events)
}

// BenchmarkRun is the whole: from a real stream into the ledger.
func BenchmarkRun(b *testing.B) {
	s := ledgertest.NewStage(b, benchCaptures, files{}.open)
	events := 0
	for i := range 4000 {
		script := s.Scripts[i%len(s.Scripts)]
		r := benchRecordOf(script)
		header, err := r.Header()
		require.NoError(b, err)
		_, err = s.JS.PublishMsgAsync(&nats.Msg{Subject: schema.EventSubject(script.ID, s.Info.Partitions), Header: header, Data: r.Payload()})
		require.NoError(b, err)
		events += len(r.Events)
	}
	<-s.JS.PublishAsyncComplete()
	total := 0
	for b.Loop() {
		b.StopTimer()
		l, err := sqlite.Open(filepath.Join(b.TempDir(), "ledger.db"), sqlite.Options{})
		require.NoError(b, err)
		ctx, stop := context.WithCancel(context.Background())
		stored := make(chan int, 1024)
		k := sink.New(sink.Options{JS: s.JS, Ledger: l, OnStored: func(out sink.Stored) { stored <- out.Events }})
		done := make(chan error, 1)
		b.StartTimer()
		go func() { done <- k.Run(ctx) }()
		for n := 0; n < events; {
			n += <-stored
		}
		b.StopTimer()
		total += events
		stop()
		require.NoError(b, <-done)
		require.NoError(b, l.Close())
		b.StartTimer()
	}
	rate(b, total)
}

// BenchmarkVerify proves one long capture in a ledger, its frames in memory.
func BenchmarkVerify(b *testing.B) {
	const frames = 40_000
	id := ledgertest.NewScript("one").ID
	all := tell(b, strings.Repeat(strings.ReplaceAll(benchText, " ", "_")+" ", frames))
	l, err := sqlite.Open(filepath.Join(b.TempDir(), "ledger.db"), sqlite.Options{})
	require.NoError(b, err)
	defer l.Close() //nolint:errcheck // the benchmark is over
	claim, err := l.Claim(context.Background(), 0)
	require.NoError(b, err)
	e := sink.NewEntry(id, 1, ledgertest.Epoch, "", record(b, id, all, 1))
	_, err = l.Store(context.Background(), sink.Batch{Claim: claim, Entries: []sink.Entry{e}})
	require.NoError(b, err)
	source := tale{map[schema.Identity][]*schema.Frame{id: all}}
	events := 0
	for b.Loop() {
		r, err := verify.Run(context.Background(), verify.Options{Frames: source, Ledger: l, NewFold: taleFold, Settled: allSettled})
		if err != nil || len(r.Findings) > 0 {
			b.Fatal(err, r.Findings)
		}
		events += int(r.Events)
	}
	rate(b, events)
}
