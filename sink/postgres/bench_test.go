package postgres_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink/ledgertest"
	"github.com/steno-io/steno/sink/postgres/pgtest"
)

// benchBatches are events of a transaction; the last is the sink's largest, taken when it is behind.
var benchBatches = []int{256, 1024, 4096}

// BenchmarkStore stores batches over many captures; compare with BenchmarkBareCopy.
func BenchmarkStore(b *testing.B) {
	for _, size := range benchBatches {
		b.Run(fmt.Sprint(size), func(b *testing.B) { ledgertest.BenchStore(b, databases{}.open, size) })
	}
}

// BenchmarkIndex fills the index of the search.
func BenchmarkIndex(b *testing.B) { ledgertest.BenchIndex(b, databases{}.open) }

// BenchmarkRunSaying is BenchmarkRun with messages, with the index and without it.
func BenchmarkRunSaying(b *testing.B) { ledgertest.BenchRunSaying(b, databases{}.open) }

// BenchmarkRun is the whole: from a real stream into the ledger.
func BenchmarkRun(b *testing.B) { ledgertest.BenchRun(b, databases{}.open) }

// BenchmarkBareCopy is the ceiling: the same bytes into the same table by one COPY a transaction, and
// nothing else.
func BenchmarkBareCopy(b *testing.B) {
	for _, size := range benchBatches {
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
	event := ledgertest.BenchEvent(b)
	n := 0
	var buf []byte
	for b.Loop() {
		b.StopTimer()
		buf = append(buf[:0], "PGCOPY\n\377\r\n\000\000\000\000\000\000\000\000\000"...)
		for range size {
			n++
			buf = append(buf, 0, 3, 0, 0, 0, 8)
			buf = binary.BigEndian.AppendUint64(buf, uint64(n%ledgertest.BenchTranscripts))
			buf = binary.BigEndian.AppendUint64(append(buf, 0, 0, 0, 8), uint64(n/ledgertest.BenchTranscripts))
			buf = append(binary.BigEndian.AppendUint32(buf, uint32(len(event))), event...)
		}
		buf = append(buf, 0xff, 0xff)
		b.StartTimer()
		if _, err := conn.PgConn().CopyFrom(ctx, bytes.NewReader(buf), `COPY steno.events (transcript, store_seq, event) FROM STDIN BINARY`); err != nil {
			b.Fatal(err)
		}
	}
	ledgertest.BenchRate(b, n)
}
