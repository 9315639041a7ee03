// Package ledgertest is the suite that every ledger passes.
package ledgertest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// Ledger is all that a ledger does.
type Ledger interface {
	sink.Ledger
	sink.Reader
	sink.Auditor
	sink.Searcher
	sink.Index
	Close() error
}

// Open opens the store of a name, making an empty one where there is none. Opening a name again
// gives what was stored under it. A store lasts as long as its test.
type Open func(t testing.TB, name string) Ledger

// Run runs the suite.
func Run(t *testing.T, open Open) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, *bench)
	}{
		{"numbers count from 1 without gaps", numbers},
		{"a record that came before is already there", again},
		{"other bytes under a number park the capture", changed},
		{"a missing number parks the capture", gap},
		{"an origin that goes back parks the capture", originBack},
		{"a record that says nonsense parks its capture", nonsense},
		{"a parked capture stays parked", staysParked},
		{"a capture is taken out of the park", redriven},
		{"an earlier owner stores nothing", fenced},
		{"a write that fails is written again", writeFailures},
		{"what is stored is there after opening", reopening},
		{"readers see what a writer stores", concurrentReader},
		{"bytes come back as they went in", bytesKept},
		{"a large event", largeEvent},
		{"frames are counted once", frames},
		{"lists say what the records say", summaries},
		{"lists are in the order of recording", ordered},
		{"the status of a capture and of its sessions", statuses},
		{"the list in pages", paging},
		{"events in pages", eventPages},
		{"captures for an audit", audit},
		{"what is sealed is dropped", dropping},
		{"what was dropped comes again", droppedAgain},
		{"what is not dropped", notDropped},
		{"a drop that fails is made again", dropFailures},
		{"a large piece", largePieces},
		{"dropped while it is stored and read", droppedBeside},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := &bench{open: open, t: t}
			b.reopen()
			test.run(t, b)
		})
	}
}

// bench is one test's ledger with the position of its one partition.
type bench struct {
	Ledger
	open  Open
	t     *testing.T
	claim sink.Claim
	seq   uint64
}

const partition = 7

func ctx() context.Context { return context.Background() }

// reopen closes the ledger, opens it again and claims the partition.
func (b *bench) reopen() {
	b.t.Helper()
	if b.Ledger != nil {
		require.NoError(b.t, b.Close())
	}
	l := b.open(b.t, "ledger")
	b.t.Cleanup(func() { _ = l.Close() }) // may be closed by then
	b.Ledger = l
	claim, err := b.Claim(ctx(), partition)
	require.NoError(b.t, err)
	b.claim = claim
}

// batch makes a batch of records of one capture, at the next sequences.
func (b *bench) batch(s *Script, records ...schema.Record) sink.Batch {
	out := sink.Batch{Claim: b.claim}
	for _, r := range records {
		b.seq++
		out.Entries = append(out.Entries, s.Entry(b.seq, r))
	}
	last := out.Entries[len(out.Entries)-1]
	out.Position = sink.Position{Created: Epoch, Seq: last.Seq, Digest: last.Digest}
	return out
}

// store stores records in one transaction.
func (b *bench) store(s *Script, records ...schema.Record) sink.Stored {
	b.t.Helper()
	out, err := b.Store(ctx(), b.batch(s, records...))
	require.NoError(b.t, err)
	return out
}

// events reads a transcript to its end.
func (b *bench) events(key schema.Transcript) [][]byte {
	b.t.Helper()
	return stored(b.t, b, key)
}

// numbered is what the ledger must hold of records of one session.
func numbered(t *testing.T, records ...schema.Record) [][]byte {
	t.Helper()
	var out [][]byte
	for _, r := range records {
		for _, e := range r.Events {
			n, err := schema.WithStoreSeq(e, uint64(len(out)+1))
			require.NoError(t, err)
			out = append(out, n)
		}
	}
	return out
}

func (b *bench) position() sink.Position {
	b.t.Helper()
	s, err := b.Stats(ctx())
	require.NoError(b.t, err)
	return s.Positions[partition]
}

func (b *bench) parked(s *Script) *sink.Parked {
	b.t.Helper()
	info, err := b.Capture(ctx(), s.ID)
	require.NoError(b.t, err)
	return info.Parked
}
