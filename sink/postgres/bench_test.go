package postgres_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/ledgertest"
	"github.com/steno-io/steno/sink/postgres/pgtest"
)

const (
	benchCaptures = 50
	benchRecord   = 8    // events of a record
	benchBatch    = 4096 // events of a transaction: the sink's largest, taken when it is behind
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

// BenchmarkStore stores batches over many captures; compare with BenchmarkBareCopy.
func BenchmarkStore(b *testing.B) {
	for _, size := range []int{1024, benchBatch} {
		b.Run(fmt.Sprint(size), func(b *testing.B) { benchStore(b, size) })
	}
}

func benchStore(b *testing.B, size int) {
	l := open(b, pgtest.Database(b))
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
		for range size / benchRecord {
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

// BenchmarkBareCopy is the ceiling: the same bytes into the same table by one COPY a transaction, and
// nothing else.
func BenchmarkBareCopy(b *testing.B) {
	for _, size := range []int{1024, benchBatch} {
		b.Run(fmt.Sprint(size), func(b *testing.B) { benchCopy(b, size) })
	}
}

func benchCopy(b *testing.B, size int) {
	url := pgtest.Database(b)
	require.NoError(b, open(b, url).Close())
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	require.NoError(b, err)
	defer conn.Close(ctx) //nolint:errcheck // the benchmark is over
	event, err := schema.WithStoreSeq(benchRecordOf(ledgertest.NewScript("0")).Events[0], 1)
	require.NoError(b, err)
	n := 0
	var buf []byte
	for b.Loop() {
		b.StopTimer()
		buf = append(buf[:0], "PGCOPY\n\377\r\n\000\000\000\000\000\000\000\000\000"...)
		for range size {
			n++
			buf = append(buf, 0, 3, 0, 0, 0, 8)
			buf = binary.BigEndian.AppendUint64(buf, uint64(n%(2*benchCaptures)))
			buf = binary.BigEndian.AppendUint64(append(buf, 0, 0, 0, 8), uint64(n/(2*benchCaptures)))
			buf = append(binary.BigEndian.AppendUint32(buf, uint32(len(event))), event...)
		}
		buf = append(buf, 0xff, 0xff)
		b.StartTimer()
		if _, err := conn.PgConn().CopyFrom(ctx, bytes.NewReader(buf), `COPY steno.events (transcript, store_seq, event) FROM STDIN BINARY`); err != nil {
			b.Fatal(err)
		}
	}
	rate(b, n)
}
