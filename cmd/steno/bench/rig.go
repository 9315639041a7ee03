package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/schema/topology/embed"
	"github.com/steno-io/steno/translate/stage"
)

// everySecond is the lazy sync setting; 0 is to fsync each write.
const everySecond = time.Second

// syncName names a sync setting as the flag does.
func syncName(interval time.Duration) string {
	if interval == 0 {
		return "always"
	}
	return interval.String()
}

// rig is an embedded server with the streams, in a temporary directory, as a data directory has it.
type rig struct {
	dir    string
	sync   time.Duration
	server *embed.Server
	conn   *nats.Conn
	js     jetstream.JetStream
	info   topology.Info
	blobs  *topology.Blobs
}

// withRig starts a rig, does the work, and leaves nothing behind.
func withRig(ctx context.Context, sync time.Duration, do func(*rig) error) error {
	dir, err := os.MkdirTemp("", "steno-bench-")
	if err != nil {
		return fmt.Errorf("make temporary directory: %w", err)
	}
	r := &rig{dir: dir, sync: sync}
	if err = r.start(ctx); err == nil {
		err = do(r)
	}
	return errors.Join(err, r.stop())
}

func (r *rig) start(ctx context.Context) (err error) {
	r.server, err = embed.Start(embed.Options{
		StoreDir: filepath.Join(r.dir, "streams"), Listen: "127.0.0.1:0", Token: "bench", SyncAlways: r.sync == 0, SyncInterval: r.sync,
	})
	if err != nil {
		return err
	}
	if r.conn, err = r.server.Connect(); err != nil {
		return err
	}
	if r.js, err = jetstream.New(r.conn); err != nil {
		return fmt.Errorf("open JetStream: %w", err)
	}
	if _, err := topology.Apply(ctx, r.js, topology.Config{}); err != nil {
		return err
	}
	if r.info, err = topology.Check(ctx, r.js); err != nil {
		return err
	}
	r.blobs, err = topology.OpenBlobs(ctx, r.js)
	return err
}

func (r *rig) stop() error {
	if r.conn != nil {
		r.conn.Close()
	}
	if r.server != nil {
		r.server.Shutdown()
	}
	return os.RemoveAll(r.dir)
}

// dial connects as another process does.
func (r *rig) dial() (*nats.Conn, error) {
	conn, err := nats.Connect(r.server.URL(), nats.Token("bench"))
	if err != nil {
		return nil, fmt.Errorf("connect to the embedded server: %w", err)
	}
	return conn, nil
}

// appender appends to a capture as a publisher does.
func (r *rig) appender(id schema.Identity) (*publish.Appender, error) {
	return publish.NewAppender(publish.AppenderOptions{
		JS: r.js, Blobs: r.blobs, Identity: id, Partitions: r.info.Partitions, Journal: "bench",
		BatchFrom: publish.BatchFrom(r.info.Replicas, r.sync == 0),
	})
}

// frames copies a recording's frames for an append behind so many others.
func frames(of Recording, behind uint64) []schema.Frame {
	all := make([]schema.Frame, len(of.Frames))
	for i, f := range of.Frames {
		all[i] = schema.Frame{
			At: f.At, From: f.From, Type: f.Type, End: f.End, Exchange: f.Exchange, No: f.No, Chan: f.Chan, HTTP: f.HTTP, Data: f.Data,
			Writer: schema.Writer{Journal: "bench", Offset: behind + uint64(i) + 1},
		}
	}
	return all
}

// backlog is what is stored of so many captures, each a recording, in turn.
type backlog struct {
	captures []schema.Identity
	of       []Recording // of each capture
}

// frames is the number of all frames.
func (l *backlog) frames() (n int) {
	for _, of := range l.of {
		n += len(of.Frames)
	}
	return n
}

// backlog stores so many captures, some frames of each at a time: 0 is all that a batch takes.
func (r *rig) backlog(ctx context.Context, of []Recording, captures, waiting int) (*backlog, error) {
	l := &backlog{captures: make([]schema.Identity, captures), of: make([]Recording, captures)}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(16)
	for n := range l.captures {
		l.captures[n], l.of[n] = identity("backlog", n), of[n%len(of)]
		g.Go(func() error {
			a, err := r.appender(l.captures[n])
			if err != nil {
				return err
			}
			all := frames(l.of[n], 0)
			if waiting == 0 {
				return a.Append(ctx, all)
			}
			for some := range slices.Chunk(all, waiting) {
				if err := a.Append(ctx, some); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return l, g.Wait()
}

// translated runs the translator until all frames of the backlog are committed, and gives the number of
// records and the time that it took.
func (b *bench) translated(ctx context.Context, r *rig, l *backlog) (records int, took time.Duration, err error) {
	begin := time.Now()
	w, err := stage.New(stage.Options{JS: r.js, Catalogue: b.Catalogue})
	if err != nil {
		return 0, 0, err
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	ran := make(chan error, 1)
	go func() { ran <- w.Run(running) }()
	for n, id := range l.captures {
		if err = w.Committed(ctx, id, uint64(len(l.of[n].Frames))); err != nil {
			break
		}
	}
	took = time.Since(begin)
	stop()
	if err = errors.Join(err, <-ran); err != nil {
		return 0, 0, err
	}
	progress, err := w.Progress(ctx)
	return int(progress.Records), took, err
}

// purge empties a stream between two windows and tells what was in it.
func (r *rig) purge(ctx context.Context, stream string) (jetstream.StreamState, error) {
	s, err := r.js.Stream(ctx, stream)
	if err != nil {
		return jetstream.StreamState{}, fmt.Errorf("purge %s: %w", stream, err)
	}
	if err := s.Purge(ctx); err != nil {
		return jetstream.StreamState{}, fmt.Errorf("purge %s: %w", stream, err)
	}
	return s.CachedInfo().State, nil
}
