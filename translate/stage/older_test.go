package stage_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/translate/stage"
)

// copyStore copies the server's store as it is now; back puts the copy into its place.
func copyStore(t *testing.T, s *natstest.Server) (back func()) {
	t.Helper()
	return copyFolder(t, s, s.Dir)
}

// copyStream does so with one stream.
func copyStream(t *testing.T, s *natstest.Server, name string) (back func()) {
	t.Helper()
	return copyFolder(t, s, filepath.Join(s.Dir, "jetstream", "$G", "streams", name))
}

func copyFolder(t *testing.T, s *natstest.Server, folder string) (back func()) {
	t.Helper()
	s.Stop()
	copied := t.TempDir()
	require.NoError(t, os.CopyFS(copied, os.DirFS(folder)))
	s.Restart(t)
	return func() {
		s.Stop()
		require.NoError(t, os.RemoveAll(folder))
		require.NoError(t, os.CopyFS(folder, os.DirFS(copied)))
		s.Restart(t)
	}
}

// heldBlobs is a JetStream whose first read of a blob is held once it has the bytes.
type heldBlobs struct {
	jetstream.JetStream
	once       sync.Once
	away, back chan struct{}
}

type heldStore struct {
	jetstream.ObjectStore
	held *heldBlobs
}

func (h *heldBlobs) ObjectStore(ctx context.Context, name string) (jetstream.ObjectStore, error) {
	store, err := h.JetStream.ObjectStore(ctx, name)
	return &heldStore{store, h}, err
}

func (s *heldStore) GetBytes(ctx context.Context, name string, opts ...jetstream.GetObjectOpt) ([]byte, error) {
	data, err := s.ObjectStore.GetBytes(ctx, name, opts...)
	s.held.once.Do(func() { close(s.held.away); <-s.held.back })
	return data, err
}

// reconnected waits until a connection is there again.
func reconnected(t *testing.T, conn *nats.Conn) {
	t.Helper()
	for ctx := bounded(t); !conn.IsConnected() || conn.Stats().Reconnects == 0; {
		require.NoError(t, ctx.Err())
	}
}

// TestOlderCopyInTheMiddleOfARead: a worker was handed frame 4, and reads the frames before it; while it
// reads the bytes of frame 2, a copy of the store comes back that ends at frame 3, and another frame 4 is
// stored. The mark stands at frame 3, which is there. The frame 4 that it was handed is not folded, else
// frame 5 would not follow on it, and the capture be parked.
func TestOlderCopyInTheMiddleOfARead(t *testing.T) {
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	tp.say(t, "say 1 "+strings.Repeat("0123456789abcdef", 40<<10), "tool 1 grep")
	w, stop := run(t, often(stage.Options{JS: s.JS}))
	marked(t, w, tp)
	stop()
	back := copyStore(t, s)
	good := tp.frames
	tp.say(t, "say 1 lost ")

	conn, js := s.Connect(t)
	held := &heldBlobs{JetStream: js, away: make(chan struct{}), back: make(chan struct{})}
	w, _ = run(t, stage.Options{JS: held})
	<-held.away
	back()
	tp.frames = good[:3:3]
	tp.say(t, "say 2 it went otherwise ", "say 2 and on ", "end 1", "end 2")
	reconnected(t, conn)
	close(held.back)
	require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	check(t, s.JS, tp)
}

// TestOlderCopyWhileACaptureIsParked: frame 4 parks its capture; while the key is written, a copy of the
// store comes back that ends at frame 3, and another frame 4 is stored, with which nothing is wrong. The
// capture is not parked.
func TestOlderCopyWhileACaptureIsParked(t *testing.T) {
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	tp.say(t, "say 1 x ", "tool 1 grep")
	back := copyStore(t, s)
	good := tp.frames
	tp.say(t, "panic")

	conn, js := s.Connect(t)
	away, goOn := make(chan struct{}), make(chan struct{})
	w, _ := run(t, stage.Options{JS: &parking{JetStream: js, subject: topology.ParkedSubject(tp.id.Subject()), before: func() { close(away); <-goOn }}})
	<-away
	back()
	tp.frames = good[:3:3]
	tp.say(t, "say 2 it went otherwise ", "end 1", "end 2")
	reconnected(t, conn)
	close(goOn)
	require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	check(t, s.JS, tp)
	for ctx := bounded(t); ; { // the key goes when its frames are covered
		require.NoError(t, ctx.Err())
		listed, err := stage.ListParked(ctx, s.JS)
		require.NoError(t, err)
		if len(listed) == 0 {
			return
		}
	}
}

// TestOlderCopyWhileAPartitionIsTaken: a worker has read that a capture is parked, and takes the mark; then
// a copy of the store comes back in which the capture is not parked, nor has the frame that parked it. What
// was read is read again.
func TestOlderCopyWhileAPartitionIsTaken(t *testing.T) {
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	tp.say(t, "say 1 x ", "tool 1 grep")
	back := copyStore(t, s)
	good := tp.frames
	tp.say(t, "panic")
	w, stop := run(t, stage.Options{JS: s.JS})
	require.ErrorIs(t, w.Committed(bounded(t), tp.id, 4), stage.ErrParked)
	stop()

	conn, js := s.Connect(t)
	away, goOn := make(chan struct{}), make(chan struct{})
	once := sync.OnceFunc(func() { close(away); <-goOn })
	w, _ = run(t, stage.Options{JS: &fault{JetStream: js, on: topology.ParkedSubject(markKey(tp.id)), before: once},
		Partitions: []uint32{tp.id.Partition(schema.Partitions)}})
	<-away
	back()
	tp.frames = good[:3:3]
	tp.say(t, "say 2 it went otherwise ", "end 1", "end 2")
	reconnected(t, conn)
	close(goOn)
	require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	check(t, s.JS, tp)
}
