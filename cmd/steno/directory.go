package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/cmd/steno/holder"
	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/sqlite"
)

// directory is a data directory: through the process that holds it, or through the embedded pipeline
// that this command starts for as long as it runs. When a command that holds the directory ends, those
// that went through it race for its place; where an up ends, or a holder is killed, they wait for the
// next one.
type directory struct {
	dir    holder.Dir
	client *holder.Client

	options  holder.Options
	atOnce   bool // it answers before what the journals held is numbered
	end      context.CancelCauseFunc
	keeping  sync.WaitGroup // of who waits for the client to be lost
	answered atomic.Bool    // the first answer is there

	mu        sync.Mutex
	pipelines []*pipeline
}

// pipeline is a holder that this process runs.
type pipeline struct {
	stop context.CancelFunc
	done chan struct{}
	err  error // once done
}

// openDirectory opens the data directory. It answers only when what the journals held is numbered; of
// what does not come through it warns. The context that it gives ends when the directory has no holder
// any more.
func (a *app) openDirectory(ctx context.Context, name string) (*session, context.Context, error) {
	return a.openDirectoryAs(ctx, name, &directory{dir: a.dir()})
}

// openDirectoryAtOnce is openDirectory for those who show what comes, and so need not wait for it.
func (a *app) openDirectoryAtOnce(ctx context.Context, name string) (*session, context.Context, error) {
	return a.openDirectoryAs(ctx, name, &directory{dir: a.dir(), atOnce: true})
}

func (a *app) openDirectoryAs(ctx context.Context, name string, d *directory) (*session, context.Context, error) {
	s := &session{site: d}
	s.archives = a.archivesOf(s)
	ctx, d.end = context.WithCancelCause(ctx)
	if err := d.begin(ctx, a, s, name); err != nil {
		return nil, ctx, errors.Join(why(ctx, err), s.close())
	}
	for _, what := range s.unstored {
		fmt.Fprintln(a.err, "steno: warning: not come through:", what)
	}
	return s, ctx, nil
}

func (d *directory) begin(ctx context.Context, a *app, s *session, name string) (err error) {
	if d.options, err = a.holderOptions(holder.Command); err != nil {
		return err
	}
	if err := d.hold(ctx); err != nil {
		return err
	}
	if d.client, err = d.dir.ConnectOr(ctx, "steno "+name, func() error { return d.hold(ctx) }); err != nil {
		return err
	}
	d.keeping.Go(func() { d.keep(ctx) })
	if address, err := d.dir.ReadAddress(); err == nil && address.Version != version {
		a.log.Warn().Str("holder", address.Version).Str("this", version).Msg("another version of steno holds the data directory")
	}
	s.conn = d.client.Conn
	if s.js, err = jetstream.New(s.conn); err != nil {
		return fmt.Errorf("open JetStream: %w", err)
	}
	if err := d.patient(ctx, func() (err error) {
		s.info, err = topology.Check(ctx, s.js)
		return err
	}); err != nil {
		return err
	}
	s.batchFrom = publish.BatchFrom(s.info.Replicas, d.options.SyncInterval == 0)
	if !d.atOnce {
		if s.unstored, err = d.client.Drain(ctx); err != nil {
			return err
		}
	}
	d.answered.Store(true)
	return d.patient(ctx, func() error {
		l, err := sqlite.Open(d.dir.Ledger(), sqlite.Options{ReadOnly: true})
		if err != nil {
			return err
		}
		s.ledger = s.archives.through(l)
		return nil
	})
}

// hold takes the directory if nobody has it.
func (d *directory) hold(ctx context.Context) error {
	if d.holding() != nil {
		return nil
	}
	h, err := holder.Acquire(ctx, d.options)
	if errors.Is(err, holder.ErrHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	// It runs until close, also when ctx has ended: what was asked before is still answered.
	held, stop := context.WithCancel(context.WithoutCancel(ctx))
	p := &pipeline{stop: stop, done: make(chan struct{})}
	d.mu.Lock()
	d.pipelines = append(d.pipelines, p)
	d.mu.Unlock()
	go func() { // close waits for it
		defer close(p.done)
		if _, p.err = h.Run(held); p.err != nil {
			d.end(p.err)
		}
	}()
	return nil
}

// holding is the pipeline by which this process holds the directory; nil if it does not.
func (d *directory) holding() *pipeline {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.pipelines {
		select {
		case <-p.done:
		default:
			return p
		}
	}
	return nil
}

// keep looks after the holder until ctx ends: when it is lost, this session takes its place if it was a
// command that has left, or if this command has no answer yet; else it waits for the next one, and ends
// ctx when none comes.
func (d *directory) keep(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.client.Gone():
			d.end(holder.ErrGone)
			return
		case <-d.client.Lost():
		}
		for ctx.Err() == nil && !d.client.Connected() {
			if !d.answered.Load() || d.dir.Left() {
				if err := d.hold(ctx); err != nil {
					d.end(err)
					return
				}
			}
			select {
			case <-ctx.Done():
			case <-d.client.Gone():
				d.end(holder.ErrGone)
				return
			case <-time.After(raceEvery):
			}
		}
	}
}

// patient asks what any holder of the directory may answer, and asks again where the answer may have
// been lost because the holder changed. It returns ctx's cause when that ends, and errors that another
// try does not mend.
func (d *directory) patient(ctx context.Context, ask func() error) error {
	began := time.Now()
	for {
		changes := d.client.Changes()
		err := ask()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case isAny(err, sink.ErrVersion, topology.ErrDrifted, topology.ErrPartitions, fs.ErrPermission):
			return err // no other holder mends it
		case !d.client.Connected(), d.client.Changes() != changes: // asked while the holder changed
		case !isTransient(err), time.Since(began) > patience:
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(raceEvery):
		}
	}
}

// settle implements site.
func (d *directory) settle(ctx context.Context, id schema.Identity, frame uint64) error {
	return d.client.Settle(ctx, id, frame)
}

// close gives the directory back and waits for the pipeline that this process runs.
func (d *directory) close() error {
	var errs []error
	d.end(nil)
	d.keeping.Wait()
	if d.client != nil {
		d.client.Close()
	}
	for _, p := range d.pipelines {
		p.stop()
		<-p.done
		errs = append(errs, p.err)
	}
	return errors.Join(errs...)
}
