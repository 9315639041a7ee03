package parked_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/parked"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/ledgertest"
	"github.com/steno-io/steno/sink/sqlite"
)

const captures = 200

// recorded is a ledger of many captures, the newest first: each fourth has ended, the others are open, and of
// the oldest the ledger itself knows that it is parked.
func recorded(t *testing.T) (l *sqlite.Ledger, ids []schema.Identity) {
	t.Helper()
	l, err := sqlite.Open(filepath.Join(t.TempDir(), "ledger.db"), sqlite.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	claim, err := l.Claim(t.Context(), 0)
	require.NoError(t, err)
	batch := sink.Batch{Claim: claim}
	store := func(s *ledgertest.Script, r schema.Record) {
		batch.Entries = append(batch.Entries, s.Entry(uint64(len(batch.Entries)+1), r))
	}
	for i := range captures {
		s := ledgertest.NewScript(fmt.Sprintf("run-%d", i))
		ids = append(ids, s.ID)
		s.Next(0, ledgertest.Prompt("words"))
		r := s.Record()
		if i%4 == 0 {
			r.About = map[uint32]schema.About{0: {Status: schema.StatusEnded}}
		}
		store(s, r)
		if i == 0 {
			s.Next(0, ledgertest.Raw("left out"))
			s.Record()
			s.Next(0, ledgertest.Raw("behind a gap"))
			store(s, s.Record())
		}
	}
	last := batch.Entries[len(batch.Entries)-1]
	batch.Position = sink.Position{Created: ledgertest.Epoch, Seq: last.Seq, Digest: last.Digest}
	_, err = l.Store(t.Context(), batch)
	require.NoError(t, err)
	for n := 1; n > 0; {
		n, err = l.Index(t.Context())
		require.NoError(t, err)
	}
	slices.Reverse(ids)
	return l, ids
}

// names are the keys of the captures that are to be listed.
func names(ids []schema.Identity, listed func(i int) bool) (out []string) {
	for i, id := range ids {
		if listed(i) {
			out = append(out, schema.Transcript{Identity: id, Session: 0}.String())
		}
	}
	return out
}

// What the translators have parked is marked, wherever it is read, and asked for by that status and by no
// other; each page is full, however rare it is.
func TestView(t *testing.T) {
	l, ids := recorded(t)
	theirs := []int{3, 7, 8, 150, 198} // 3, 7 and 198 are open in the ledger's eyes, the others too but 3 and 7
	is := func(i int) bool { return slices.Contains(theirs, i) || i == captures-1 }
	ended := func(i int) bool { return (captures-1-i)%4 == 0 }
	var given []schema.Identity
	for _, i := range theirs {
		given = append(given, ids[i])
	}
	given = append(given, schema.Identity{Namespace: "default", Workflow: "test", Run: "not in the ledger", Attempt: 1})
	v := parked.Of(l, l, given...)
	for status, want := range map[schema.Status][]string{
		"":                     names(ids, func(int) bool { return true }),
		schema.StatusParked:    names(ids, is),
		schema.StatusEnded:     names(ids, func(i int) bool { return ended(i) && !is(i) }),
		schema.StatusOpen:      names(ids, func(i int) bool { return !ended(i) && !is(i) }),
		schema.StatusAbandoned: nil,
	} {
		filter := sink.Filter{Status: status}
		for _, limit := range []int{0, 1, 4, 50} {
			check := func(summaries []sink.Summary, next string, usual int) {
				t.Helper()
				if most := limit; next != "" {
					if most == 0 {
						most = usual
					}
					require.Len(t, summaries, most, "status %q, limit %d: a page that is not the last", status, limit)
				}
				for _, s := range summaries {
					i := slices.Index(ids, s.Transcript.Identity)
					require.Equal(t, is(i), s.Status == schema.StatusParked, s.Key)
					require.True(t, !is(i) || s.IdleSince.IsZero(), s.Key)
				}
			}
			var listed, found []string
			for q := (sink.Query{Filter: filter, Limit: limit}); ; {
				page, err := v.Transcripts(t.Context(), q)
				require.NoError(t, err)
				check(page.Transcripts, page.Next, sink.MaxPage)
				for _, s := range page.Transcripts {
					listed = append(listed, s.Key)
				}
				if q.After = page.Next; q.After == "" {
					break
				}
			}
			require.Equal(t, want, listed, "status %q, limit %d", status, limit)
			for q := (sink.SearchQuery{Filter: filter, Limit: limit, Text: "words"}); ; {
				page, err := v.Search(t.Context(), q)
				require.NoError(t, err)
				var of []sink.Summary
				for _, h := range page.Hits {
					of = append(of, h.Summary)
					found = append(found, h.Summary.Key)
				}
				check(of, page.Next, sink.DefaultHits)
				if q.After = page.Next; q.After == "" {
					break
				}
			}
			require.ElementsMatch(t, want, found, "status %q, limit %d", status, limit)
		}
	}

	for i, id := range ids[:10] {
		s, err := v.Transcript(t.Context(), schema.Transcript{Identity: id, Session: 0})
		require.NoError(t, err)
		require.Equal(t, is(i), s.Status == schema.StatusParked)
		require.Equal(t, is(i), s.IdleSince.IsZero())
	}
	_, err := v.Transcript(t.Context(), schema.Transcript{Identity: given[len(given)-1], Session: 0})
	require.ErrorIs(t, err, sink.ErrNotFound)
	_, err = v.Transcripts(t.Context(), sink.Query{After: "no cursor"})
	require.ErrorIs(t, err, sink.ErrCursor)
	_, err = v.Search(t.Context(), sink.SearchQuery{})
	require.ErrorIs(t, err, sink.ErrNoWords)
}

// Where it is not known what is parked, nothing is read as if nothing were.
func TestViewFailsWithoutTheList(t *testing.T) {
	l, ids := recorded(t)
	lost := errors.New("the list cannot be read")
	v := parked.View{Reader: l, Searcher: l, Parked: func(context.Context) (map[schema.Identity]bool, error) { return nil, lost }}
	_, err := v.Transcripts(t.Context(), sink.Query{})
	require.ErrorIs(t, err, lost)
	_, err = v.Transcript(t.Context(), schema.Transcript{Identity: ids[0], Session: 0})
	require.ErrorIs(t, err, lost)
	_, err = v.Search(t.Context(), sink.SearchQuery{Text: "words"})
	require.ErrorIs(t, err, lost)
}
