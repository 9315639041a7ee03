package ledgertest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

const (
	benchCaptures = 50
	benchRecord   = 8 // events of a record

	// BenchTranscripts is how many transcripts the benchmarks store.
	BenchTranscripts = 2 * benchCaptures
)

// BenchText makes events of about 1 KiB.
var BenchText = strings.Repeat("all the world's a stage ", 26)

func benchRecordOf(s *Script) schema.Record { return benchRecordSaying(s, Raw(BenchText)) }

func benchRecordSaying(s *Script, kind schema.Kind) schema.Record {
	for i := range benchRecord {
		s.Next(uint32(i%2), kind)
	}
	return s.Record()
}

// BenchEvent is one of the benchmarks' events as it is stored, for a bare loop beside them.
func BenchEvent(b *testing.B) []byte {
	b.Helper()
	event, err := schema.WithStoreSeq(benchRecordOf(NewScript("0")).Events[0], 1)
	require.NoError(b, err)
	return event
}

// BenchRate reports events a second.
func BenchRate(b *testing.B, events int) {
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}

// BenchStore stores batches of so many events over many captures.
func BenchStore(b *testing.B, open Open, size int) {
	l := open(b, "ledger")
	defer l.Close() //nolint:errcheck // the benchmark is over
	claim, err := l.Claim(ctx(), 0)
	require.NoError(b, err)
	scripts := make([]*Script, benchCaptures)
	for i := range scripts {
		scripts[i] = NewScript(fmt.Sprint(i))
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
		out, err := l.Store(ctx(), batch)
		if err != nil {
			b.Fatal(err)
		}
		events += out.Events
	}
	BenchRate(b, events)
}

// BenchRead reads records as the sink's reader does, beside the writer.
func BenchRead(b *testing.B) {
	s := NewScript("0")
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
		e := sink.NewEntry(s.ID, 1, Epoch, sink.Digest("subject", header, payload), r)
		if e.Refused != nil {
			b.Fatal(e.Refused)
		}
		events += len(r.Events)
	}
	BenchRate(b, events)
}

// BenchRun is the whole: from a real stream into the ledger.
func BenchRun(b *testing.B, open Open) { benchRun(b, open, Raw(BenchText), false) }

// BenchRunSaying is BenchRun with events each of which is a message, with the index and without it.
func BenchRunSaying(b *testing.B, open Open) {
	for name, indexed := range map[string]bool{"bare": false, "indexed": true} {
		b.Run(name, func(b *testing.B) { benchRun(b, open, Prompt(BenchText), indexed) })
	}
}

func benchRun(b *testing.B, open Open, kind schema.Kind, indexed bool) {
	s := NewStage(b, benchCaptures, open)
	events := 0
	for i := range 4000 {
		script := s.Scripts[i%len(s.Scripts)]
		r := benchRecordSaying(script, kind)
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
		total += events
		l := open(b, fmt.Sprintf("run %d", total))
		ctx, stop := context.WithCancel(context.Background())
		stored := make(chan int, 1024)
		o := sink.Options{JS: s.JS, Ledger: l, OnStored: func(out sink.Stored) { stored <- out.Events }}
		if indexed {
			o.Index = l
		}
		k := sink.New(o)
		done := make(chan error, 1)
		b.StartTimer()
		go func() { done <- k.Run(ctx) }()
		for n := 0; n < events; {
			n += <-stored
		}
		b.StopTimer()
		stop()
		require.NoError(b, <-done)
		require.NoError(b, l.Close())
		b.StartTimer()
	}
	BenchRate(b, total)
}

// BenchIndex indexes messages of about 1 KiB, or the Raws that come beside what they tell of.
func BenchIndex(b *testing.B, open Open) {
	for name, kind := range map[string]schema.Kind{"messages": Prompt(BenchText), "raws": Raw(BenchText)} {
		b.Run(name, func(b *testing.B) {
			const records = 1024
			total := 0
			for b.Loop() {
				b.StopTimer()
				l := open(b, fmt.Sprintf("index %d", total))
				claim, err := l.Claim(ctx(), 0)
				require.NoError(b, err)
				batch := sink.Batch{Claim: claim}
				s := NewScript("0")
				for seq := range uint64(records) {
					batch.Entries = append(batch.Entries, s.Entry(seq+1, benchRecordSaying(s, kind)))
				}
				_, err = l.Store(ctx(), batch)
				require.NoError(b, err)
				b.StartTimer()
				for n := 1; n > 0; {
					if n, err = l.Index(ctx()); err != nil {
						b.Fatal(err)
					}
				}
				total += records * benchRecord
				b.StopTimer()
				require.NoError(b, l.Close())
				b.StartTimer()
			}
			BenchRate(b, total)
		})
	}
}
