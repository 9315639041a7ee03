package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/cmd/steno/holder"
	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/sqlite"
	"github.com/steno-io/steno/translate/stage"
)

// Times of a session.
const (
	raceEvery = 50 * time.Millisecond
	patience  = 30 * time.Second // with a holder that is there, but does not answer
)

// session is a command's access to a data directory: through the process that holds it, or through
// the embedded pipeline that this command starts for as long as it runs. When a command that holds the
// directory ends, the sessions that went through it race for its place; where an up ends, or a holder
// is killed, they wait for the next one.
type session struct {
	dir    holder.Dir
	client *holder.Client
	js     jetstream.JetStream
	info   topology.Info
	ledger *sqlite.Ledger // read-only
	// unstored says of each journal and capture that does not come through why. What a command answers
	// is without it.
	unstored []string
	stalled  error // of the captures that were waited for in vain since

	options  holder.Options
	end      context.CancelCauseFunc
	keeping  sync.WaitGroup // of who waits for the client to be lost
	answered atomic.Bool    // the first answer is there

	mu        sync.Mutex
	pipelines []*pipeline
	held      *pipeline // where this process was the holder when the first answer came
}

// pipeline is a holder that this process runs.
type pipeline struct {
	stop context.CancelFunc
	done chan struct{}
	err  error // once done
}

// open opens the data directory. It answers only when what the journals held is numbered; of what does
// not come through it warns. The context that it gives ends when the directory has no holder any more.
func (a *app) open(ctx context.Context, name string) (*session, context.Context, error) {
	s := &session{dir: a.dir()}
	ctx, s.end = context.WithCancelCause(ctx)
	if err := s.begin(ctx, a, name); err != nil {
		return nil, ctx, errors.Join(why(ctx, err), s.close())
	}
	for _, what := range s.unstored {
		fmt.Fprintln(a.err, "steno: warning: not come through:", what)
	}
	return s, ctx, nil
}

func (s *session) begin(ctx context.Context, a *app, name string) (err error) {
	if s.options, err = a.holderOptions(holder.Command); err != nil {
		return err
	}
	if err := s.hold(ctx); err != nil {
		return err
	}
	if s.client, err = s.dir.ConnectOr(ctx, "steno "+name, func() error { return s.hold(ctx) }); err != nil {
		return err
	}
	s.keeping.Go(func() { s.keep(ctx) })
	if address, err := s.dir.ReadAddress(); err == nil && address.Version != version {
		a.log.Warn().Str("holder", address.Version).Str("this", version).Msg("another version of steno holds the data directory")
	}
	if s.js, err = jetstream.New(s.client.Conn, publish.Forget()); err != nil {
		return fmt.Errorf("open JetStream: %w", err)
	}
	if err := s.patient(ctx, func() (err error) {
		s.info, err = topology.Check(ctx, s.js)
		return err
	}); err != nil {
		return err
	}
	if s.unstored, err = s.client.Drain(ctx); err != nil {
		return err
	}
	s.answered.Store(true)
	s.held = s.holding()
	return s.patient(ctx, func() (err error) {
		s.ledger, err = sqlite.Open(s.dir.Ledger(), sqlite.Options{ReadOnly: true})
		return err
	})
}

// why gives the reason for which a context ended, where that is what an error says.
func why(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
		return cause
	}
	return err
}

// hold takes the directory if nobody has it.
func (s *session) hold(ctx context.Context) error {
	if s.holding() != nil {
		return nil
	}
	h, err := holder.Acquire(ctx, s.options)
	if errors.Is(err, holder.ErrHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	// It runs until close, also when ctx has ended: what was asked before is still answered.
	held, stop := context.WithCancel(context.WithoutCancel(ctx))
	p := &pipeline{stop: stop, done: make(chan struct{})}
	s.mu.Lock()
	s.pipelines = append(s.pipelines, p)
	s.mu.Unlock()
	go func() { // close waits for it
		defer close(p.done)
		if _, p.err = h.Run(held); p.err != nil {
			s.end(p.err)
		}
	}()
	return nil
}

// holding is the pipeline by which this process holds the directory; nil if it does not.
func (s *session) holding() *pipeline {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pipelines {
		select {
		case <-p.done:
		default:
			return p
		}
	}
	return nil
}

// keep looks after the holder until ctx ends: when it is lost, this session takes its place if it was a
// command that has left, or if this session has no answer yet; else it waits for the next one, and ends
// ctx when none comes.
func (s *session) keep(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.client.Gone():
			s.end(holder.ErrGone)
			return
		case <-s.client.Lost():
		}
		for ctx.Err() == nil && !s.client.Connected() {
			if !s.answered.Load() || s.dir.Left() {
				if err := s.hold(ctx); err != nil {
					s.end(err)
					return
				}
			}
			select {
			case <-ctx.Done():
			case <-s.client.Gone():
				s.end(holder.ErrGone)
				return
			case <-time.After(raceEvery):
			}
		}
	}
}

// patient asks what any holder of the directory may answer, and asks again where the answer may have
// been lost because the holder changed. It returns ctx's cause when that ends, and errors that another
// try does not mend.
func (s *session) patient(ctx context.Context, ask func() error) error {
	began := time.Now()
	for {
		changes := s.client.Changes()
		err := ask()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case isAny(err, sink.ErrVersion, topology.ErrDrifted, topology.ErrPartitions, fs.ErrPermission):
			return err // no other holder mends it
		case !s.client.Connected(), s.client.Changes() != changes: // asked while the holder changed
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

// parked lists the captures that the stage has parked.
func (s *session) parked(ctx context.Context) (list []stage.ParkedCapture, err error) {
	err = s.patient(ctx, func() (err error) {
		list, err = stage.ListParked(ctx, s.js)
		return err
	})
	return list, err
}

// blobs opens what is kept apart from the streams.
func (s *session) blobs(ctx context.Context) (blobs *topology.Blobs, err error) {
	err = s.patient(ctx, func() (err error) {
		blobs, err = topology.OpenBlobs(ctx, s.js)
		return err
	})
	return blobs, err
}

// isTransient tells errors that a busy server gives, or a holder on its way.
func isTransient(err error) bool {
	return isAny(err, nats.ErrTimeout, nats.ErrNoResponders, nats.ErrDisconnected, nats.ErrReconnectBufExceeded,
		jetstream.ErrNoStreamResponse, context.DeadlineExceeded, fs.ErrNotExist)
}

func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

// close gives everything back and waits for the pipeline that this process runs.
func (s *session) close() error {
	var errs []error
	if s.ledger != nil {
		errs = append(errs, s.ledger.Close())
	}
	s.end(nil)
	s.keeping.Wait()
	if s.client != nil {
		s.client.Close()
	}
	for _, p := range s.pipelines {
		p.stop()
		<-p.done
		errs = append(errs, p.err)
	}
	return errors.Join(errs...)
}
