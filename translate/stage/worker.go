package stage

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/translate/lease"
)

// Worker folds the partitions that it owns. Two workers on one partition waste work and do no harm.
type Worker struct {
	opts Options
	log  zerolog.Logger
	js   jetstream.JetStream

	start   sync.Once
	stopped chan struct{} // closed when Run returns
	ready   chan struct{} // closed when the fields below are set

	info       topology.Info
	blobs      *topology.Blobs
	states     *topology.States // of snapshots
	parkedKeys jetstream.KeyValue
	leases     *lease.Leases // nil: the partitions are the options'
	queue      *queue
	buffers    buffers
	counts     counts
	serving    serving
	parked     parkedWatch
	gate       gate
}

// New makes a worker. It starts nothing.
func New(o Options) (*Worker, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Worker{opts: o, log: o.Log, js: o.JS, ready: make(chan struct{}), stopped: make(chan struct{}), queue: newQueue(),
		parked: parkedWatch{reconnected: make(chan struct{}, 1)}}, nil
}

// Run folds until ctx ends and then returns nil; it may be called once. What was folded and not
// acknowledged by then is folded again by the next worker. It refuses to run on missing or drifted
// streams, and ends with an error when a stream was made anew or the connection is closed for good;
// everything else is retried.
func (w *Worker) Run(ctx context.Context) error {
	first := false
	w.start.Do(func() { first = true })
	if !first {
		return errors.New("run stage worker: it has run already")
	}
	defer close(w.stopped)
	err := w.run(ctx)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (w *Worker) run(ctx context.Context) error {
	if err := w.open(ctx); err != nil {
		return fmt.Errorf("run stage worker: %w", err)
	}

	// With leases the end of ctx is the end of the leases first, which are handed over drained.
	inner, end := ctx, func() {}
	if w.opts.Leases != nil {
		inner, end = context.WithCancel(context.WithoutCancel(ctx))
		defer end()
	}
	group, inner := errgroup.WithContext(inner)
	stop := context.AfterFunc(inner, w.queue.close)
	defer stop()
	for range w.opts.InFlight {
		group.Go(func() error { return w.commitAll(inner) })
	}
	w.serving.begin(inner, group)
	if err := w.serve(ctx, inner, group, end); err != nil {
		return err
	}
	close(w.ready)
	group.Go(func() error { return w.sendHeads(inner) })
	group.Go(func() error { return w.watchParked(inner) })
	group.Go(func() error { return w.watch(inner) })
	return group.Wait()
}

// serve takes the partitions that the options name, or those that the leases give while they run.
func (w *Worker) serve(ctx, inner context.Context, group *errgroup.Group, end func()) error {
	if w.opts.Leases != nil {
		leases, err := lease.New(lease.Options{
			JS: w.js, Partitions: w.info.Partitions, Worker: w.opts.Leases.Worker, TTL: w.opts.Leases.TTL, Log: w.log,
		})
		if err != nil {
			return err
		}
		w.leases = leases
		group.Go(func() (err error) {
			defer func() {
				if err == nil { // else the group ends with it, and must not hear of an end before
					end()
				}
			}()
			ctx, stop := context.WithCancel(ctx)
			defer stop()
			defer context.AfterFunc(inner, stop)() // a worker that fails gives its leases back
			return leases.Run(ctx, w)
		})
		return nil
	}
	owned, err := w.opts.owned(w.info.Partitions)
	if err != nil {
		return err
	}
	for _, number := range owned {
		w.Take(number)
	}
	return nil
}

// open reads what the partitions need.
func (w *Worker) open(ctx context.Context) error {
	w.gate.conn = w.js.Conn()
	w.gate.seen.Store(w.gate.now())
	err := w.retry(ctx, "check streams", func() (err error) {
		w.info, err = topology.Check(ctx, w.js)
		return err
	})
	if err != nil {
		return err
	}
	return w.retry(ctx, "open buckets", func() (err error) {
		if w.blobs, err = topology.OpenBlobs(ctx, w.js); err != nil {
			return err
		}
		w.states = w.blobs.States()
		w.parkedKeys, err = w.js.KeyValue(ctx, topology.Parked)
		return err
	})
}
