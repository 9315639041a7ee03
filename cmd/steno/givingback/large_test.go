package givingback_test

import (
	"context"
	"errors"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink/archive/keeper"
)

// large is the SHA-256 of the bytes that all large frames have.
func (s *site) large() string {
	for _, f := range s.told {
		if f.Blob != "" {
			return f.Blob
		}
	}
	return ""
}

func (s *site) inBucket(sha string) bool {
	s.t.Helper()
	there, err := s.blobs.Has(bounded(s.t), s.id, sha)
	require.NoError(s.t, err)
	return there
}

// bytes is how much a stream holds.
func (s *site) bytes(stream string) uint64 {
	s.t.Helper()
	of, err := s.JS.Stream(bounded(s.t), stream)
	require.NoError(s.t, err)
	return of.CachedInfo().State.Bytes
}

// TestLargeFramesGoWithTheirBytes: when no message names them any more. Frames that come later with the same
// bytes bring them back.
func TestLargeFramesGoWithTheirBytes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.translate()
	s.append("one", frames(1, 20))
	s.settled(20)
	sha := s.large()
	before := s.bytes("OBJ_" + topology.Blob)
	require.NoError(t, s.keeper(s.JS).Round(bounded(t)))
	require.True(t, s.inBucket(sha), "frame 20, which stays, names it")
	s.append("one", frames(21, 23))
	s.settled(23)
	require.NoError(t, s.keeper(s.JS).Round(bounded(t)))
	require.False(t, s.inBucket(sha))
	after := s.bytes("OBJ_" + topology.Blob)
	require.Less(t, after, before/100, "the space is given back")
	t.Logf("%s has %d bytes, and had %d", topology.Blob, after, before)
	s.whole()
	s.append("one", frames(24, 31))
	require.True(t, s.inBucket(sha))
	s.settled(31)
	require.NoError(t, s.keeper(s.JS).Round(bounded(t)))
	require.False(t, s.inBucket(sha))
	s.whole()
}

// TestBytesGoWhileTheyAreRead: the message of a large frame was read, and its bytes were given back before they
// were: readers find them in the archive.
func TestBytesGoWhileTheyAreRead(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.translate()
	s.append("one", frames(1, 12))
	s.settled(12)
	require.NoError(t, s.keeper(s.JS, func(o *keeper.Options) { o.Keep = 0 }).Round(bounded(t)))
	said := topology.Returned{Frame: 11, Archive: s.store.String(), Writers: map[string]uint64{"one": 11}}
	require.NoError(t, topology.WriteReturned(bounded(t), s.JS, s.id, said))
	require.NoError(t, s.blobs.Delete(bounded(t), s.id, s.large()))
	s.whole()
}

// deleting is a JetStream on which something happens just before an object is deleted.
type deleting struct {
	jetstream.JetStream
	do   func()
	then error // its answer, if it is one
}

func (d *deleting) ObjectStore(ctx context.Context, bucket string) (jetstream.ObjectStore, error) {
	o, err := d.JetStream.ObjectStore(ctx, bucket)
	return &deletingStore{o, d}, err
}

type deletingStore struct {
	jetstream.ObjectStore
	d *deleting
}

func (s *deletingStore) Delete(ctx context.Context, name string) error {
	s.d.do()
	return errors.Join(s.ObjectStore.Delete(ctx, name), s.d.then)
}

// name stores a frame as the next one that names the large bytes, which its append has found in the bucket.
func (s *site) name() {
	s.t.Helper()
	f, before := frames(20, 20)[0], s.told[len(s.told)-1]
	f.Seq, f.Salt, f.Blob, f.Writer.Journal = before.Seq+1, s.told[0].Salt, s.large(), "one"
	var err error
	f.Chain, err = schema.ChainHash(before.Chain, &f)
	require.NoError(s.t, err)
	_, err = s.JS.PublishMsg(bounded(s.t), &nats.Msg{Subject: schema.RawSubject(s.id, s.Info.Partitions), Header: f.Header()})
	require.NoError(s.t, err)
	s.told = append(s.told, f)
}

// TestBytesAreNamedAgainAndTheAnswerIsLost: the keeper puts back what it took although taking it failed; and where it
// is killed then, the next one does, though the capture is parked by now because of it.
func TestBytesAreNamedAgainAndTheAnswerIsLost(t *testing.T) {
	t.Parallel()
	for _, killed := range []bool{false, true} {
		s := newSite(t)
		stop := s.translate()
		s.append("one", frames(1, 12))
		s.settled(12)
		stop()
		ctx, kill := context.WithCancel(bounded(t))
		js := &deleting{JetStream: s.JS, then: errBroken, do: s.name}
		if killed {
			js.do = func() {
				s.name()
				require.NoError(t, s.blobs.Delete(bounded(t), s.id, s.large()))
				kill()
			}
		}
		err := s.keeper(js).Round(ctx)
		kill()
		if killed {
			require.ErrorIs(t, err, context.Canceled)
			require.False(t, s.inBucket(s.large()))
			kv, err := s.JS.KeyValue(bounded(t), topology.Parked)
			require.NoError(t, err)
			_, err = kv.PutString(bounded(t), s.id.Subject(), `{"reason":"blob is missing"}`)
			require.NoError(t, err)
			require.NoError(t, s.keeper(s.JS).Round(bounded(t)))
		} else {
			require.NoError(t, err, "which is logged")
		}
		require.True(t, s.inBucket(s.large()), "killed: %t", killed)
	}
}

// TestBytesAreNamedAgainJustBeforeTheyGo: an append has found them in the bucket, and its frame is stored when the
// keeper has looked which are named. It looks again, and puts them back. So does a keeper that finds them gone
// when the frame is to be sealed, whatever became of the others.
func TestBytesAreNamedAgainJustBeforeTheyGo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	stop := s.translate()
	s.append("one", frames(1, 12))
	s.settled(12)
	sha, n := s.large(), 0
	js := &deleting{JetStream: s.JS, do: func() { n++; s.name() }}
	require.NoError(t, s.keeper(js).Round(bounded(t)))
	require.Equal(t, 1, n)
	require.True(t, s.inBucket(sha))
	s.settled(13)
	stop()

	require.NoError(t, s.blobs.Delete(bounded(t), s.id, sha))
	require.NoError(t, s.keeper(s.JS).Round(bounded(t)), "it cannot be sealed yet, which is logged")
	require.True(t, s.inBucket(sha))
	require.NoError(t, s.keeper(s.JS).Round(bounded(t)))
	s.whole()
}
