package ledgertest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

func fenced(t *testing.T, b *bench) {
	s := NewScript("one")
	first, second := three(s), three(s)
	b.store(s, first)
	late := b.batch(s, second)

	claim, err := b.Claim(ctx(), partition)
	require.NoError(t, err)
	require.Equal(t, b.claim.Epoch+1, claim.Epoch)
	require.Equal(t, sink.Position{Created: Epoch, Seq: 1, Digest: "digest of 1"}, claim.Position)
	_, err = b.Store(ctx(), late)
	require.ErrorIs(t, err, sink.ErrFenced)
	require.Len(t, b.events(s.Transcript(0)), 3, "nothing of the late batch is stored")
	require.Equal(t, uint64(1), b.position().Seq)

	other, err := b.Claim(ctx(), partition+1)
	require.NoError(t, err)
	require.Equal(t, uint64(1), other.Epoch, "each partition has its own epoch")
	late.Claim = claim
	_, err = b.Store(ctx(), late)
	require.NoError(t, err)
	require.Equal(t, numbered(t, first, second), b.events(s.Transcript(0)))

	late.Claim = sink.Claim{Partition: partition + 9, Epoch: 1}
	_, err = b.Store(ctx(), late)
	require.ErrorIs(t, err, sink.ErrFenced, "nobody owns a partition that was never claimed")
}

// writeFailures fails every write in both ways, once and twice, and checks from the outside after
// each that the ledger is whole.
func writeFailures(t *testing.T, b *bench) {
	s := NewScript("one")
	var records []schema.Record
	for range 6 {
		records = append(records, three(s))
	}
	faulty := &Faulty{Ledger: b.Ledger}
	for i, faults := range [][]Fault{{Refuse}, {Forget}, {Refuse, Refuse}, {Forget, Forget}, {Refuse, Forget}, {Forget, Refuse}} {
		left := faults
		faulty.Plan = func(int, string) Fault {
			if len(left) == 0 {
				return None
			}
			f := left[0]
			left = left[1:]
			return f
		}
		batch := b.batch(s, records[i])
		stored := i * 3
		for _, f := range faults {
			_, err := faulty.Store(ctx(), batch)
			require.ErrorIs(t, err, ErrFault)
			if f == Forget {
				stored = i*3 + 3
			}
			require.Len(t, b.events(s.Transcript(0)), stored)
			require.Equal(t, stored/3, int(b.position().Seq), "position and events are one")
		}
		_, err := faulty.Store(ctx(), batch)
		require.NoError(t, err)
		require.Equal(t, numbered(t, records[:i+1]...), b.events(s.Transcript(0)), fmt.Sprint(faults))
		b.reopen()
		faulty.Ledger = b.Ledger
		require.Equal(t, numbered(t, records[:i+1]...), b.events(s.Transcript(0)))
	}
	info, err := b.Capture(ctx(), s.ID)
	require.NoError(t, err)
	require.Equal(t, uint64(18), info.Accounted)
}

func reopening(t *testing.T, b *bench) {
	s := NewScript("one")
	first, second := three(s), three(s)
	b.store(s, first)
	epoch := b.claim.Epoch
	b.reopen()
	require.Equal(t, epoch+1, b.claim.Epoch)
	require.Equal(t, sink.Position{Created: Epoch, Seq: 1, Digest: "digest of 1"}, b.claim.Position)
	b.store(s, second)
	b.reopen()
	require.Equal(t, numbered(t, first, second), b.events(s.Transcript(0)))
}

func concurrentReader(t *testing.T, b *bench) {
	s := NewScript("one")
	done := make(chan error, 1)
	const rounds = 50
	var records []schema.Record
	for range rounds {
		records = append(records, three(s))
	}
	go func() {
		for _, r := range records {
			if _, err := b.Store(ctx(), b.batch(s, r)); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	var seen uint64
	writing := true
	for seen < 3*rounds {
		for e, err := range b.Events(ctx(), s.Transcript(0), seen, 0) {
			require.NoError(t, err)
			require.Equal(t, seen+1, e.Seq)
			seen++
		}
		select {
		case err := <-done:
			require.NoError(t, err)
			writing = false
			done = nil
		default:
			require.True(t, writing || seen == 3*rounds, "the writer has ended, and %d events are seen", seen)
		}
	}
	if writing {
		require.NoError(t, <-done)
	}
}
