package sink

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestQueueKeepsOrderUnderPressure(t *testing.T) {
	q := newQueue(3 * entryBytes)
	const n = 2000
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range uint64(n) {
			if err := q.put(context.Background(), Entry{Seq: i + 1, bytes: rand.IntN(4 * entryBytes), facts: make([]facts, rand.IntN(3))}); err != nil {
				t.Error(err)
			}
		}
	})
	var want uint64
	for want < n {
		got, err := q.take(context.Background(), nil, 4)
		require.NoError(t, err)
		require.NotEmpty(t, got)
		for _, e := range got {
			want++
			require.Equal(t, want, e.Seq)
		}
	}
	wg.Wait()
	require.Zero(t, q.bytes)
}

func TestQueueBounds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	q := newQueue(10)
	require.NoError(t, q.put(ctx, Entry{bytes: 1000, facts: make([]facts, 50)}), "an empty queue takes anything")
	blocked := make(chan error, 1)
	go func() { blocked <- q.put(ctx, Entry{}) }()
	select {
	case err := <-blocked:
		t.Fatalf("put did not wait for room: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	got, err := q.take(ctx, nil, 4)
	require.NoError(t, err)
	require.Len(t, got, 1, "one entry is taken whatever its size")
	require.NoError(t, <-blocked)
	go func() { blocked <- q.put(ctx, Entry{}) }()
	cancel()
	require.ErrorIs(t, <-blocked, context.Canceled)
	_, err = newQueue(10).take(ctx, nil, 4)
	require.ErrorIs(t, err, context.Canceled)
}

func TestProgress(t *testing.T) {
	p := newProgress()
	done := make(chan error, 1)
	go func() { done <- p.wait(context.Background(), 3, 5) }()
	p.set(3, 4)
	p.set(4, 9)
	p.set(3, 5)
	require.NoError(t, <-done)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, p.wait(ctx, 3, 6), context.Canceled)
	why := errors.New("why")
	go func() { done <- p.wait(context.Background(), 3, 6) }()
	p.stop(why)
	err := <-done
	require.ErrorIs(t, err, ErrStopped)
	require.ErrorIs(t, err, why)
	require.NoError(t, p.wait(context.Background(), 3, 5), "what is stored stays stored")
}

// picky refuses batches that hold certain records, unless they come as refused.
type picky struct {
	Ledger  // its other methods are not called
	bad     map[uint64]bool
	batches [][]uint64
	parked  []uint64
}

func (p *picky) Store(_ context.Context, b Batch) (Stored, error) {
	var out Stored
	var seqs []uint64
	for _, e := range b.Entries {
		if p.bad[e.Seq] && e.Refused == nil {
			return Stored{}, ErrRefused
		}
		if e.Refused != nil {
			p.parked = append(p.parked, e.Seq)
		}
		seqs = append(seqs, e.Seq)
		out.Events++
	}
	if last := b.Entries[len(b.Entries)-1].Seq; b.Position.Seq != last {
		return Stored{}, errors.New("position is not that of the last entry")
	}
	p.batches = append(p.batches, seqs)
	return out, nil
}

func TestStoreFindsTheRefusedRecord(t *testing.T) {
	b := Batch{}
	for seq := range uint64(10) {
		b.Entries = append(b.Entries, Entry{Seq: seq + 1})
	}
	b.Position.Seq = 10
	for _, bad := range [][]uint64{nil, {1}, {10}, {4, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}} {
		p := &picky{bad: map[uint64]bool{}}
		for _, seq := range bad {
			p.bad[seq] = true
		}
		out, err := Store(context.Background(), p, b)
		require.NoError(t, err)
		require.Equal(t, 10, out.Events)
		require.Equal(t, bad, p.parked)
		next := uint64(1)
		for _, seqs := range p.batches {
			for _, seq := range seqs {
				require.Equal(t, next, seq, "in order, each once")
				next++
			}
		}
	}
}
