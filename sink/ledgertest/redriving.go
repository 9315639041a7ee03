package ledgertest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
)

func redriven(t *testing.T, b *bench) {
	s := NewScript("one")
	first, lost, third := three(s), three(s), three(s)
	b.store(s, first, third)
	require.NotNil(t, b.parked(s))

	other := NewScript("two")
	b.store(other, three(other))
	ok, err := b.Redrive(ctx(), b.claim, other.ID)
	require.NoError(t, err)
	require.False(t, ok, "it is not parked")
	ok, err = b.Redrive(ctx(), b.claim, NewScript("nobody").ID)
	require.NoError(t, err)
	require.False(t, ok)
	require.EqualValues(t, 3, b.position().Seq, "nothing has changed")
	b.store(other, three(other))

	ok, err = b.Redrive(ctx(), b.claim, s.ID)
	require.NoError(t, err)
	require.True(t, ok)
	require.Nil(t, b.parked(s))
	require.Zero(t, b.position())
	_, err = b.Store(ctx(), b.batch(s, first))
	require.ErrorIs(t, err, sink.ErrFenced, "what was read before it is not stored any more")
	_, err = b.Redrive(ctx(), b.claim, s.ID)
	require.ErrorIs(t, err, sink.ErrFenced)

	b.reopen()
	require.Zero(t, b.position())
	require.Zero(t, b.store(s, first).Events, "what is there is there")
	require.Equal(t, 6, b.store(s, lost, third).Events)
	require.Equal(t, numbered(t, first, lost, third), b.events(s.Transcript(0)))
	sum, err := b.Transcript(ctx(), s.Transcript(0))
	require.NoError(t, err)
	require.EqualValues(t, 9, sum.Frames, "no frame counts twice")
}

// refusing is a ledger that does not take a capture.
type refusing struct {
	sink.Ledger
	capture schema.Identity
	takes   atomic.Bool
}

func (l *refusing) Store(ctx context.Context, b sink.Batch) (sink.Stored, error) {
	for i := range b.Entries {
		if e := &b.Entries[i]; e.Capture == l.capture && e.Refused == nil && !l.takes.Load() {
			return sink.Stored{}, fmt.Errorf("store %s: %w", e.Capture, sink.ErrRefused)
		}
	}
	return l.Ledger.Store(ctx, b)
}

// runRedrives asks again and again for a capture that the database does not take: it is parked again
// until it does. Each write fails in both ways, and the sink goes on all the while.
func runRedrives(t *testing.T, open Open) {
	s := NewStage(t, 4, open)
	bad := s.Scripts[0]
	faults := 0
	ledger := &refusing{capture: bad.ID}
	ledger.Ledger = &Faulty{Ledger: s.Ledger, Plan: func(_ int, name string) Fault {
		if name != "redrive" {
			return None
		}
		faults++
		return Fault(faults % 3)
	}}
	publish := func() {
		for range 5 {
			for _, script := range s.Scripts {
				s.Publish(script)
			}
		}
	}
	publish()
	k, stop := s.Run(sink.Options{Ledger: ledger})
	s.Wait(k)
	parked := func() bool {
		info, err := s.Ledger.Capture(within(t), bad.ID)
		require.NoError(t, err)
		return info.Parked != nil
	}
	require.True(t, parked())
	ask := func() bool { // until the sink answers: between two claims it does not
		for ctx := within(t); ; {
			ok, err := sink.Redrive(ctx, s.NC, bad.ID, s.Info.Partitions)
			if err == nil {
				return ok
			}
			require.NoError(t, ctx.Err(), "%v", err)
		}
	}
	// Whoever may ask does not get to write by it.
	require.NoError(t, s.NC.PublishRequest(schema.RedriveSubject(bad.ID, s.Info.Partitions), schema.RawSubject(bad.ID, s.Info.Partitions), nil))
	for range 3 {
		ask()
		require.Eventually(t, parked, time.Minute, time.Millisecond)
		publish()
	}
	ledger.takes.Store(true)
	for ask() { // false: it is not parked any more
		publish()
	}
	require.False(t, parked())
	s.Wait(k)
	require.NoError(t, stop(), "raising one's own epoch is no end")
	s.Check()
	raw, err := s.JS.Stream(within(t), topology.Raw)
	require.NoError(t, err)
	require.Zero(t, raw.CachedInfo().State.LastSeq)
}

// runLeavesRedrivesToTheOwner asks a sink whose partition another one has claimed: it does not answer in
// that one's place, and does not take the partition back.
func runLeavesRedrivesToTheOwner(t *testing.T, open Open) {
	s := NewStage(t, 1, open)
	s.Publish(s.Scripts[0])
	k, stop := s.Run(sink.Options{})
	s.Wait(k)
	id := s.Scripts[0].ID
	claim, err := s.Ledger.Claim(within(t), id.Partition(s.Info.Partitions))
	require.NoError(t, err)
	asking, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, err = sink.Redrive(asking, s.NC, id, s.Info.Partitions)
	require.Error(t, err)
	require.ErrorIs(t, k.Wait(within(t), claim.Partition, 1<<40), sink.ErrFenced)
	require.ErrorIs(t, stop(), sink.ErrFenced)
	_, err = s.Ledger.Redrive(within(t), claim, id)
	require.NoError(t, err, "the claim holds")
}
