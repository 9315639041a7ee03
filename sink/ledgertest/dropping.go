package ledgertest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// Piece makes the piece of a transcript's events from first to last, which are there as numbered.
func Piece(key schema.Transcript, events [][]byte, first, last uint64) sink.Dropped {
	d := sink.Dropped{Transcript: key, First: first, Last: last, Archive: "s3://mill/steno", Seal: 99}
	for _, e := range events[first-1 : last] {
		d.Add(e)
	}
	return d
}

// drop drops events, which must be possible.
func (b *bench) drop(key schema.Transcript, events [][]byte, first, last uint64) {
	b.t.Helper()
	ok, err := b.Drop(ctx(), b.claim, Piece(key, events, first, last))
	require.NoError(b.t, err)
	require.True(b.t, ok)
}

// through reads a transcript to its end; what was dropped is taken from kept, once it is found to be what the ledger
// says.
func through(t testing.TB, l sink.Reader, key schema.Transcript, kept [][]byte, limit int) [][]byte {
	t.Helper()
	out := [][]byte{}
	for more := true; more; {
		more = false
		for e, err := range l.Events(within(t), key, uint64(len(out)), limit) {
			var d *sink.DroppedError
			if errors.As(err, &d) {
				require.Equal(t, key, d.Transcript)
				require.ErrorContains(t, err, "in archive s3://mill/steno, and not in the ledger any more")
				for n := uint64(len(out)) + 1; n <= d.Last; n++ {
					require.True(t, d.Is(n, kept[n-1]), "event %d", n)
					out = append(out, kept[n-1])
				}
				more = true
				break
			}
			require.NoError(t, err)
			require.Equal(t, uint64(len(out)+1), e.Seq)
			out = append(out, e.Bytes)
			more = limit > 0
		}
	}
	return out
}

// prompts makes a record of n events of session 1, each of which says how many are before it.
func prompts(s *Script, n int) schema.Record {
	for range n {
		s.Next(1, Prompt(counting(int(s.ordinals[1]))))
	}
	return s.Record()
}

// counting is what the event says before which there are n.
func counting(n int) string { return fmt.Sprintf("counted count%d", n) }

func dropping(t *testing.T, b *bench) {
	s, other := NewScript("one"), NewScript("two")
	first, second := prompts(s, 5), prompts(s, 5)
	b.store(s, first, second)
	b.store(other, prompts(other, 3))
	b.index()
	key := s.Transcript(1)
	want := numbered(t, first, second)
	line, err := b.Transcript(ctx(), key)
	require.NoError(t, err)
	found := b.hits(sink.SearchQuery{Text: "count2"})
	require.Equal(t, want, through(t, b, key, nil, 0), "nothing was dropped")

	b.drop(key, want, 1, 3)
	b.drop(key, want, 4, 4)
	b.drop(key, want, 4, 4) // as after an answer that was lost
	b.drop(key, want, 1, 3)
	for range 2 {
		for _, limit := range []int{0, 1, 4} {
			require.Equal(t, want, through(t, b, key, want, limit))
		}
		n := 0
		for e, err := range b.Events(ctx(), key, 4, 2) {
			require.NoError(t, err, "what is there needs no archive")
			require.Equal(t, want[4+n], e.Bytes)
			n++
		}
		require.Equal(t, 2, n)
		now, err := b.Transcript(ctx(), key)
		require.NoError(t, err)
		require.Equal(t, line, now)
		info, err := b.Capture(ctx(), s.ID)
		require.NoError(t, err)
		require.Equal(t, []sink.SessionInfo{{Session: 0}, {Session: 1, Head: 10, Dropped: 4, Frames: 10}}, info.Sessions)
		stats, err := b.Stats(ctx())
		require.NoError(t, err)
		require.Equal(t, [3]uint64{13, 4, 0}, [3]uint64{stats.Events, stats.Dropped, stats.Indexing.Behind})
		require.Equal(t, found, b.hits(sink.SearchQuery{Text: "count2"}), "it is found all the same")
		b.reopen()
	}
	page, err := b.Search(ctx(), sink.SearchQuery{Text: "count2"})
	require.NoError(t, err)
	require.Nil(t, page.Hits[0].Dropped, "the other capture's")
	hit := page.Hits[1]
	require.Equal(t, [3]uint64{3, 3, 3}, [3]uint64{hit.Dropped.First, hit.Dropped.Last, hit.Seq}, "with no digest but its own")
	require.NoError(t, hit.Dropped.Check())
	require.True(t, hit.Dropped.Is(3, want[2]))
	require.Equal(t, line, hit.Summary)
	require.Equal(t, At(3), hit.At)

	third := prompts(s, 3) // and it goes on
	require.Equal(t, 3, b.store(s, third).Events)
	b.index()
	want = numbered(t, first, second, third)
	b.drop(key, want, 5, 12)
	require.Equal(t, want, through(t, b, key, want, 0))
	require.Equal(t, []string{"one/1:11"}, b.hits(sink.SearchQuery{Text: "count10"}))
	fourth := prompts(s, 1)
	b.store(s, fourth)
	b.index()
	require.Equal(t, []string{"one/1:14"}, b.hits(sink.SearchQuery{Text: "count13"}), "what comes behind is indexed, too")
}

func droppedAgain(t *testing.T, b *bench) {
	s := NewScript("one")
	first, second := prompts(s, 5), prompts(s, 5)
	b.store(s, first, second)
	b.index()
	key := s.Transcript(1)
	want := numbered(t, first, second)
	b.drop(key, want, 1, 4)
	b.drop(key, want, 5, 8)
	out := b.store(s, first, second)
	require.Zero(t, out.Events, "it is already there")
	require.Empty(t, out.Parked)
	require.Equal(t, want, through(t, b, key, want, 0))
	info, err := b.Capture(ctx(), s.ID)
	require.NoError(t, err)
	require.Equal(t, uint64(10), info.Accounted, "no frame counts twice")

	forger := NewScript("one")
	_ = prompts(forger, 5)
	for n := range 5 {
		forger.Next(1, Prompt(counting(n+5+n/2)))
	}
	forged := forger.Record()
	out = b.store(s, forged)
	require.Len(t, out.Parked, 1)
	sum := sha256.Sum256(want[7])
	require.Equal(t, sink.Parked{
		Capture: s.ID, Reason: sink.ReasonChanged, Session: 1, Ordinal: 8, Have: []byte("sha256:" + hex.EncodeToString(sum[:])),
		Got: forgedAt(t, forged, 2, 8), Seq: b.seq, At: Epoch.Add(1e9 * 5),
	}, out.Parked[0])
	require.Equal(t, want, through(t, b, key, want, 0), "nothing is overwritten")
	ok, err := b.Redrive(ctx(), b.claim, s.ID)
	require.NoError(t, err)
	require.True(t, ok)
	b.reopen()
	third := prompts(s, 2)
	require.Equal(t, 2, b.store(s, first, second, third).Events, "read again from the first message")
	require.Nil(t, b.parked(s))
	require.Equal(t, numbered(t, first, second, third), through(t, b, key, want, 0))
}

func forgedAt(t *testing.T, r schema.Record, i int, seq uint64) []byte {
	t.Helper()
	e, err := schema.WithStoreSeq(r.Events[i], seq)
	require.NoError(t, err)
	return e
}

func notDropped(t *testing.T, b *bench) {
	s := NewScript("one")
	r := prompts(s, 9)
	b.store(s, r)
	key := s.Transcript(1)
	want := numbered(t, r)
	ok, err := b.Drop(ctx(), b.claim, Piece(key, want, 1, 4))
	require.NoError(t, err)
	require.False(t, ok, "it is not indexed yet")
	b.index()
	changed := append([][]byte{}, want...)
	changed[3] = append([]byte(" "), want[3]...)
	nameless := Piece(key, want, 1, 4)
	nameless.Archive = ""
	short := Piece(key, want, 1, 4)
	short.Last = 5
	for name, tt := range map[string]struct {
		d   sink.Dropped
		err error
	}{
		"another event":         {Piece(key, changed, 1, 4), sink.ErrOther},
		"not the next":          {Piece(key, want, 2, 4), nil},
		"the last one":          {Piece(key, want, 1, 9), nil},
		"behind the last one":   {Piece(key, append(want, want...), 1, 12), nil},
		"nothing":               {sink.Dropped{Transcript: key, Archive: "a"}, nil},
		"no archive":            {nameless, nil},
		"too few digests":       {short, nil},
		"no session of it":      {Piece(s.Transcript(7), want, 1, 4), sink.ErrNotFound},
		"no such capture":       {Piece(NewScript("nobody").Transcript(1), want, 1, 4), sink.ErrNotFound},
		"a session that is new": {Piece(s.Transcript(0), want, 1, 1), nil},
	} {
		ok, err := b.Drop(ctx(), b.claim, tt.d)
		require.Error(t, err, name)
		require.False(t, ok, name)
		if tt.err != nil {
			require.ErrorIs(t, err, tt.err, name)
		}
		require.Equal(t, want, b.events(key), name)
	}
	late := b.claim
	b.reopen()
	_, err = b.Drop(ctx(), late, Piece(key, want, 1, 4))
	require.ErrorIs(t, err, sink.ErrFenced)
	require.Equal(t, want, b.events(key))
	require.EqualValues(t, 1, b.position().Seq, "a claim that holds keeps its position")
	b.drop(key, want, 1, 4)
	require.EqualValues(t, 1, b.position().Seq)
	_, err = b.Drop(ctx(), late, Piece(key, want, 1, 4))
	require.ErrorIs(t, err, sink.ErrFenced, "also where nothing is to be done")
}

// dropFailures fails every drop in both ways, once and twice, and checks from the outside after each that the
// transcript is whole.
func dropFailures(t *testing.T, b *bench) {
	s := NewScript("one")
	r := prompts(s, 20)
	b.store(s, r)
	b.index()
	key := s.Transcript(1)
	want := numbered(t, r)
	faulty := &Faulty{}
	for i, faults := range [][]Fault{{Refuse}, {Forget}, {Refuse, Refuse}, {Forget, Forget}, {Refuse, Forget}, {Forget, Refuse}} {
		faulty.Ledger = b.Ledger
		left := faults
		faulty.Plan = func(int, string) Fault {
			if len(left) == 0 {
				return None
			}
			f := left[0]
			left = left[1:]
			return f
		}
		d := Piece(key, want, uint64(3*i+1), uint64(3*i+3))
		dropped := 3 * i
		for _, f := range faults {
			_, err := faulty.Drop(ctx(), b.claim, d)
			require.ErrorIs(t, err, ErrFault)
			if f == Forget {
				dropped = 3*i + 3
			}
			stats, err := b.Stats(ctx())
			require.NoError(t, err)
			require.EqualValues(t, dropped, stats.Dropped)
			require.Equal(t, want, through(t, b, key, want, 0))
		}
		ok, err := faulty.Drop(ctx(), b.claim, d)
		require.NoError(t, err)
		require.True(t, ok)
		b.reopen()
		require.Equal(t, want, through(t, b, key, want, 0), fmt.Sprint(faults))
		require.Zero(t, b.store(s, r).Events)
		require.Nil(t, b.parked(s))
	}
	b.foundOnce(s, 20)
}

// largePieces drops as many events as a piece may have, and reads them again from the first.
func largePieces(t *testing.T, b *bench) {
	s := NewScript("one")
	r := prompts(s, sink.MaxDropped+10)
	b.store(s, r)
	b.index()
	key := s.Transcript(1)
	want := numbered(t, r)
	_, err := b.Drop(ctx(), b.claim, Piece(key, want, 1, sink.MaxDropped+1))
	require.Error(t, err)
	b.drop(key, want, 1, sink.MaxDropped)
	require.Zero(t, b.store(s, r).Events)
	require.Nil(t, b.parked(s))
	require.Equal(t, want, through(t, b, key, want, 0))
}

// droppedBeside drops while the same partition is stored, and is read.
func droppedBeside(t *testing.T, b *bench) {
	s := NewScript("one")
	var records []schema.Record
	for range 20 {
		records = append(records, prompts(s, 5))
	}
	want := numbered(t, records...)
	key := s.Transcript(1)
	reader := b.open(t, "ledger")
	defer reader.Close() //nolint:errcheck // it only read
	stored := make(chan uint64, len(records))
	done := make(chan error, 1)
	go func() {
		defer close(done)
		next := uint64(1)
		for head := range stored {
			for next < head {
				ok, err := b.Drop(ctx(), b.claim, Piece(key, want, next, next))
				if err != nil {
					done <- err
					return
				}
				if !ok {
					if _, err = b.Index(ctx()); err != nil {
						done <- err
						return
					}
					break
				}
				next++
			}
		}
	}()
	for i, r := range records {
		b.store(s, r)
		stored <- uint64(5 * (i + 1))
		got := through(t, reader, key, want, 0)
		require.Equal(t, want[:5*(i+1)], got)
	}
	close(stored)
	require.NoError(t, <-done)
	stats, err := b.Stats(ctx())
	require.NoError(t, err)
	require.NotZero(t, stats.Dropped)
	b.index()
	b.foundOnce(s, 100)
}
