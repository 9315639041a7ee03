package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"github.com/steno-io/steno/sink"
)

// OwnershipOptions of a sink among others. All have defaults.
type OwnershipOptions struct {
	ID    string        // of this sink among all; "" = host name, process id and something random
	Beat  time.Duration // between two signs of life; 0 = 1 s
	Lease time.Duration // without one until a sink counts as gone; 0 = 5 s
	Log   zerolog.Logger
}

// Ownership spreads the partitions evenly over the sinks that use one database: each takes its
// share of what is free, and gives back what is beyond it when others join.
type Ownership struct {
	ledger *Ledger
	o      OwnershipOptions
}

var _ sink.Ownership = (*Ownership)(nil)

// NewOwnership makes the ownership of one sink; its Run does the work.
func NewOwnership(l *Ledger, o OwnershipOptions) *Ownership {
	if o.ID == "" {
		host, _ := os.Hostname() // only to be read by people
		o.ID = fmt.Sprintf("%s/%d/%s", host, os.Getpid(), uuid.NewString()[:8])
	}
	if o.Beat == 0 {
		o.Beat = time.Second
	}
	if o.Lease == 0 {
		o.Lease = 5 * time.Second
	}
	return &Ownership{ledger: l, o: o}
}

// Run implements sink.Ownership. While the database cannot be reached it keeps what it has until the
// lease is over. An error wraps ErrName if another sink of its name lives (one that was killed is waited for
// until its lease is over), and sink.ErrDenied if a right is missing.
func (o *Ownership) Run(ctx context.Context, count uint32, serve func(context.Context, uint32) error) error {
	if o.ledger.readOnly {
		return fmt.Errorf("own partitions in ledger %s: %w", o.ledger.name, errReadOnly)
	}
	r := &owning{
		Ownership: o, serve: serve, served: map[uint32]*served{}, ended: make(chan ended),
		members: &members{config: o.ledger.pool.Config().ConnConfig, id: o.o.ID, instance: uuid.NewString(), lease: o.o.Lease, count: count},
	}
	err := r.run(ctx)
	r.stop()
	return err
}

// owning is one Run.
type owning struct {
	*Ownership
	*members
	serve  func(context.Context, uint32) error
	served map[uint32]*served
	ended  chan ended
}

// served is a partition that is served.
type served struct {
	stop    context.CancelFunc
	leaving bool // to be given back when serve has returned
}

type ended struct {
	partition uint32
	err       error
}

func (r *owning) run(ctx context.Context) error {
	beat := time.NewTicker(r.o.Beat)
	defer beat.Stop()
	waited := false
	heard := time.Now() // before the last beat that the database took
	for {
		now := time.Now()
		switch err := r.beat(ctx); {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			heard = now
		case errors.Is(err, ErrName), errors.Is(err, sink.ErrDenied):
			return err
		case errors.Is(err, errWaiting):
			if !waited {
				r.o.Log.Warn().Str("sink", r.o.ID).Msg("there is a sink of this name (--name); waiting until it is gone, or gives a sign of life")
			}
			waited = true
		default:
			r.o.Log.Warn().Err(err).Msg("no sign of life given")
			if time.Since(heard) > r.o.Lease {
				r.keep(nil) // others have them by now
			}
		}
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				return nil
			case <-beat.C:
				waiting = false
			case e := <-r.ended:
				if err := r.end(ctx, e); err != nil {
					return err
				}
			}
		}
	}
}

// beat gives a sign of life, takes what is this sink's share, and gives back what is beyond it.
func (r *owning) beat(ctx context.Context) error {
	mine, share, err := r.round(ctx)
	if err != nil {
		return err
	}
	r.keep(mine)
	beyond := len(mine) - share
	for _, s := range r.served {
		if s.leaving {
			beyond--
		}
	}
	for _, p := range mine {
		s := r.served[p]
		if s == nil {
			r.start(ctx, p)
			s = r.served[p]
		}
		if beyond > 0 && !s.leaving {
			beyond--
			s.leaving = true
			s.stop()
		}
	}
	return nil
}

// start serves a partition.
func (r *owning) start(ctx context.Context, partition uint32) {
	ctx, stop := context.WithCancel(ctx)
	r.served[partition] = &served{stop: stop}
	go func() { r.ended <- ended{partition, r.serve(ctx, partition)} }()
}

// keep stops what is served and not among the given partitions: another has it.
func (r *owning) keep(mine []uint32) {
	kept := map[uint32]bool{}
	for _, p := range mine {
		kept[p] = true
	}
	for p, s := range r.served {
		if !kept[p] {
			s.stop()
		}
	}
}

// end takes note that a partition is not served any more.
func (r *owning) end(ctx context.Context, e ended) error {
	s := r.served[e.partition]
	delete(r.served, e.partition)
	s.stop()
	switch {
	case errors.Is(e.err, sink.ErrFenced):
		r.o.Log.Warn().Err(e.err).Str("sink", r.o.ID).Msg("partition was taken over")
	case e.err != nil:
		return e.err
	}
	if s.leaving {
		if err := r.release(ctx, e.partition); err != nil { // the next round begins with it again
			r.o.Log.Warn().Err(err).Uint32("partition", e.partition).Msg("give back a partition")
		}
	}
	return nil
}

// stop waits for all that is served and gives everything back. When that fails it is free after the
// lease.
func (r *owning) stop() {
	for _, s := range r.served {
		s.stop()
	}
	for range r.served {
		if e := <-r.ended; e.err != nil {
			r.o.Log.Warn().Err(e.err).Str("sink", r.o.ID).Msg("end of a partition")
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.o.Lease)
	defer cancel()
	if err := r.leave(ctx); err != nil {
		r.o.Log.Warn().Err(err).Str("sink", r.o.ID).Msg("give back all partitions")
	}
}
