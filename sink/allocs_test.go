package sink_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/alloctest"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/ledgertest"
)

// forgetful is a transaction on a ledger that holds nothing.
type forgetful struct{}

func (forgetful) Capture(_ context.Context, id schema.Identity) (*sink.Capture, error) {
	return &sink.Capture{Capture: id}, nil
}

func (forgetful) Transcript(_ context.Context, _ *sink.Capture, session uint32) (*sink.Transcript, error) {
	return &sink.Transcript{Session: session}, nil
}

func (forgetful) Event(context.Context, *sink.Transcript, uint64) ([]byte, error) {
	return nil, sink.ErrNotFound
}

func (forgetful) Dropped(context.Context, *sink.Transcript, uint64) ([]byte, error) {
	return nil, sink.ErrNotFound
}

func (forgetful) Put(context.Context, *sink.Transcript, uint64, []byte) error { return nil }

// What a sink does with records before a database has them.
func TestAllocations(t *testing.T) {
	const captures, records, each = 10, 10, 8
	b := sink.Batch{}
	for i := range captures {
		s := ledgertest.NewScript(fmt.Sprint(i))
		for range records {
			for n := range each {
				s.Next(uint32(n%2), ledgertest.Raw(ledgertest.BenchText))
			}
			b.Entries = append(b.Entries, s.Entry(uint64(len(b.Entries))+1, s.Record()))
		}
	}
	events := len(b.Entries) * each
	alloctest.Check(t,
		alloctest.Row{What: "check a record's event", Most: 19, Each: events, Run: func() {
			for i := range b.Entries {
				e := &b.Entries[i]
				if e := sink.NewEntry(e.Capture, e.Seq, e.At, e.Digest, e.Record); e.Refused != nil {
					panic(e.Refused)
				}
			}
		}},
		alloctest.Row{What: "number an event", Most: 3, Each: events, Run: func() {
			n, err := sink.Number(t.Context(), forgetful{}, b)
			if err != nil || n.Events != events {
				panic(fmt.Sprint(n.Events, err))
			}
		}},
	)
	require.Len(t, b.Entries, captures*records)
}
