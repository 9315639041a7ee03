package sqlite

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/ledgertest"
	"github.com/steno-io/steno/sink/tables"
)

// twoWriters is a ledger that two processes write, with its index, and events that an archive has.
type twoWriters struct {
	a, b   *Ledger
	claim  sink.Claim
	key    schema.Transcript
	events [][]byte
}

func newTwoWriters(t *testing.T) *twoWriters {
	w := &twoWriters{}
	path := filepath.Join(t.TempDir(), "ledger.db")
	sealed := func(_ context.Context, d sink.Dropped, from uint64) iter.Seq2[sink.Event, error] {
		return func(yield func(sink.Event, error) bool) {
			for seq := from; seq <= d.Last && yield(sink.Event{Seq: seq, Bytes: w.events[seq-1]}, nil); seq++ {
			}
		}
	}
	for _, l := range []**Ledger{&w.a, &w.b} {
		opened, err := Open(path, Options{Sealed: sealed})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, opened.Close()) })
		*l = opened
	}
	s := ledgertest.NewScript("one")
	w.key = s.Transcript(1)
	for i := range 6 {
		s.Next(1, ledgertest.Prompt(fmt.Sprintf("words count%d", i)))
	}
	r := s.Record()
	for i, e := range r.Events {
		e, err := schema.WithStoreSeq(e, uint64(i+1))
		require.NoError(t, err)
		w.events = append(w.events, e)
	}
	var err error
	w.claim, err = w.a.Claim(t.Context(), 0)
	require.NoError(t, err)
	_, err = w.a.Store(t.Context(), sink.Batch{Claim: w.claim, Entries: []sink.Entry{s.Entry(1, r)}})
	require.NoError(t, err)
	w.indexed(t, w.a)
	return w
}

func (w *twoWriters) indexed(t *testing.T, l *Ledger) {
	t.Helper()
	for n := 1; n > 0; {
		var err error
		n, err = l.Index(t.Context())
		require.NoError(t, err)
	}
}

func (w *twoWriters) found(t *testing.T) int {
	t.Helper()
	page, err := w.b.Search(t.Context(), sink.SearchQuery{Text: "words", Limit: sink.MaxHits})
	require.NoError(t, err)
	require.Zero(t, page.Indexing.Behind)
	return len(page.Hits)
}

// TestAnIndexThatIsTakenAwayHasNothing: one process is about to drop when the file goes, and another one makes the next,
// which knows of nothing that was dropped.
func TestAnIndexThatIsTakenAwayHasNothing(t *testing.T) {
	w := newTwoWriters(t)
	piece := ledgertest.Piece(w.key, w.events, 1, 4)
	require.NoError(t, w.a.useIndex(t.Context()))
	for _, end := range []string{"", "-wal", "-shm"} {
		require.NoError(t, os.Remove(indexPath(w.a.path)+end))
	}
	require.ErrorIs(t, w.a.dropIndexed(t.Context(), w.claim, &piece), tables.ErrNotIndexed, "there is none")
	require.NoError(t, w.b.useIndex(t.Context()))
	require.ErrorIs(t, w.a.dropIndexed(t.Context(), w.claim, &piece), tables.ErrNotIndexed, "the next one has nothing yet")
	w.indexed(t, w.b)
	require.Equal(t, 6, w.found(t))
	ok, err := w.a.Drop(t.Context(), w.claim, piece)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, 6, w.found(t))
}

// TestAnIndexIsMadeAnewBehindADrop that is not committed yet: it waits, and what was dropped is missing in it, and read in
// the archive.
func TestAnIndexIsMadeAnewBehindADrop(t *testing.T) {
	w := newTwoWriters(t)
	piece := ledgertest.Piece(w.key, w.events, 1, 4)
	made := make(chan error, 1)
	require.NoError(t, w.a.transact(t.Context(), func(ctx context.Context, a *writer) error {
		kept, err := a.session(ctx, &piece)
		require.NoError(t, err)
		require.NoError(t, w.a.indexHas(ctx, a, kept, &piece))
		require.NoError(t, a.drop(ctx, kept, &piece))
		_, err = w.a.index.db.ExecContext(ctx, `PRAGMA user_version = 99`)
		require.NoError(t, err)
		go func() { made <- w.b.useIndex(ctx) }()
		select {
		case err := <-made:
			t.Errorf("the index is made while the ledger is written: %v", err)
			made <- err
		case <-time.After(50 * time.Millisecond):
		}
		return nil
	}))
	require.NoError(t, <-made)
	w.indexed(t, w.b)
	require.Equal(t, 6, w.found(t))
}
