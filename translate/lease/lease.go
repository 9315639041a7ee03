// Package lease spreads the partitions over the workers that live: each holds a lease for every
// partition that it serves. A lease saves work and nothing else; what is right, the fences decide.
package lease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// DefaultTTL is how long a lease lasts that is not renewed: a killed worker's partitions are free then.
const DefaultTTL = 3 * time.Second

// Bounds of the time of a lease: a killed worker's partitions are nobody's for as long.
const (
	MinTTL = time.Second
	MaxTTL = time.Minute
)

// ErrName marks a worker of whose name another one lives.
var ErrName = errors.New("another worker of this name lives")

// renewals is how often a lease is renewed in its time.
const renewals = 3

// Server serves partitions. Both methods are called by one goroutine.
type Server interface {
	// Take begins to serve a partition and returns at once.
	Take(partition uint32)
	// Drop ends serving a partition and returns when nothing of it is in flight, or ctx ends.
	Drop(ctx context.Context, partition uint32)
}

// Options make leases.
type Options struct {
	JS         jetstream.JetStream
	Partitions uint32
	Worker     string        // a token, unlike every other worker's
	TTL        time.Duration // 0: DefaultTTL; whole seconds, MinTTL to MaxTTL
	Log        zerolog.Logger
}

// Leases are one worker's.
type Leases struct {
	o  Options
	kv jetstream.KeyValue
	// instance is what the worker's own key holds, unlike that of any other process of its name. The leases
	// hold it behind the name: a zombie's are not its successor's.
	instance string
	self     uint64            // revision of the worker's own key; 0 if there is none
	held     map[uint32]uint64 // revision of the lease, by partition
	seen     map[string]string // what the bucket holds, by key
	mu       sync.Mutex
	counts   int // of held, for Held
}

// New makes a worker's leases.
func New(o Options) (*Leases, error) {
	if !schema.IsToken(o.Worker) {
		return nil, fmt.Errorf("make leases: worker %q is not a token", o.Worker)
	}
	if o.Partitions == 0 {
		return nil, errors.New("make leases: no number of partitions")
	}
	if o.TTL == 0 {
		o.TTL = DefaultTTL
	}
	if o.TTL < MinTTL || o.TTL > MaxTTL || o.TTL%time.Second != 0 {
		return nil, fmt.Errorf("make leases: a time of %s: want whole seconds, from %s to %s", o.TTL, MinTTL, MaxTTL)
	}
	return &Leases{o: o, instance: uuid.NewString(), held: map[uint32]uint64{}, seen: map[string]string{}}, nil
}

// Held is how many partitions the worker has.
func (l *Leases) Held() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts
}

// Run takes this worker's part of the partitions and gives up what is above it, until ctx ends; then it
// drops all it has and gives the leases back, so that others take them at once. While the bucket cannot
// be reached it serves on what it has: another one may, too, and that does no harm. The error wraps ErrName
// if another worker of its name lives; one that was killed is waited for until its key ends.
func (l *Leases) Run(ctx context.Context, s Server) error {
	var err error
	if l.kv, err = l.o.JS.KeyValue(ctx, topology.Leases); err != nil {
		return fmt.Errorf("open bucket %s: %w", topology.Leases, err)
	}
	if err := l.enter(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	watch, err := topology.Watch(ctx, l.kv, ">")
	if err != nil {
		return err
	}
	defer func() { _ = watch.Stop() }() // the connection may be gone
	tick := time.NewTicker(l.o.TTL / renewals)
	defer tick.Stop()
	known := false // all that the bucket held at first is seen
	for {
		select {
		case <-ctx.Done():
			l.leave(context.WithoutCancel(ctx), s)
			return nil
		case <-tick.C:
			if err := l.renew(ctx, s); err != nil {
				l.self = 0 // the key is the other one's
				l.leave(context.WithoutCancel(ctx), s)
				return err
			}
		case update, ok := <-watch.Updates():
			if !ok {
				return errors.New("watch leases: the watch has ended")
			}
			if update == nil {
				known = true
			} else {
				l.note(update)
			}
		}
		if known && len(watch.Updates()) == 0 {
			l.balance(ctx, s)
		}
	}
}

// note takes what the bucket says.
func (l *Leases) note(e jetstream.KeyValueEntry) {
	if e.Operation() == jetstream.KeyValuePut {
		l.seen[e.Key()] = string(e.Value())
	} else {
		delete(l.seen, e.Key())
	}
}

const (
	workerPrefix    = "worker."
	partitionPrefix = "partition."
)

func partitionKey(p uint32) string { return partitionPrefix + strconv.FormatUint(uint64(p), 10) }

// share is how many partitions are this worker's, of the workers that live.
func (l *Leases) share() int {
	workers := []string{l.o.Worker}
	for key := range l.seen {
		if name, ok := strings.CutPrefix(key, workerPrefix); ok && name != l.o.Worker {
			workers = append(workers, name)
		}
	}
	slices.Sort(workers)
	n, at := len(workers), slices.Index(workers, l.o.Worker)
	share := int(l.o.Partitions) / n
	if at < int(l.o.Partitions)%n {
		share++
	}
	return share
}

// balance gives up what is above the worker's share, or takes what is free up to it.
func (l *Leases) balance(ctx context.Context, s Server) {
	share := l.share()
	for p := l.o.Partitions; p > 0 && len(l.held) > share; p-- {
		if _, ok := l.held[p-1]; ok {
			l.give(ctx, s, p-1)
		}
	}
	// Workers begin at different places, so that they do not all try for the same one.
	begin := schema.Identity{Namespace: "lease", Workflow: "lease", Run: l.o.Worker}.Partition(l.o.Partitions)
	for i := uint32(0); i < l.o.Partitions && len(l.held) < share; i++ {
		p := (begin + i) % l.o.Partitions
		_, mine := l.held[p]
		there := l.seen[partitionKey(p)]
		if mine || there != "" && there != l.value() { // one's own that is not held is of a write whose answer was lost
			continue
		}
		l.take(ctx, s, p)
	}
}

func (l *Leases) take(ctx context.Context, s Server, p uint32) {
	revision, err := l.create(ctx, p)
	if err != nil {
		if !errors.Is(err, jetstream.ErrKeyExists) {
			l.o.Log.Debug().Err(err).Uint32("partition", p).Msg("take lease")
		}
		return
	}
	l.hold(p, revision)
	l.seen[partitionKey(p)] = l.value()
	s.Take(p)
}

// create makes a lease where there is none, or finds that it is this worker's by a write whose answer was
// lost. An error is ErrKeyExists if another one has it.
func (l *Leases) create(ctx context.Context, p uint32) (revision uint64, err error) {
	revision, err = l.kv.Create(ctx, partitionKey(p), []byte(l.value()), jetstream.KeyTTL(l.o.TTL))
	if !errors.Is(err, jetstream.ErrKeyExists) {
		return revision, err
	}
	there, at, readErr := last(ctx, l.o.JS, p)
	if readErr != nil {
		return 0, readErr
	}
	if there != l.value() {
		return 0, err
	}
	return at, nil
}

// value is what the worker's leases hold.
func (l *Leases) value() string { return l.o.Worker + " " + l.instance }

// Owns reports whether the worker has the partition, as the bucket's leader says now. Another process of
// its name is another worker.
func (l *Leases) Owns(ctx context.Context, partition uint32) (bool, error) {
	there, _, err := last(ctx, l.o.JS, partition)
	return there == l.value(), err
}

// give drops a partition and gives its lease back.
func (l *Leases) give(ctx context.Context, s Server, p uint32) {
	revision := l.held[p]
	s.Drop(ctx, p)
	l.lose(p)
	delete(l.seen, partitionKey(p))
	err := l.kv.Delete(ctx, partitionKey(p), jetstream.LastRevision(revision))
	if wrongRevision(err) { // perhaps renewed by a write whose answer was lost
		var there string
		there, revision, err = last(ctx, l.o.JS, p)
		if err == nil && there == l.value() {
			err = l.kv.Delete(ctx, partitionKey(p), jetstream.LastRevision(revision))
		}
	}
	if err != nil {
		l.o.Log.Debug().Err(err).Uint32("partition", p).Msg("give lease back; it ends by itself")
	}
}

func (l *Leases) hold(p uint32, revision uint64) {
	l.held[p] = revision
	l.count()
}

func (l *Leases) lose(p uint32) {
	delete(l.held, p)
	l.count()
}

func (l *Leases) count() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts = len(l.held)
}

// enter makes the worker's key. Where there is one of its name, it waits until that ends, or is renewed:
// then its worker lives.
func (l *Leases) enter(ctx context.Context) error {
	tick := time.NewTicker(MinTTL / renewals)
	defer tick.Stop()
	var first uint64
	for {
		revision, err := l.kv.Create(ctx, l.key(), []byte(l.instance), jetstream.KeyTTL(l.o.TTL))
		if err == nil {
			l.self = revision
			return nil
		}
		if errors.Is(err, jetstream.ErrKeyExists) {
			there, readErr := l.kv.Get(ctx, l.key())
			switch {
			case readErr != nil:
				err = readErr
			case string(there.Value()) == l.instance: // by a write whose answer was lost
				l.self = there.Revision()
				return nil
			case first != 0 && there.Revision() != first:
				return fmt.Errorf("take leases as %s: %w", l.o.Worker, ErrName)
			case first == 0:
				l.o.Log.Info().Str("worker", l.o.Worker).Dur("ttl", l.o.TTL).
					Msg("there is a key of this worker's name (--name); waiting until it ends, or is renewed")
				first = there.Revision()
			}
		}
		l.o.Log.Debug().Err(err).Msg("make the worker's key")
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// key is the worker's own.
func (l *Leases) key() string { return workerPrefix + l.o.Worker }

// renewSelf makes the worker's key last. An error wraps ErrName if it had ended, and another one of its
// name has come.
func (l *Leases) renewSelf(ctx context.Context) error {
	revision, err := l.put(ctx, l.key(), l.instance, l.self)
	if err == nil {
		l.self = revision
		return nil
	}
	if !wrongRevision(err) {
		return nil
	}
	revision, err = l.kv.Create(ctx, l.key(), []byte(l.instance), jetstream.KeyTTL(l.o.TTL))
	if err == nil {
		l.self = revision
		return nil
	}
	if !errors.Is(err, jetstream.ErrKeyExists) {
		return nil
	}
	there, err := l.kv.Get(ctx, l.key())
	if err != nil {
		return nil // the next time
	}
	if string(there.Value()) != l.instance {
		return fmt.Errorf("renew leases as %s: %w", l.o.Worker, ErrName)
	}
	l.self = there.Revision()
	return nil
}

// renew makes the worker's key and its leases last. A lease that another one has is lost.
func (l *Leases) renew(ctx context.Context, s Server) error {
	ctx, cancel := context.WithTimeout(ctx, l.o.TTL)
	defer cancel()
	if err := l.renewSelf(ctx); err != nil {
		return err
	}
	for p, revision := range l.held {
		next, err := l.renewOne(ctx, p, revision)
		switch {
		case err == nil:
			l.hold(p, next)
		case errors.Is(err, jetstream.ErrKeyExists):
			l.o.Log.Info().Uint32("partition", p).Msg("another worker has the partition")
			l.lose(p)
			s.Drop(ctx, p)
		default:
			l.o.Log.Debug().Err(err).Uint32("partition", p).Msg("renew lease; serving on")
		}
	}
	return nil
}

// renewOne makes a lease last. Where it is refused, it had ended, and is ours again if nobody else was
// faster; or it is ours still, by a write whose answer was lost, or one that is on its way. An error is
// ErrKeyExists if another one has it.
func (l *Leases) renewOne(ctx context.Context, p uint32, revision uint64) (uint64, error) {
	next, err := l.put(ctx, partitionKey(p), l.value(), revision)
	if !wrongRevision(err) {
		return next, err
	}
	there, at, err := last(ctx, l.o.JS, p)
	switch {
	case err != nil:
		return 0, err
	case there == l.value():
		return at, nil
	case there != "":
		return 0, jetstream.ErrKeyExists
	}
	return l.create(ctx, p)
}

// put writes a key with its time anew behind a revision; 0 makes it. The client library's Update would
// take the time away (nats-io/nats.go#1994).
func (l *Leases) put(ctx context.Context, key, value string, revision uint64) (uint64, error) {
	ack, err := l.o.JS.Publish(ctx, subject(key), []byte(value),
		jetstream.WithMsgTTL(l.o.TTL), jetstream.WithExpectLastSequencePerSubject(revision))
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

func wrongRevision(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == 10164)
}

// leave gives all back: the worker's key first, so that the others' shares grow before.
func (l *Leases) leave(ctx context.Context, s Server) {
	ctx, cancel := context.WithTimeout(ctx, l.o.TTL)
	defer cancel()
	if l.self > 0 {
		if err := l.kv.Delete(ctx, workerPrefix+l.o.Worker, jetstream.LastRevision(l.self)); err != nil {
			l.o.Log.Debug().Err(err).Msg("take worker's key away; it ends by itself")
		}
	}
	for p := range l.held {
		l.give(ctx, s, p)
	}
}
