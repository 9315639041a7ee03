package holder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/schema/topology/embed"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/sqlite"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/stage"
)

// Options make a holder.
type Options struct {
	Dir       Dir
	Kind      Kind
	Version   string
	Catalogue *translate.Catalogue
	// SyncInterval is how often the embedded server fsyncs; 0 is every write.
	SyncInterval time.Duration
	// Dial connects to another NATS, for journals whose tap died and that go there.
	Dial func(url string) (*nats.Conn, error)
	Log  zerolog.Logger
}

// Holder holds a data directory and runs the embedded pipeline in it.
type Holder struct {
	o        Options
	lock     *lock
	server   *embed.Server
	conn     *nats.Conn
	js       jetstream.JetStream
	info     topology.Info
	ledger   *sqlite.Ledger
	worker   *stage.Worker
	sink     *sink.Sink
	journals *journals
}

// errHandOver ends a holder that was asked to.
var errHandOver = errors.New("handed over")

// Acquire takes the directory's lock, starts the embedded server, and writes its address; the error
// wraps ErrHeld if another process holds the directory. Run must follow: it gives everything back.
func Acquire(ctx context.Context, o Options) (*Holder, error) {
	l, err := o.Dir.take()
	if err != nil {
		return nil, err
	}
	h := &Holder{o: o, lock: l}
	if err := h.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("hold data directory %s: %w", o.Dir, err), h.stop())
	}
	return h, nil
}

func (h *Holder) start(ctx context.Context) (err error) {
	dir := h.o.Dir
	if err := dir.removeAddress(); err != nil { // a holder that was killed left it
		return err
	}
	if err := os.MkdirAll(dir.Journals(), 0o700); err != nil {
		return fmt.Errorf("make journal directory: %w", err)
	}
	token, err := dir.ensureToken()
	if err != nil {
		return err
	}
	h.server, err = embed.Start(embed.Options{
		StoreDir: dir.streams(), Listen: "127.0.0.1:0", Token: token,
		SyncAlways: h.o.SyncInterval == 0, SyncInterval: h.o.SyncInterval, Log: h.serverLine,
	})
	if err != nil {
		return err
	}
	if h.conn, err = h.server.Connect(nats.Token(token), nats.Name("steno holder")); err != nil {
		return fmt.Errorf("connect to the embedded server: %w", err)
	}
	if h.js, err = jetstream.New(h.conn); err != nil {
		return fmt.Errorf("open JetStream: %w", err)
	}
	if _, err := topology.Apply(ctx, h.js, topology.Config{}); err != nil {
		return err
	}
	if h.info, err = topology.Check(ctx, h.js); err != nil {
		return err
	}
	if h.ledger, err = sqlite.Open(dir.Ledger(), sqlite.Options{}); err != nil {
		return err
	}
	if h.worker, err = stage.New(stage.Options{JS: h.js, Catalogue: h.o.Catalogue, Log: h.o.Log}); err != nil {
		return err
	}
	h.sink = sink.New(sink.Options{JS: h.js, Ledger: h.ledger, Log: h.o.Log})
	blobs, err := topology.OpenBlobs(ctx, h.js)
	if err != nil {
		return err
	}
	batchFrom := publish.BatchFrom(h.info.Replicas, h.o.SyncInterval == 0)
	h.journals = newJournals(h.o, publish.Options{JS: h.js, Blobs: blobs, Partitions: h.info.Partitions, BatchFrom: batchFrom})
	return dir.writeAddress(Address{
		PID: os.Getpid(), Kind: h.o.Kind, Server: address(h.server.URL()), Version: h.o.Version, Since: time.Now().UTC(),
	})
}

// Run runs the pipeline until ctx ends, or until an up takes the directory over (true), and gives the
// directory back.
func (h *Holder) Run(ctx context.Context) (handedOver bool, err error) {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return h.worker.Run(ctx) })
	g.Go(func() error { return h.sink.Run(ctx) })
	g.Go(func() error { return h.journals.run(ctx) })
	g.Go(func() error { return h.serve(ctx) })
	err = g.Wait()
	if handedOver = errors.Is(err, errHandOver); handedOver || errors.Is(err, context.Canceled) {
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("hold data directory %s: %w", h.o.Dir, err)
	}
	return handedOver, errors.Join(err, h.stop())
}

// stop gives back what start took, in the opposite order. The address goes before the lock: an
// address that is there belongs to a living holder, or to one that was killed.
func (h *Holder) stop() error {
	var errs []error
	if h.ledger != nil {
		errs = append(errs, h.ledger.Close())
	}
	if h.conn != nil {
		h.conn.Close()
	}
	if h.server != nil {
		h.server.Shutdown()
	}
	return errors.Join(append(errs, h.o.Dir.removeAddress(), h.lock.release())...)
}

// drain waits until what the journals hold now is numbered.
func (h *Holder) drain(ctx context.Context) error {
	captures, err := h.journals.drained(ctx)
	if err != nil {
		return err
	}
	for _, c := range captures {
		if err := h.settle(ctx, c.id, c.frames); err != nil && !errors.Is(err, ErrParked) {
			return err
		}
	}
	return nil
}

// settle waits until a capture's frames are committed and numbered.
func (h *Holder) settle(ctx context.Context, id schema.Identity, frame uint64) error {
	if err := h.worker.Committed(ctx, id, frame); err != nil {
		if errors.Is(err, stage.ErrParked) {
			return fmt.Errorf("%w: %w", ErrParked, err)
		}
		return err
	}
	record, ok, err := topology.Last(ctx, h.js, topology.Events, schema.EventSubject(id, h.info.Partitions))
	if err != nil || !ok { // no durable event: nothing to number
		return err
	}
	if err := h.sink.Wait(ctx, id.Partition(h.info.Partitions), record.Seq); err != nil {
		return err
	}
	capture, err := h.ledger.Capture(ctx, id)
	if err != nil {
		return err
	}
	if capture.Parked != nil {
		return fmt.Errorf("%w: %s at ordinal %d of session %d", ErrParked, capture.Parked.Reason, capture.Parked.Ordinal, capture.Parked.Session)
	}
	return nil
}

// Progress tells how far the stage is.
func (h *Holder) Progress(ctx context.Context) (stage.Progress, error) { return h.worker.Progress(ctx) }

func (h *Holder) serverLine(line embed.Line) {
	level := map[embed.Level]zerolog.Level{
		embed.Info: zerolog.DebugLevel, embed.Warn: zerolog.WarnLevel, embed.Error: zerolog.ErrorLevel, embed.Fatal: zerolog.ErrorLevel,
	}[line.Level]
	h.o.Log.WithLevel(level).Str("from", "nats-server").Msg(line.Text)
}
