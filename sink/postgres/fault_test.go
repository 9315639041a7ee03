package postgres_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/ledgertest"
	"github.com/steno-io/steno/sink/postgres/pgtest"
)

// TestConnectionCutAtCommit cuts the connection of a storing sink again and again: before COMMIT goes
// to the server, and after the server has carried it out, at its answer.
func TestConnectionCutAtCommit(t *testing.T) {
	d := databases{}
	s := ledgertest.NewStage(t, 10, d.open)
	var mu sync.Mutex
	unsent, unanswered, seen := 0, 0, 0
	sent := false // a COPY is done, and what follows is the last of its transaction
	p := newProxy(t, pgtest.Address(t, d.url(t, "ledger")), func(direction int, kind byte, body []byte) bool {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case direction == toServer && kind == copyDone:
			seen++
			sent = seen%5 == 1
		case direction == toServer && sent && kind != 'S': // what follows COPY's end and its Sync
			sent = false
			unsent++
			return true
		case direction == fromServer && kind == commandComplete && bytes.Equal(body, []byte("COMMIT\x00")) && seen%5 == 3:
			seen++
			unanswered++
			return true
		}
		return false
	})
	l := open(t, pgtest.Through(t, d.url(t, "ledger"), p.address))
	defer l.Close() //nolint:errcheck // it always works
	k, stop := s.Run(sink.Options{Ledger: l, MaxEvents: 8})
	for range 20 {
		for _, script := range s.Scripts {
			s.Publish(script)
		}
	}
	s.Wait(k)
	require.NoError(t, stop())
	s.Check()
	mu.Lock()
	defer mu.Unlock()
	t.Logf("%d transactions; cut before COMMIT: %d, at its answer: %d", seen, unsent, unanswered)
	require.Greater(t, unsent, 5)
	require.Greater(t, unanswered, 5)
}

// TestDatabaseRestartsWhileStoring ends the server at once, with a transaction on its way.
func TestDatabaseRestartsWhileStoring(t *testing.T) {
	d := databases{}
	s := ledgertest.NewStage(t, 20, d.open)
	ctx, halt := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			s.Publish(s.Scripts[rand.IntN(len(s.Scripts))])
			time.Sleep(time.Millisecond) // the sink stores a few at a time, and shall be behind, but not far
		}
	})
	k, stop := s.Run(sink.Options{MaxEvents: 4})
	for range 3 {
		time.Sleep(time.Duration(200+rand.IntN(300)) * time.Millisecond)
		pgtest.Restart(t)
	}
	halt()
	wg.Wait()
	s.Wait(k)
	require.NoError(t, stop())
	s.Check()
}

// TestAnAbandonedClaimIsNotMadeLater holds a claim back on its way until its owner has given it up, and another one
// has claimed.
func TestAnAbandonedClaimIsNotMadeLater(t *testing.T) {
	url := pgtest.Database(t)
	fresh := open(t, url)
	defer fresh.Close() //nolint:errcheck // it always works
	p := newProxy(t, pgtest.Address(t, url), nil)
	old := open(t, pgtest.Through(t, url, p.address)+"&application_name=old")
	first, err := old.Claim(within(t), 0)
	require.NoError(t, err)
	p.freeze()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = old.Claim(ctx, 0)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	claim, err := fresh.Claim(within(t), 0)
	require.NoError(t, err)
	require.Equal(t, first.Epoch+1, claim.Epoch)
	p.thaw()
	require.NoError(t, old.Close())
	conn, err := pgx.Connect(within(t), url)
	require.NoError(t, err)
	defer conn.Close(within(t))         //nolint:errcheck // the test has what it wants
	require.Eventually(t, func() bool { // all that was held back has come
		var n int
		require.NoError(t, conn.QueryRow(within(t), `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'old'`).Scan(&n))
		return n == 0
	}, time.Minute, 10*time.Millisecond)
	s := ledgertest.NewScript("one")
	s.Next(0, ledgertest.Raw("x"))
	_, err = fresh.Store(within(t), sink.Batch{Claim: claim, Position: sink.Position{Seq: 1}, Entries: []sink.Entry{s.Entry(1, s.Record())}})
	require.NoError(t, err, "nobody else has claimed since")
}

// TestFrozenOwnerIsDeposed freezes an owner's network in the middle of its transaction, which holds
// the partition's row. Another one claims the partition all the same, and the first stores nothing
// more.
func TestFrozenOwnerIsDeposed(t *testing.T) {
	url := pgtest.Database(t)
	fresh := open(t, url)
	defer fresh.Close() //nolint:errcheck // it always works
	var p *proxy
	frozen := make(chan struct{})
	freeze := sync.OnceFunc(func() {
		p.freeze()
		close(frozen)
	})
	armed := make(chan struct{})
	p = newProxy(t, pgtest.Address(t, url), func(direction int, kind byte, _ []byte) bool {
		select {
		case <-armed:
			if direction == toServer && kind == copyDone {
				freeze()
			}
		default:
		}
		return false
	})
	old := open(t, pgtest.Through(t, url, p.address))
	claim, err := old.Claim(within(t), 0)
	require.NoError(t, err)
	s := ledgertest.NewScript("one")
	batch := func(c sink.Claim, seq uint64) sink.Batch {
		s.Next(0, ledgertest.Raw("x"))
		return sink.Batch{Claim: c, Position: sink.Position{Seq: seq}, Entries: []sink.Entry{s.Entry(seq, s.Record())}}
	}
	_, err = old.Store(within(t), batch(claim, 1))
	require.NoError(t, err)

	close(armed)
	second := batch(claim, 2)
	stored := make(chan error, 1)
	go func() {
		_, err := old.Store(context.Background(), second)
		stored <- err
	}()
	<-frozen
	began := time.Now()
	next, err := fresh.Claim(within(t), 0)
	require.NoError(t, err)
	t.Log("claimed from a frozen owner after", time.Since(began))
	require.Less(t, time.Since(began), 8*time.Second)
	require.Equal(t, uint64(1), next.Position.Seq, "what was not committed is gone")
	p.thaw()
	require.Error(t, <-stored)
	_, err = old.Store(within(t), second)
	require.ErrorIs(t, err, sink.ErrFenced)
	second.Claim = next
	_, err = fresh.Store(within(t), second)
	require.NoError(t, err)
	sum, err := fresh.Transcript(within(t), s.Transcript(0))
	require.NoError(t, err)
	require.Equal(t, uint64(2), sum.Head)
	require.NoError(t, old.Close())
}
