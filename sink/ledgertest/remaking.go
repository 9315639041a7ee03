package ledgertest

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink"
)

// RunRemade takes the index of a ledger away that has dropped events: what only an archive has is missed for as long as
// none is to be had, and counted. remake makes a store's index begin anew.
func RunRemade(t *testing.T, open func(t testing.TB, name string, sealed sink.Sealed) Ledger, remake func(t testing.TB, name string)) {
	var sealed sink.Sealed
	b := &bench{t: t, open: func(t testing.TB, name string) Ledger { return open(t, name, sealed) }}
	b.reopen()
	s, whole := NewScript("one"), NewScript("two")
	r := prompts(s, 30)
	b.store(s, r)
	b.store(whole, prompts(whole, 30))
	b.index()
	want := numbered(t, r)
	key := s.Transcript(1)
	b.drop(key, want, 1, 12)
	b.drop(key, want, 13, 20)
	both := []string{"two/1:3", "one/1:3"}
	require.Equal(t, both, b.hits(sink.SearchQuery{Text: "count2"}))

	remake(t, "ledger")
	b.reopen()
	indexed := func() (failed error) {
		for n := 1; n > 0; {
			var err error
			if n, err = b.Index(ctx()); err != nil {
				return err
			}
		}
		return nil
	}
	behind := func() uint64 {
		now, err := b.Indexing(ctx())
		require.NoError(t, err)
		return now.Behind
	}
	require.GreaterOrEqual(t, behind(), uint64(60))
	require.NoError(t, indexed())
	missing := behind()
	require.Contains(t, []uint64{20, 30}, missing, "no archive is to be had; the rest of the transcript may wait for it")
	require.Equal(t, both[:1], b.hits(sink.SearchQuery{Text: "count2"}))

	away := errors.New("the disk is in the cupboard")
	given, lost := 0, true
	sealed = func(_ context.Context, d sink.Dropped, from uint64) iter.Seq2[sink.Event, error] {
		return func(yield func(sink.Event, error) bool) {
			for n := from; n <= d.Last; n++ {
				if lost && n == 5 {
					yield(sink.Event{}, away)
					return
				}
				given++
				if !yield(sink.Event{Seq: n, Bytes: want[n-1]}, nil) {
					return
				}
			}
		}
	}
	b.reopen()
	b.store(whole, prompts(whole, 1))
	require.ErrorContains(t, indexed(), away.Error())
	require.Equal(t, missing, behind())
	require.Equal(t, []string{"two/1:31"}, b.hits(sink.SearchQuery{Text: "count30"}), "nothing else waits for it")
	lost, given = false, 0
	b.index()
	require.Equal(t, 20, given, "nothing is read twice")
	for n := range 30 {
		require.Len(t, b.hits(sink.SearchQuery{Text: counting(n)}), 2, "%d", n)
	}
	b.drop(key, want, 21, 25)
	b.store(s, prompts(s, 2))
	b.index()
	require.Equal(t, []string{"one/1:32"}, b.hits(sink.SearchQuery{Text: "count31"}))
	require.Equal(t, both, b.hits(sink.SearchQuery{Text: "count2"}))
}
