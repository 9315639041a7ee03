package follow_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/follow"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// counted is a ledger that counts how often its end is looked at.
type counted struct {
	*ledger
	looks, reads atomic.Int64
}

func (c *counted) Transcript(ctx context.Context, key schema.Transcript) (sink.Summary, error) {
	c.looks.Add(1)
	return c.ledger.Transcript(ctx, key)
}

func (c *counted) Events(ctx context.Context, key schema.Transcript, after uint64, limit int) iter.Seq2[sink.Event, error] {
	c.reads.Add(1)
	return c.ledger.Events(ctx, key, after, limit)
}

// However many follow a transcript, it is asked for, heard and read as if they were one, or two: whoever
// comes while somebody looks waits for the next look.
func TestFollowersOfAHubShare(t *testing.T) {
	const followers = 200
	b := newBench(t)
	l := &counted{ledger: b.ledger}
	b.store(2, message("m1", "one"))
	owner := b.owner(3, 1, open("m2", "tw", 2))
	conn, _ := b.Connect(t)
	hub, err := follow.NewHub(conn, l, schema.Partitions)
	require.NoError(t, err)
	var readers []*reader
	began := time.Now()
	for range followers {
		readers = append(readers, run(t, follow.Options{Hub: hub, Transcript: transcript, Poll: time.Hour}, nil))
	}
	all := func(want ...string) {
		t.Helper()
		for _, r := range readers {
			r.reads(want...)
		}
	}
	all("event 1 Message", `snapshot 3 m2 "tw"`)
	require.Equal(t, 3, conn.NumSubscriptions())
	const apart = 25 * time.Millisecond
	require.LessOrEqual(t, owner.times(), 2+int(time.Since(began)/apart), "questions")
	looks, reads := l.looks.Load(), l.reads.Load()

	b.piece(4, "m2", 2, "o")
	all(`delta answer m2 2 "o"`)
	const stored = 10
	for i := range uint64(stored) {
		b.store(5+i, message(fmt.Sprint("m", 2+i), "two"))
		b.wake()
		all(fmt.Sprintf("event %d Message", 2+i))
	}
	require.LessOrEqual(t, l.looks.Load()-looks, int64(3*stored), "looks at the end")
	require.LessOrEqual(t, l.reads.Load()-reads, int64(3*stored), "reads of events")

	for _, r := range readers[1:] {
		r.cancel()
		require.NoError(t, r.ends())
	}
	require.Equal(t, 3, conn.NumSubscriptions())
	b.set(schema.StatusEnded)
	b.wake()
	readers[0].reads("end ended 11")
	readers[0].cancel()
	require.NoError(t, readers[0].ends())
	require.Zero(t, conn.NumSubscriptions())
}

// One that comes late, or stands far behind, reads what the others have no need of any more.
func TestAFollowerBehindTheSharedEnd(t *testing.T) {
	b := newBench(t)
	b.owner(1, 0)
	conn, _ := b.Connect(t)
	hub, err := follow.NewHub(conn, b.ledger, schema.Partitions)
	require.NoError(t, err)
	o := follow.Options{Hub: hub, Transcript: transcript, Poll: time.Hour}
	first := run(t, o, nil)
	first.reads("snapshot 1")
	hold := make(chan struct{})
	release := sync.OnceFunc(func() { close(hold) })
	slow := run(t, o, hold)
	t.Cleanup(release)  // before the reader is waited for
	const events = 1000 // more than are kept
	for i := range uint64(events) {
		b.store(2+i, message(fmt.Sprint("m", i), "text"))
		if i%100 == 99 {
			b.wake()
			for n := i - 98; n <= i+1; n++ {
				first.reads(fmt.Sprintf("event %d Message", n))
			}
		}
	}
	release()
	late := run(t, o, nil)
	for _, r := range []*reader{slow, late} {
		for n := 1; n <= events; n++ {
			item := <-r.items
			for !strings.HasPrefix(item, "event") {
				item = <-r.items
			}
			require.Equal(t, fmt.Sprintf("event %d Message", n), item)
		}
	}
}

func TestHubWantsWhatItShares(t *testing.T) {
	b := newBench(t)
	for _, tt := range []struct {
		make func() (*follow.Hub, error)
		says string
	}{
		{func() (*follow.Hub, error) { return follow.NewHub(nil, b.ledger, 1) }, "no connection"},
		{func() (*follow.Hub, error) { return follow.NewHub(b.NC, nil, 1) }, "no ledger"},
		{func() (*follow.Hub, error) { return follow.NewHub(b.NC, b.ledger, 0) }, "0 partitions"},
	} {
		_, err := tt.make()
		require.ErrorContains(t, err, tt.says)
	}
}

// A reader that takes nothing has few answers wait for it, however often others ask.
func TestAnswersDoNotPileUp(t *testing.T) {
	b := newBench(t)
	owner := b.owner(1, 0)
	conn, _ := b.Connect(t)
	hub, err := follow.NewHub(conn, b.ledger, schema.Partitions)
	require.NoError(t, err)
	o := follow.Options{Hub: hub, Transcript: transcript, Poll: time.Hour}
	hold := make(chan struct{})
	release := sync.OnceFunc(func() { close(hold) })
	slow := run(t, o, hold)
	t.Cleanup(release)
	slow.reads("snapshot 1")
	const joins = 20
	for n := range uint64(joins) {
		owner.set(2+n, 0, open("m", fmt.Sprint(n), 1))
		r := run(t, o, nil)
		r.reads(fmt.Sprintf(`snapshot %d m "%d"`, 2+n, n))
		r.cancel()
		require.NoError(t, r.ends())
	}
	release()
	// The first of the four that are left says that something is missing, and is the snapshot.
	slow.reads("lag missed 0 ", fmt.Sprintf(`snapshot %d m "%d"`, 2+joins-4, joins-4))
}

// What cannot be read may have been a piece. A flood of it is one lag, and keeps no snapshot away.
func TestAFloodOfWhatCannotBeRead(t *testing.T) {
	b := newBench(t)
	b.owner(2, 0, open("m", "one", 1))
	r := b.follow(follow.Options{})
	r.reads(`snapshot 2 m "one"`)
	for range 500 {
		require.NoError(t, b.NC.Publish(schema.DeltaSubject(transcript), []byte("no event")))
	}
	require.NoError(t, b.NC.Flush())
	lags := 0
	for {
		got := <-r.items
		if got == "lag missed 0 " {
			lags++
			continue
		}
		require.Equal(t, `snapshot 2 m "one"`, got)
		if b.piece(3, "m", 1, "!"); lags > 0 {
			break
		}
	}
	require.Less(t, lags, 50)
}
