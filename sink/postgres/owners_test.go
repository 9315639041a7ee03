package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/ledgertest"
	"github.com/steno-io/steno/sink/postgres/pgtest"
)

// twoOwners is a transcript of ten events, indexed, with the owners of two partitions that it is in: of the streams as
// they were, and of those that were made anew with another number of partitions.
type twoOwners struct {
	*Ledger
	old, anew sink.Claim
	script    *ledgertest.Script
	record    schema.Record
	events    [][]byte
	key       schema.Transcript
}

func newTwoOwners(ctx context.Context, t *testing.T) *twoOwners {
	l, err := Open(ctx, pgtest.Database(t), Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	o := &twoOwners{Ledger: l, script: ledgertest.NewScript("one")}
	o.key = o.script.Transcript(1)
	for _, c := range []struct {
		partition uint32
		claim     *sink.Claim
	}{{7, &o.old}, {23, &o.anew}} {
		*c.claim, err = l.Claim(ctx, c.partition)
		require.NoError(t, err)
	}
	o.record = o.say(10)
	for i, e := range o.record.Events {
		e, err := schema.WithStoreSeq(e, uint64(i+1))
		require.NoError(t, err)
		o.events = append(o.events, e)
	}
	_, err = l.Store(ctx, o.batch(o.old, 1, o.record))
	require.NoError(t, err)
	for n := 1; n > 0; {
		n, err = l.Index(ctx)
		require.NoError(t, err)
	}
	return o
}

func (o *twoOwners) say(events int) schema.Record {
	for range events {
		o.script.Next(1, ledgertest.Prompt("words"))
	}
	return o.script.Record()
}

func (o *twoOwners) batch(c sink.Claim, seq uint64, records ...schema.Record) sink.Batch {
	b := sink.Batch{Claim: c}
	for _, r := range records {
		b.Entries = append(b.Entries, o.script.Entry(seq, r))
		seq++
	}
	return b
}

func (o *twoOwners) piece(first, last uint64) sink.Dropped {
	return ledgertest.Piece(o.key, o.events, first, last)
}

// dropped tells how far the transcript is dropped, and how many of its events are there.
func (o *twoOwners) dropped(ctx context.Context, t *testing.T) (upTo, there uint64) {
	info, err := o.Capture(ctx, o.script.ID)
	require.NoError(t, err)
	require.Nil(t, info.Parked)
	require.NoError(t, o.pool.QueryRow(ctx, `SELECT count(*) FROM steno.events`).Scan(&there))
	return info.Sessions[1].Dropped, there
}

func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// TestAnOtherOwnerDropsWhileItIsStored, between reading what is kept of a transcript and writing it:
//
//	old owner                      owner anew
//	begin, read: nothing dropped
//	                               drop 1 to 4, commit
//	2, 3 … come again: compare
//	store what is new, commit
//
// What came again is compared with the digests, and the drop stands.
func TestAnOtherOwnerDropsWhileItIsStored(t *testing.T) {
	ctx := bounded(t)
	o := newTwoOwners(ctx, t)
	conn, err := o.pool.Acquire(ctx)
	require.NoError(t, err)
	defer conn.Release()
	b := o.batch(o.old, 1, o.record, o.say(2))
	storing := newTx(conn.Conn())
	require.NoError(t, storing.begin(ctx, b))

	ok, err := o.Drop(ctx, o.anew, o.piece(1, 4))
	require.NoError(t, err)
	require.True(t, ok)

	out, err := sink.Number(ctx, storing, b)
	require.NoError(t, err)
	require.Empty(t, out.Parked)
	require.NoError(t, storing.copyEvents(ctx))
	require.NoError(t, storing.saveAndCommit(ctx, out))
	upTo, there := o.dropped(ctx, t)
	require.EqualValues(t, 4, upTo, "the drop is not undone")
	require.EqualValues(t, 8, there)
	_, err = o.Store(ctx, o.batch(o.old, 1, o.record))
	require.NoError(t, err)
	upTo, _ = o.dropped(ctx, t)
	require.EqualValues(t, 4, upTo)
}

// TestTwoOwnersDropAtATime: the one that comes second sees what the first has dropped.
func TestTwoOwnersDropAtATime(t *testing.T) {
	ctx := bounded(t)
	o := newTwoOwners(ctx, t)
	second := make(chan error, 1)
	require.NoError(t, pgx.BeginFunc(ctx, o.pool, func(tx pgx.Tx) error {
		d := o.piece(1, 6)
		require.NoError(t, dropPiece(ctx, tx, &d))
		go func() {
			ok, err := o.Drop(ctx, o.anew, o.piece(1, 4))
			if err == nil && !ok {
				err = sink.ErrNotFound
			}
			second <- err
		}()
		require.Eventually(t, func() bool {
			var waiting int
			require.NoError(t, o.pool.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`).
				Scan(&waiting))
			return waiting > 0
		}, time.Minute, time.Millisecond)
		return nil
	}))
	require.NoError(t, <-second, "dropped already")
	upTo, there := o.dropped(ctx, t)
	require.EqualValues(t, 6, upTo)
	require.EqualValues(t, 4, there)
}
