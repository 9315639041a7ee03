package topology_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
)

var identity = schema.Identity{Namespace: "n", Workflow: "w", Run: "r", Activity: 3, Attempt: 2}

func TestBlobsAreStoredOnce(t *testing.T) {
	ctx := deadline(t)
	s := natstest.Start(t)
	blobs, err := topology.OpenBlobs(ctx, s.JS)
	require.NoError(t, err)
	for _, size := range []int{0, 1, 128 << 10, 3<<20 + 1} {
		data := bytes.Repeat([]byte{'x'}, size)
		sum := sha256.Sum256(data)
		sha, err := blobs.Put(ctx, identity, data)
		require.NoError(t, err)
		require.Equal(t, hex.EncodeToString(sum[:]), sha)

		stored := messages(t, s.JS)
		again, err := blobs.Put(ctx, identity, data)
		require.NoError(t, err)
		require.Equal(t, sha, again)
		require.Equal(t, stored, messages(t, s.JS), "a second put stores nothing")

		got, err := blobs.Get(ctx, identity, sha)
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, got))
	}
}

// Whoever leaves a put out, or deletes, must have asked the leader: a replica may be behind.
func TestTheLeaderSaysWhatTheBucketHas(t *testing.T) {
	ctx := deadline(t)
	s := natstest.Start(t)
	blobs, err := topology.OpenBlobs(ctx, s.JS)
	require.NoError(t, err)
	direct, err := s.NC.SubscribeSync("$JS.API.DIRECT.GET.OBJ_" + topology.Blob + ".>")
	require.NoError(t, err)
	asked := func() int {
		require.NoError(t, s.NC.Flush())
		n, _, err := direct.Pending()
		require.NoError(t, err)
		return n
	}
	has := func(sha string) bool {
		there, err := blobs.Has(ctx, identity, sha)
		require.NoError(t, err)
		return there
	}
	sum := sha256.Sum256([]byte("here"))
	require.False(t, has(hex.EncodeToString(sum[:])))
	sha, err := blobs.Put(ctx, identity, []byte("here"))
	require.NoError(t, err)
	require.True(t, has(sha))
	_, err = blobs.Put(ctx, identity, []byte("here"))
	require.NoError(t, err)
	require.Zero(t, asked())
	require.NoError(t, blobs.Delete(ctx, identity, sha))
	require.NotZero(t, asked(), "a request to any replica is seen here")
	require.False(t, has(sha))
}

// messages counts what the bucket's stream was ever given.
func messages(t testing.TB, js jetstream.JetStream) uint64 {
	t.Helper()
	stream, err := js.Stream(deadline(t), "OBJ_"+topology.Blob)
	require.NoError(t, err)
	return stream.CachedInfo().State.LastSeq
}

func TestBlobsFailLoudly(t *testing.T) {
	ctx := deadline(t)
	s := natstest.Start(t)
	blobs, err := topology.OpenBlobs(ctx, s.JS)
	require.NoError(t, err)
	sha, err := blobs.Put(ctx, identity, []byte("good"))
	require.NoError(t, err)

	other := identity
	other.Attempt++
	_, err = blobs.Get(ctx, other, sha)
	require.ErrorIs(t, err, topology.ErrBlob, "another capture's blob")
	require.ErrorContains(t, err, "n/w/r/3/3/"+sha)

	bucket, err := s.JS.ObjectStore(ctx, topology.Blob)
	require.NoError(t, err)
	_, err = bucket.PutBytes(ctx, "n/w/r/3/2/"+sha, []byte("evil"))
	require.NoError(t, err)
	_, err = blobs.Get(ctx, identity, sha)
	require.ErrorIs(t, err, topology.ErrBlob, "other bytes under the key")
}

// A put of which a part was not stored leaves nothing that the next one takes for the whole.
func TestAPutThatFailedIsNotThere(t *testing.T) {
	ctx := deadline(t)
	s := natstest.Start(t)
	blobs, err := topology.OpenBlobs(ctx, s.JS)
	require.NoError(t, err)
	bucket, err := s.JS.Stream(ctx, "OBJ_"+topology.Blob)
	require.NoError(t, err)
	config := bucket.CachedInfo().Config
	for _, size := range []int{100 << 10, 3 << 20} {
		narrow := config
		narrow.MaxMsgSize = 64 << 10 // no chunk is taken, and what names the chunks would be
		_, err = s.JS.UpdateStream(ctx, narrow)
		require.NoError(t, err)
		data := bytes.Repeat([]byte{'y'}, size)
		_, err = blobs.Put(ctx, identity, data)
		require.ErrorContains(t, err, "maximum")
		_, err = s.JS.UpdateStream(ctx, config)
		require.NoError(t, err)
		sha, err := blobs.Put(ctx, identity, data)
		require.NoError(t, err)
		within, cancel := context.WithTimeout(ctx, 10*time.Second)
		got, err := blobs.Get(within, identity, sha)
		cancel()
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, got))
	}
}

// A reader may be ahead of the replica that it asks.
func TestBlobsWaitForOneThatComesLate(t *testing.T) {
	ctx := deadline(t)
	s := natstest.Start(t)
	blobs, err := topology.OpenBlobs(ctx, s.JS)
	require.NoError(t, err)
	sum := sha256.Sum256([]byte("late"))
	put := make(chan error)
	go func() {
		time.Sleep(100 * time.Millisecond)
		_, err := blobs.Put(ctx, identity, []byte("late"))
		put <- err
	}()
	got, err := blobs.Get(ctx, identity, hex.EncodeToString(sum[:]))
	require.NoError(t, <-put)
	require.NoError(t, err)
	require.Equal(t, "late", string(got))
}

func TestFrameFromMessage(t *testing.T) {
	ctx := deadline(t)
	s := natstest.Start(t)
	blobs, err := topology.OpenBlobs(ctx, s.JS)
	require.NoError(t, err)
	want := schema.Frame{
		Seq: 4, At: time.Unix(1, 2).UTC(), From: schema.FromAgent, Type: schema.TypeData, End: schema.EndLF,
		Data: []byte("text"), Writer: schema.Writer{Journal: "j", Offset: 9},
	}
	subject := schema.RawSubject(identity, s.Info.Partitions)
	f, id, err := blobs.Frame(ctx, topology.Message{Subject: subject, Header: want.Header(), Data: want.Data})
	require.NoError(t, err)
	require.Equal(t, identity, id)
	require.Equal(t, want, f)

	large := want
	large.Data = bytes.Repeat([]byte("0123456789"), 80_000)
	large.Blob, err = blobs.Put(ctx, identity, large.Data)
	require.NoError(t, err)
	f, _, err = blobs.Frame(ctx, topology.Message{Subject: subject, Header: large.Header()})
	require.NoError(t, err)
	require.Equal(t, large, f)

	_, _, err = blobs.Frame(ctx, topology.Message{Seq: 77, Subject: "other", Header: want.Header()})
	require.ErrorContains(t, err, "sequence 77")
	_, _, err = blobs.Frame(ctx, topology.Message{Seq: 77, Subject: subject})
	require.ErrorContains(t, err, "read frame of n/w/r/3/2 at sequence 77")
}

func TestRecordFromMessage(t *testing.T) {
	ctx := deadline(t)
	s := natstest.Start(t)
	blobs, err := topology.OpenBlobs(ctx, s.JS)
	require.NoError(t, err)
	want := schema.Record{
		Last: schema.Origin{Frame: 9, Part: 1}, First: map[uint32]uint64{1: 4}, Chain: "c", Translator: "acp/1",
		Open: map[uint32]uint64{}, Events: [][]byte{[]byte(`{"a":1}`), []byte(`{"b":2}`)},
	}
	header, err := want.Header()
	require.NoError(t, err)
	subject := schema.EventSubject(identity, s.Info.Partitions)
	r, id, err := blobs.Record(ctx, topology.Message{Subject: subject, Header: header, Data: want.Payload()})
	require.NoError(t, err)
	require.Equal(t, identity, id)
	require.Equal(t, want, r)

	sha, err := blobs.Put(ctx, identity, want.Payload())
	require.NoError(t, err)
	header[schema.HeaderBlob] = []string{sha}
	r, _, err = blobs.Record(ctx, topology.Message{Subject: subject, Header: header})
	require.NoError(t, err)
	require.Equal(t, want, r)
}

// A state that is stored again has another name: deleting the first takes nothing from the second.
func TestADeletedStateIsGone(t *testing.T) {
	ctx := deadline(t)
	s := natstest.Start(t)
	blobs, err := topology.OpenBlobs(ctx, s.JS)
	require.NoError(t, err)
	states := blobs.States()
	first, err := states.Put(ctx, identity, []byte("state"))
	require.NoError(t, err)
	second, err := states.Put(ctx, identity, []byte("state"))
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, states.Delete(ctx, identity, first))
	}
	_, err = states.Get(ctx, identity, first)
	require.ErrorIs(t, err, topology.ErrBlob)
	data, err := states.Get(ctx, identity, second)
	require.NoError(t, err)
	require.Equal(t, "state", string(data))
}
