package givingback_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/archive/keeper"
)

// of is the same site, for another capture.
func (s *site) of(run string) *site {
	other := *s
	other.id.Run, other.told = run, nil
	return &other
}

// sealed is the last frame that the archive has of the capture.
func (s *site) sealed() uint64 {
	s.t.Helper()
	last, err := archive.Archived{Store: s.store}.Last(bounded(s.t), s.id)
	require.NoError(s.t, err)
	if last == nil {
		return 0
	}
	return last.Last
}

// TestWhatIsDueIsSealed: what has ended, what is long, and what was silent; and nothing else.
func TestWhatIsDueIsSealed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.translate()
	fresh, long, ended := s.of("fresh"), s.of("long"), s.of("ended")
	fresh.append("one", frames(1, 3))
	long.append("one", frames(1, 6))
	last := frames(3, 3)
	last[0].From, last[0].Type, last[0].End, last[0].Data = schema.FromControl, schema.TypeClose, schema.EndNone, []byte(`{"reason":"eof"}`)
	ended.append("one", append(frames(1, 2), last...))
	for _, one := range []*site{fresh, long, ended} {
		one.stored(uint64(len(one.told)))
	}
	options := func(o *keeper.Options) { o.Idle, o.Long, o.Keep = time.Hour, 6, 0 }
	k := s.keeper(s.JS, options)
	require.NoError(t, k.Round(bounded(t)))
	require.Equal(t, []uint64{0, 6, 3}, []uint64{fresh.sealed(), long.sealed(), ended.sealed()})
	long.append("one", frames(7, 9))
	long.stored(9)
	require.NoError(t, k.Round(bounded(t)))
	require.Equal(t, uint64(6), long.sealed(), "that is not much")
	require.NoError(t, s.keeper(s.JS, func(o *keeper.Options) { o.Keep = 0 }).Round(bounded(t)), "for whom a moment is long")
	require.Equal(t, []uint64{3, 9, 3}, []uint64{fresh.sealed(), long.sealed(), ended.sealed()})
}

// TestABadCaptureStopsNoOther: of five captures four cannot be sealed. The round ends after three of them, in case
// it is the archive; the next one leaves those out.
func TestABadCaptureStopsNoOther(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.translate()
	names := []string{"a", "b", "c", "d", "e"}
	for i, name := range names {
		one := s.of(name)
		one.append("one", frames(1, 2))
		one.stored(2)
		if i < 4 {
			folder := filepath.Join(s.store.String(), filepath.FromSlash(archive.Folder(one.id)))
			require.NoError(t, os.MkdirAll(folder, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(folder, "begun-000000000001.json"), []byte("{}"), 0o600))
		}
	}
	k := s.keeper(s.JS, func(o *keeper.Options) { o.Keep, o.Log = 0, zerolog.Nop() })
	require.ErrorContains(t, k.Round(bounded(t)), "3 captures in a row failed")
	require.Zero(t, s.of("e").sealed())
	require.NoError(t, k.Round(bounded(t)))
	require.Equal(t, uint64(2), s.of("e").sealed())
}

// TestAKeeperKeepsWhatItsSinkStores: and gives up what that gives back.
func TestAKeeperKeepsWhatItsSinkStores(t *testing.T) {
	t.Parallel()
	o := keeper.NewOwned(sink.Alone{})
	require.False(t, o.Owns(1))
	ctx, cancel := context.WithCancel(bounded(t))
	require.ErrorIs(t, o.Run(ctx, 2, func(ctx context.Context, partition uint32) error {
		require.True(t, o.Owns(partition))
		if partition == 1 {
			cancel()
		}
		<-ctx.Done()
		return ctx.Err()
	}), context.Canceled)
	require.False(t, o.Owns(0))
	require.False(t, o.Owns(1))
}
