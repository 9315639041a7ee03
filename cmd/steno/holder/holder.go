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

	"github.com/steno-io/steno/ingest/filing"
	"github.com/steno-io/steno/ingest/publish"
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
	// StallAfter is how long work is waited for that does not get on; 0 is 90 s.
	StallAfter time.Duration
	// Keep seals what the ledger has, by itself, until ctx ends; nil: nothing is.
	// claimed is that of its sink.
	Keep func(ctx context.Context, js jetstream.JetStream, ledger *sqlite.Ledger, claimed func(uint32) (sink.Claim, bool)) error
	// Sealed is that of sqlite.Options.
	Sealed sink.Sealed
	// Returned gives that of stage.Options; nil: there is none.
	Returned func(js jetstream.JetStream) stage.Returned
	Log      zerolog.Logger
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
	pulse    *pulse
}

// errHandOver ends a holder that was asked to.
var errHandOver = errors.New("handed over")

// Acquire takes the directory's lock, starts the embedded server, and writes its address; the error
// wraps ErrHeld if another process holds the directory, or if a command wants what an up waits for. Run must
// follow: it gives everything back.
func Acquire(ctx context.Context, o Options) (*Holder, error) {
	if o.Kind == Command {
		if err := o.Dir.noTurn(); err != nil {
			return nil, err
		}
	}
	l, err := o.Dir.take()
	if err != nil {
		return nil, err
	}
	h := &Holder{o: o, lock: l}
	if err := h.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("hold data directory %s: %w", o.Dir, err), h.stop(false))
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
	if h.ledger, err = sqlite.Open(dir.Ledger(), sqlite.Options{Sealed: h.o.Sealed}); err != nil {
		return err
	}
	options := stage.Options{JS: h.js, Catalogue: h.o.Catalogue, Log: h.o.Log}
	if h.o.Returned != nil {
		options.Returned = h.o.Returned(h.js)
	}
	if h.worker, err = stage.New(options); err != nil {
		return err
	}
	h.pulse = newPulse(h.worker, h.o.StallAfter)
	h.sink = sink.New(sink.Options{JS: h.js, Ledger: h.ledger, Index: h.ledger, Log: h.o.Log, OnStored: h.pulse.stored(h.info.Partitions)})
	blobs, err := topology.OpenBlobs(ctx, h.js)
	if err != nil {
		return err
	}
	filed, err := topology.OpenFiled(ctx, h.js)
	if err != nil {
		return err
	}
	batchFrom := publish.BatchFrom(h.info.Replicas, h.o.SyncInterval == 0)
	h.journals = newJournals(h.o, filing.Options{
		Options: publish.Options{JS: h.js, Blobs: blobs, Partitions: h.info.Partitions, BatchFrom: batchFrom}, Filed: filed,
	})
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
	g.Go(func() error { return h.pulse.run(ctx) })
	g.Go(func() error { return h.serve(ctx) })
	if h.o.Keep != nil {
		g.Go(func() error { return h.o.Keep(ctx, h.js, h.ledger, h.sink.Claimed) })
	}
	err = g.Wait()
	if handedOver = errors.Is(err, errHandOver); handedOver || errors.Is(err, context.Canceled) {
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("hold data directory %s: %w", h.o.Dir, err)
	}
	return handedOver, errors.Join(err, h.stop(handedOver))
}

// stop gives back what start took, in the opposite order. The address goes before the lock: an
// address that is there belongs to a living holder, or to one that was killed. A command leaves word
// that it has left, before its clients lose it, so that one of them becomes the next holder; where an
// up comes next there is none to become.
func (h *Holder) stop(handedOver bool) error {
	var errs []error
	if h.o.Kind == Command && !handedOver {
		errs = append(errs, h.o.Dir.writeAddress(Address{PID: os.Getpid(), Kind: Command, Since: time.Now().UTC(), Left: true}))
	} else {
		errs = append(errs, h.o.Dir.removeAddress())
	}
	if h.ledger != nil {
		errs = append(errs, h.ledger.Close())
	}
	if h.conn != nil {
		h.conn.Close()
	}
	if h.server != nil {
		h.server.Shutdown()
	}
	return errors.Join(append(errs, h.lock.release())...)
}

func (h *Holder) serverLine(line embed.Line) {
	level := map[embed.Level]zerolog.Level{
		embed.Info: zerolog.DebugLevel, embed.Warn: zerolog.WarnLevel, embed.Error: zerolog.ErrorLevel, embed.Fatal: zerolog.ErrorLevel,
	}[line.Level]
	h.o.Log.WithLevel(level).Str("from", "nats-server").Msg(line.Text)
}
