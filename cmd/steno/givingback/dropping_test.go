package givingback_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/archive/keeper"
	"github.com/steno-io/steno/sink/verify"
)

// dropping makes a keeper drop from the ledger what is sealed, however young.
func (s *site) dropping(o *keeper.Options) {
	o.Drop, o.Dropper, o.Claimed = time.Nanosecond, s.ledger, s.sink.Claimed
}

// indexed fills the search.
func (s *site) indexed() {
	s.t.Helper()
	for n := 1; n > 0; {
		var err error
		n, err = s.ledger.Index(bounded(s.t))
		require.NoError(s.t, err)
	}
}

// events reads all that a ledger has of the capture, session by session.
func (s *site) events(l verify.Ledger) map[uint32][]sink.Event {
	s.t.Helper()
	info, err := l.Capture(bounded(s.t), s.id)
	require.NoError(s.t, err)
	out := map[uint32][]sink.Event{}
	for _, session := range info.Sessions {
		for e, err := range l.Events(bounded(s.t), schema.Transcript{Identity: s.id, Session: session.Session}, 0, 0) {
			require.NoError(s.t, err)
			out[session.Session] = append(out[session.Session], e)
		}
		require.Len(s.t, out[session.Session], int(session.Head))
	}
	return out
}

func (s *site) stats() sink.Stats {
	s.t.Helper()
	stats, err := s.ledger.Stats(bounded(s.t))
	require.NoError(s.t, err)
	return stats
}

// TestDroppedFromTheLedger drops what is sealed, gives it back as well, and goes on: with late frames, with another
// archive, and without any.
func TestDroppedFromTheLedger(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.translate()
	s.append("one", frames(1, 25))
	s.settled(25)
	s.indexed()
	want := s.events(s.ledger)
	require.NoError(t, s.keeper(s.JS, s.dropping).Round(bounded(t)))
	before := s.stats()
	require.Equal(t, before.Events-1, before.Dropped, "the last one of its only session stays")
	require.Equal(t, want, s.events(s.through()))
	require.Equal(t, [2]int{1, 1}, s.leftOfBoth(), "and the streams have given it back")
	s.whole()
	key := schema.Transcript{Identity: s.id}
	for after := range before.Events {
		for _, limit := range []int{1, 7} {
			at := after
			for e, err := range s.through().Events(bounded(t), key, after, limit) {
				require.NoError(t, err)
				require.Equal(t, want[0][at], e)
				at++
			}
			require.Equal(t, min(after+uint64(limit), before.Events), at)
		}
	}

	s.append("two", frames(2, 9))
	s.settled(33)
	s.indexed()
	require.NoError(t, s.keeper(s.JS, s.dropping).Round(bounded(t)))
	require.Equal(t, s.stats().Events-1, s.stats().Dropped)
	s.whole()
	want = s.events(s.through())

	// Another archive is sealed into out of the first.
	first := s.store
	second, err := archive.OpenDir(filepath.Join(t.TempDir(), "second"), true)
	require.NoError(t, err)
	s.store = second
	require.NoError(t, s.keeper(s.JS, s.dropping, func(o *keeper.Options) {
		o.Open = func(_ context.Context, place string) (archive.Store, error) {
			require.Equal(t, first.String(), place)
			return first, nil
		}
	}).Round(bounded(t)))
	require.Equal(t, want, s.events(s.through()), "it has them, too")
	s.whole()

	var cache archive.Cache
	shared := func(store archive.Store) archive.Through {
		return archive.Through{Kept: s.ledger, Dropped: archive.NewDropped(&cache, func(context.Context, sink.Dropped) (archive.Store, error) { return store, nil })}
	}
	require.Equal(t, want, s.events(shared(first)))
	require.Equal(t, want, s.events(shared(unread{first, t})), "what one has read the others need not")

	away := errors.New("the disk is in the cupboard")
	nowhere := archive.Through{Kept: s.ledger, Dropped: archive.NewDropped(nil, func(context.Context, sink.Dropped) (archive.Store, error) { return nil, away })}
	empty, err := archive.OpenDir(t.TempDir(), false)
	require.NoError(t, err)
	other := archive.Through{Kept: s.ledger, Dropped: archive.NewDropped(nil, func(context.Context, sink.Dropped) (archive.Store, error) { return empty, nil })}
	for name, l := range map[string]verify.Ledger{"by itself": s.ledger, "away": nowhere, "another archive": other} {
		n := 0
		for _, err := range l.Events(bounded(t), key, 3, 0) {
			var dropped *sink.DroppedError
			require.ErrorAs(t, err, &dropped, name)
			require.Equal(t, first.String(), dropped.Archive, name)
			require.ErrorContains(t, err, "in archive "+first.String(), name)
			n++
		}
		require.Equal(t, 1, n, "%s: nothing is passed over", name)
	}
}

// unread is an archive of which nothing need be read.
type unread struct {
	archive.Store
	t *testing.T
}

func (u unread) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	u.t.Errorf("%s is read again", name)
	return u.Store.Open(ctx, name)
}

// TestNothingIsDroppedThatIsHeld: each of what must be so before anything is.
func TestNothingIsDroppedThatIsHeld(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.translate()
	s.append("one", frames(1, 12))
	s.settled(12)
	kept := func(why string, change ...func(*keeper.Options)) {
		t.Helper()
		change = append([]func(*keeper.Options){s.dropping, func(o *keeper.Options) { o.Keep = 0 }}, change...)
		require.NoError(t, s.keeper(s.JS, change...).Round(bounded(t)))
		require.Zero(t, s.stats().Dropped, why)
		s.whole()
	}
	kept("it is not indexed")
	s.indexed()
	kept("nobody wishes it", func(o *keeper.Options) { o.Drop = 0 })
	kept("it came to be here just now", func(o *keeper.Options) { o.Drop = time.Hour })
	kept("it is another's", func(o *keeper.Options) { o.Owns = func(uint32) bool { return false } })
	kept("the claim is another's", func(o *keeper.Options) {
		o.Claimed = func(uint32) (sink.Claim, bool) { return sink.Claim{}, false }
	})
	kept("the claim is over", func(o *keeper.Options) {
		o.Claimed = func(partition uint32) (sink.Claim, bool) {
			c, ok := s.sink.Claimed(partition)
			c.Epoch--
			return c, ok
		}
	})
	parts, err := filepath.Glob(filepath.Join(s.store.String(), "*", "*", "*", "*", "*", "events-*"))
	require.NoError(t, err)
	require.NotEmpty(t, parts)
	for _, name := range parts {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		changed := append([]byte(nil), text...)
		changed[len(changed)/2] ^= 1
		require.NoError(t, os.WriteFile(name, changed, 0o600))
		require.NoError(t, s.keeper(s.JS, s.dropping).Round(bounded(t)))
		require.Zero(t, s.stats().Dropped, "a file of the archive is changed")
		require.NoError(t, os.WriteFile(name, text, 0o600))
	}
	require.NoError(t, s.keeper(s.JS, s.dropping).Round(bounded(t)))
	require.Equal(t, s.stats().Events-1, s.stats().Dropped, "nothing holds it any more")
	s.whole()

	for _, name := range parts { // what is read is held against what was dropped
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		text[len(text)/2] ^= 1
		require.NoError(t, os.WriteFile(name, text, 0o600))
	}
	n := 0
	for _, err := range s.through().Events(bounded(t), schema.Transcript{Identity: s.id}, 0, 0) {
		require.ErrorContains(t, err, "SHA-256")
		n++
	}
	require.Equal(t, 1, n)
}

// dropper drops nothing: each session fails in its own way.
type dropper map[uint32]error

func (d dropper) Drop(_ context.Context, _ sink.Claim, piece sink.Dropped) (bool, error) {
	return false, d[piece.Transcript.Session]
}

// TestAClaimThatIsOverHidesNothing that failed before it was found to be over.
func TestAClaimThatIsOverHidesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.translate()
	all := frames(1, 3)
	all[2].From, all[2].Data = schema.FromClient, []byte(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"a","prompt":[{"type":"text","text":"Go"}]}}`)
	s.append("one", all)
	s.settled(3)
	for _, tt := range []struct {
		fails dropper
		says  string
	}{
		{dropper{0: errors.New("the disk is full"), 1: fmt.Errorf("epoch 1 is over: %w", sink.ErrFenced)}, "the disk is full"},
		{dropper{0: fmt.Errorf("epoch 1 is over: %w", sink.ErrFenced), 1: errors.New("nobody asks for it")}, ""},
	} {
		var log strings.Builder
		require.NoError(t, s.keeper(s.JS, s.dropping, func(o *keeper.Options) {
			o.Keep, o.Dropper, o.Log = 0, tt.fails, zerolog.New(&log).Level(zerolog.WarnLevel)
		}).Round(bounded(t)))
		if tt.says == "" {
			require.Empty(t, log.String())
			continue
		}
		require.Contains(t, log.String(), tt.says)
		require.NotContains(t, log.String(), "is over", "another one drops")
	}
}
