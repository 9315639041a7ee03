package givingback_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/archive/keeper"
	"github.com/steno-io/steno/translate/stage"
)

// TestEverythingWorksOn gives back all that may go of a capture that two journals wrote, then has late frames
// come: they are folded by another translator, sealed on top and given back, too.
func TestEverythingWorksOn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	stop := s.translate()
	s.append("one", frames(1, 25))
	s.append("two", frames(2, 12))
	s.settled(36)
	k := s.keeper(s.JS)
	require.NoError(t, k.Round(bounded(t)))
	require.Equal(t, [2]int{1, 1}, s.leftOfBoth(), "the last message of each stays")
	said, err := topology.ReadReturned(bounded(t), s.JS, s.id)
	require.NoError(t, err)
	require.Equal(t, uint64(35), said.Frame)
	require.Equal(t, map[string]uint64{"one": 25, "two": 11}, said.Writers)
	require.Equal(t, s.store.String(), said.Archive)
	s.whole()
	require.NoError(t, k.Round(bounded(t)), "nothing is left to do")

	require.Equal(t, uint64(36), s.append("one", frames(1, 25)), "a journal that is drained again stores nothing again")
	require.Equal(t, uint64(36), s.append("two", frames(2, 12)))
	stop()
	require.Equal(t, uint64(41), s.append("three", frames(2, 6)))
	stop = s.translate()
	s.settled(41)
	require.NoError(t, s.keeper(s.JS).Round(bounded(t)))
	require.Equal(t, [2]int{1, 1}, s.leftOfBoth())
	s.whole()
	stop()

	// The snapshot is damaged: late frames wait, until the translator has the archive.
	state, err := s.JS.Stream(bounded(t), topology.State)
	require.NoError(t, err)
	require.NoError(t, state.Purge(bounded(t)))
	require.Equal(t, uint64(42), s.append("three", frames(7, 7)))
	stop = s.translate()
	var parked []stage.ParkedCapture
	require.Eventually(t, func() bool {
		parked, err = stage.ListParked(bounded(t), s.JS)
		return err == nil && len(parked) == 1
	}, within, 2*time.Millisecond)
	require.Equal(t, stage.ReasonSealed, parked[0].Reason)
	require.Contains(t, parked[0].Error, "steno redrive")
	require.Contains(t, parked[0].Error, s.store.String())
	stop()
	require.NoError(t, s.keeper(s.JS).Round(bounded(t)))
	_, err = stage.Redrive(bounded(t), s.JS, parked[0])
	require.NoError(t, err)
	s.translate(func(o *stage.Options) { o.Returned = s.joined().Between })
	s.settled(42)
	require.NoError(t, s.keeper(s.JS).Round(bounded(t)))
	left := s.leftOfBoth()
	require.Equal(t, 1, left[0])
	require.LessOrEqual(t, left[1], 2, "a mark that passed the frame when it was parked names the record before")
	s.whole()
}

// TestNothingGoesThatIsHeld: each of what must be there before anything goes.
func TestNothingGoesThatIsHeld(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	stop := s.translate()
	s.append("one", frames(1, 6)) // more than one record
	s.settled(6)
	s.append("one", frames(7, 12))
	s.settled(12)
	stop()
	all := s.leftOfBoth()
	require.Greater(t, all[1], 1)
	kept := func(why string, change ...func(*keeper.Options)) {
		t.Helper()
		require.NoError(t, s.keeper(s.JS, change...).Round(bounded(t)))
		require.Equal(t, all, s.leftOfBoth(), why)
		said, err := topology.ReadReturned(bounded(t), s.JS, s.id)
		require.NoError(t, err)
		require.Zero(t, said, why)
	}
	kept("nobody wishes it", func(o *keeper.Options) { o.Keep = 0 })
	kept("it is young", func(o *keeper.Options) { o.Keep = time.Hour })
	kept("it is another's", func(o *keeper.Options) { o.Owns = func(uint32) bool { return false } })

	take := func(stream, subject string) (back func()) {
		m, ok, err := topology.Last(bounded(t), s.JS, stream, subject)
		require.NoError(t, err)
		require.True(t, ok)
		from, err := s.JS.Stream(bounded(t), stream)
		require.NoError(t, err)
		require.NoError(t, from.Purge(bounded(t), jetstream.WithPurgeSubject(subject)))
		return func() { s.put(subject, m) }
	}
	back := take(topology.State, schema.StateSubject(s.id, s.Info.Partitions))
	kept("it has no snapshot")
	back()
	back = take(topology.ParkedStream, topology.ParkedSubject(topology.MarkKey(s.id.Partition(s.Info.Partitions))))
	kept("its partition has no mark")
	back()
	kv, err := s.JS.KeyValue(bounded(t), topology.Parked)
	require.NoError(t, err)
	_, err = kv.PutString(bounded(t), s.id.Subject(), `{"reason":"fold panicked"}`)
	require.NoError(t, err)
	kept("it is parked")
	require.NoError(t, kv.Delete(bounded(t), s.id.Subject()))

	parts, err := filepath.Glob(filepath.Join(s.store.String(), "*", "*", "*", "*", "*", "events-*"))
	require.NoError(t, err)
	more, err := filepath.Glob(filepath.Join(s.store.String(), "*", "*", "*", "*", "frames-*"))
	require.NoError(t, err)
	blobs, err := filepath.Glob(filepath.Join(s.store.String(), "*", "*", "*", "*", "blobs", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, blobs)
	for _, name := range append(append(parts, more...), blobs...) {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		changed := append([]byte(nil), text...)
		changed[len(changed)/2] ^= 1
		require.NoError(t, os.WriteFile(name, changed, 0o600))
		kept("a file of the archive is changed: " + name)
		require.NoError(t, os.WriteFile(name, text, 0o600))
	}
	require.NoError(t, s.keeper(s.JS).Round(bounded(t)))
	require.Equal(t, [2]int{1, 1}, s.leftOfBoth(), "nothing holds it any more")
	s.whole()
}

// TestBrokenOffAnywhere fails each write of the keeper on the streams in turn, refused, and done with the
// answer lost. Whatever was broken off, nothing is missing; another keeper completes it.
func TestBrokenOffAnywhere(t *testing.T) {
	t.Parallel()
	for _, done := range []bool{false, true} {
		s := newSite(t)
		stop := s.translate()
		s.append("one", frames(1, 3))
		s.settled(3)
		stop()
		for at := 1; ; at++ {
			js := &breaking{JetStream: s.JS, at: at, done: done}
			require.NoError(t, s.keeper(js).Round(bounded(t)), "what is wrong with one capture is logged")
			s.whole()
			require.Equal(t, uint64(len(s.told)), s.append("one", frames(1, uint64(len(s.told)))), "broken off at write %d, done %t", at, done)
			if js.n < at {
				require.Equal(t, 4, at, "what was given back is written down, then two subjects are purged")
				break
			}
			require.NoError(t, s.keeper(s.JS).Round(bounded(t)))
			require.Equal(t, [2]int{1, 1}, s.leftOfBoth(), "broken off at write %d, done %t", at, done)
			n := uint64(len(s.told))
			s.append("one", frames(n+1, n+3)) // for the next one
			stop := s.translate()
			s.settled(n + 3)
			stop()
		}
	}
}

// TestOtherStreamsOnTheWay: the connection is lost between the comparison and the purge. What the server has
// then was compared by nobody.
func TestOtherStreamsOnTheWay(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	stop := s.translate()
	s.append("one", frames(1, 9))
	s.settled(9)
	stop()
	all := s.leftOfBoth()
	conn, _ := s.Connect(t)
	own, err := jetstream.New(conn)
	require.NoError(t, err)
	js := &breaking{JetStream: own, at: 1, done: true, then: func() error {
		require.NoError(t, conn.ForceReconnect())
		require.Eventually(t, func() bool { return conn.IsConnected() && conn.Stats().Reconnects == 1 }, within, time.Millisecond)
		return nil
	}}
	require.NoError(t, s.keeper(js).Round(bounded(t)))
	require.Equal(t, all, s.leftOfBoth())
	require.NoError(t, s.keeper(own).Round(bounded(t)))
	require.Equal(t, [2]int{1, 1}, s.leftOfBoth())
	s.whole()
}

// TestWithoutTheArchive: what was given back is said to be so, not to be lost.
func TestWithoutTheArchive(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.translate()
	s.append("one", frames(1, 9))
	s.settled(9)
	require.NoError(t, s.keeper(s.JS).Round(bounded(t)))
	away := errors.New("the disk is in the cupboard")
	for _, j := range []archive.Joined{{Stream: s.stream()}, {Stream: s.stream(), Open: s.nowhere(away)}} {
		n := 0
		for _, err := range j.Frames(bounded(t), s.id, 1) {
			require.ErrorIs(t, err, topology.ErrReturned)
			if j.Open != nil {
				require.ErrorIs(t, err, away)
			}
			n++
		}
		require.Equal(t, 1, n)
	}
	n := 0
	for f, err := range (archive.Joined{Stream: s.stream()}).Frames(bounded(t), s.id, 9) {
		require.NoError(t, err, "what is on the stream needs no archive")
		require.Equal(t, uint64(9), f.Seq)
		n++
	}
	require.Equal(t, 1, n)
}
