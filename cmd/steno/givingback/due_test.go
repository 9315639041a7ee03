package givingback_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/archive/keeper"
	"github.com/steno-io/steno/translate/stage"
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

// TestABadCaptureStopsNoOther: of five captures four cannot be sealed, for a reason that is their own.
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
	require.NoError(t, k.Round(bounded(t)))
	require.Equal(t, uint64(2), s.of("e").sealed())
}

// denying is a store that denies the folders of some captures.
type denying struct {
	archive.Store
	runs []string
}

var errDenied = errors.New("access denied")

func (d *denying) List(ctx context.Context, prefix string) iter.Seq2[archive.Listed, error] {
	if slices.ContainsFunc(d.runs, func(run string) bool { return strings.Contains(prefix, "/"+run+"/") }) {
		return func(yield func(archive.Listed, error) bool) { yield(archive.Listed{}, errDenied) }
	}
	return d.Store.List(ctx, prefix)
}

// TestAnArchiveThatFailsEndsTheRound after three captures; the next round begins behind them, so that those come to
// their turn that may be had.
func TestAnArchiveThatFailsEndsTheRound(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.translate()
	names := []string{"a", "b", "c", "d", "e"}
	for _, name := range names {
		one := s.of(name)
		one.append("one", frames(1, 2))
		one.stored(2)
	}
	denied := &denying{s.store, names[:4]}
	k := s.keeper(s.JS, func(o *keeper.Options) { o.Keep, o.Log, o.Store = 0, zerolog.Nop(), denied })
	require.ErrorIs(t, k.Round(bounded(t)), errDenied)
	require.Zero(t, s.of("e").sealed())
	require.NoError(t, k.Round(bounded(t)))
	require.Equal(t, uint64(2), s.of("e").sealed())
}

// TestAnotherArchiveFromNowOn: what was given back to one archive is sealed into another one out of it; where it is
// not to be had nothing is begun.
func TestAnotherArchiveFromNowOn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	stop := s.translate()
	s.append("one", frames(1, 12))
	s.settled(12)
	require.NoError(t, s.keeper(s.JS).Round(bounded(t)))
	stop()
	first := s.store
	var err error
	s.store, err = archive.OpenDir(filepath.Join(t.TempDir(), "another"), true)
	require.NoError(t, err)
	away := errors.New("the disk is in the cupboard")
	for _, open := range []func(context.Context, string) (archive.Store, error){
		nil, func(context.Context, string) (archive.Store, error) { return nil, away },
	} {
		require.NoError(t, s.keeper(s.JS, func(o *keeper.Options) { o.Open = open }).Round(bounded(t)), "which is logged")
		for o, err := range s.store.List(bounded(t), archive.Folder(s.id)) {
			require.NoError(t, err)
			require.Fail(t, "something was begun", o.Name)
		}
	}
	require.NoError(t, s.keeper(s.JS, func(o *keeper.Options) {
		o.Open = func(_ context.Context, place string) (archive.Store, error) {
			require.Equal(t, first.String(), place)
			return first, nil
		}
	}).Round(bounded(t)))
	require.Equal(t, uint64(12), s.sealed())
	s.translate()
	s.append("one", frames(13, 15))
	s.settled(15)
	require.NoError(t, s.keeper(s.JS).Round(bounded(t)))
	require.Equal(t, [2]int{1, 1}, s.leftOfBoth())
	s.whole()
}

// TestASnapshotIsAskedFor: a translator was stopped before it saved a capture, and the next one has no reason to look
// at it. What holds the capture is said once.
func TestASnapshotIsAskedFor(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	stop := s.translate(func(o *stage.Options) { o.IdleAfter = time.Hour })
	s.append("one", frames(1, 12))
	s.stored(12)
	key := topology.ParkedSubject(topology.MarkKey(s.id.Partition(s.Info.Partitions)))
	require.Eventually(t, func() bool {
		_, ok, err := topology.Last(bounded(t), s.JS, topology.ParkedStream, key)
		return err == nil && ok
	}, within, 2*time.Millisecond)
	stop()
	all := s.leftOfBoth()
	var log bytes.Buffer
	k := s.keeper(s.JS, func(o *keeper.Options) { o.Log = zerolog.New(&log).Level(zerolog.WarnLevel) })
	for range 2 {
		require.NoError(t, k.Round(bounded(t)))
	}
	require.Equal(t, all, s.leftOfBoth())
	require.Equal(t, 1, strings.Count(log.String(), "\n"), log.String())
	require.Contains(t, log.String(), "it has no snapshot")
	s.translate()
	require.Eventually(t, func() bool {
		require.NoError(t, k.Round(bounded(t)))
		return s.leftOfBoth() == [2]int{1, 1}
	}, within, 10*time.Millisecond)
	s.whole()
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
