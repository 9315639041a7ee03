package sink

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// Options of a sink. JS and Ledger are needed; the rest has defaults.
type Options struct {
	JS     jetstream.JetStream
	Ledger Ledger
	// Ownership gives this sink its partitions; nil = Alone.
	Ownership Ownership
	// OnStored is called after each transaction, by one partition at a time and several at once.
	OnStored func(Stored)
	// Index is filled with what is stored, behind it; nil = none is.
	Index Index
	Log   zerolog.Logger

	MaxEvents  int           // in a transaction, more only if one record has more; 0 = 4096
	MaxBytes   int           // read ahead in each partition; 0 = 8 MiB
	FirstRetry time.Duration // wait after a failure, doubled up to MaxRetry; 0 = 50 ms
	MaxRetry   time.Duration // 0 = 5 s
	Away       time.Duration // without NATS, until the partitions are given back; 0 = 5 s
}

// Sink stores the records of its partitions.
type Sink struct {
	o        Options
	progress *progress
	fresh    chan struct{} // holds a token while something may be stored that is not indexed
	claims   claims
}

// New makes a sink; Run runs it.
func New(o Options) *Sink {
	setDefault(&o.MaxEvents, 4096)
	setDefault(&o.MaxBytes, 8<<20)
	setDefault(&o.FirstRetry, 50*time.Millisecond)
	setDefault(&o.MaxRetry, 5*time.Second)
	setDefault(&o.Away, 5*time.Second)
	if o.Ownership == nil {
		o.Ownership = Alone{}
	}
	return &Sink{o: o, progress: newProgress(), fresh: make(chan struct{}, 1)}
}

func setDefault[T comparable](option *T, value T) {
	var zero T
	if *option == zero {
		*option = value
	}
}

// Run stores until ctx ends, which is its only end without an error. It claims each partition that its
// ownership gives; when it is alone and another owner claims one later, the error wraps ErrFenced.
// Failures of NATS and of the ledger are retried; what cannot get better, such as a drifted stream or
// a blob that is gone, is returned.
func (s *Sink) Run(ctx context.Context) error {
	indexing, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { s.index(indexing) })
	err := s.run(ctx)
	stop()
	wg.Wait()
	s.progress.stop(err)
	return err
}

func (s *Sink) run(ctx context.Context) error {
	changed := s.o.JS.Conn().StatusChanged(nats.CONNECTED, nats.RECONNECTING)
	defer s.o.JS.Conn().RemoveStatusListener(changed)
	for {
		first, err := s.link(ctx)
		if err != nil {
			return s.end(ctx, err)
		}
		if err := s.partitions(ctx, first, changed); !errors.Is(err, errRestart) {
			return s.end(ctx, err)
		}
	}
}

func (s *Sink) end(ctx context.Context, err error) error {
	if ctx.Err() != nil && !errors.Is(err, ErrFenced) {
		return nil
	}
	return err
}

// partitions serves what the ownership gives until something fails.
func (s *Sink) partitions(ctx context.Context, first *link, changed <-chan nats.Status) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer first.lose(nil)
	links := newLinks(first)
	var wg sync.WaitGroup
	wg.Go(func() { stop(s.watch(ctx, links, changed)) })
	stop(s.o.Ownership.Run(ctx, first.info.Partitions, func(ctx context.Context, number uint32) error {
		return s.serve(ctx, number, links)
	}))
	wg.Wait()
	return context.Cause(ctx)
}

// serve stores one partition until ctx ends, over as many connections as it takes.
func (s *Sink) serve(ctx context.Context, number uint32, links *links) error {
	for {
		l, err := links.wait(ctx)
		if err != nil {
			return s.end(ctx, err)
		}
		p := &partition{
			sink: s, number: number, of: l.info.Partitions, created: l.info.Created[topology.Events].UTC(),
			blobs: l.blobs, queue: newQueue(s.o.MaxBytes),
		}
		linked, stop := context.WithCancelCause(ctx)
		unlink := context.AfterFunc(l.ctx, func() { stop(errRestart) })
		err = p.run(linked)
		unlink()
		restart := errors.Is(err, errRestart) || errors.Is(context.Cause(linked), errRestart) && !errors.Is(err, ErrFenced)
		stop(nil)
		if !restart || ctx.Err() != nil {
			if err != nil {
				err = fmt.Errorf("store partition %d: %w", number, err)
			}
			return s.end(ctx, err)
		}
	}
}

// Wait waits until everything of the partition up to a sequence of STENO_EVENTS is stored, or
// parked. The error wraps ErrStopped if Run ended before.
func (s *Sink) Wait(ctx context.Context, partition uint32, seq uint64) error {
	return s.progress.wait(ctx, partition, seq)
}

// wake publishes the new heads. They are hints: a reader that misses one finds the head by itself.
func (s *Sink) wake(heads []Head) {
	for _, h := range heads {
		subject := schema.StoredSubject(h.Transcript)
		if err := s.o.JS.Conn().Publish(subject, strconv.AppendUint(nil, h.Seq, 10)); err != nil {
			s.o.Log.Warn().Err(err).Stringer("transcript", h.Transcript).Msg("publish wake-up")
		}
	}
}

// retry does something until it works, ctx ends or another try cannot help.
func retry[T any](ctx context.Context, s *Sink, what string, do func() (T, error)) (T, error) {
	wait := s.o.FirstRetry
	for {
		v, err := do()
		if err == nil || ctx.Err() != nil || hopeless(err) {
			return v, err
		}
		s.o.Log.Warn().Err(err).Dur("retry_in", wait).Msg(what)
		select {
		case <-ctx.Done():
			return v, ctx.Err()
		case <-time.After(wait):
		}
		wait = min(2*wait, s.o.MaxRetry)
	}
}

func hopeless(err error) bool {
	for _, end := range []error{
		ErrFenced, ErrDenied, ErrRefused, topology.ErrMissing, topology.ErrDrifted, topology.ErrBlob,
		nats.ErrConnectionClosed, jetstream.ErrStreamNotFound,
	} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}
