package follow

import (
	"context"
	"errors"
	"fmt"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// resume learns which frame the cursor stands at, so that no older snapshot is taken.
func (r *run) resume(ctx context.Context) error {
	if r.cursor == 0 {
		return nil
	}
	for e, err := range r.Reader.Events(ctx, r.Transcript, r.cursor-1, 1) {
		if err != nil {
			return err
		}
		event, err := schema.DecodeEvent(e.Bytes)
		if err != nil {
			return fmt.Errorf("read event %d: %w", e.Seq, err)
		}
		if e.Seq == r.cursor {
			r.view.store(&event)
		}
	}
	return nil
}

// catchUp gives the events from the cursor up to the ledger's head, and the end if that is one. The
// status is read first, so that an end is told only after all that was stored with it; where more was
// stored meanwhile, the end may be over.
func (r *run) catchUp(ctx context.Context) error {
	summary, err := r.Reader.Transcript(ctx, r.Transcript)
	if err != nil && !errors.Is(err, sink.ErrNotFound) {
		return err
	}
	if summary.Head > r.cursor {
		for e, err := range r.Reader.Events(ctx, r.Transcript, r.cursor, 0) {
			if err != nil {
				return err
			}
			if err := r.give(e); err != nil {
				return err
			}
		}
	}
	if r.lag > 0 && r.cursor >= r.target {
		r.lag = 0
		if err := r.emit(&Lag{Reason: LagBehind}); err != nil {
			return err
		}
	}
	switch {
	case summary.Status == schema.StatusParked:
		return r.sayStuck()
	case r.ended || r.cursor != summary.Head:
		return nil
	case summary.Status == schema.StatusEnded, summary.Status == schema.StatusAbandoned:
		r.ended = true
		return r.emit(&End{Status: summary.Status, Head: summary.Head})
	}
	return nil
}

func (r *run) give(e sink.Event) error {
	if e.Seq != r.cursor+1 {
		return fmt.Errorf("read event %d: the ledger gives %d", r.cursor+1, e.Seq)
	}
	event, err := schema.DecodeEvent(e.Bytes)
	if err != nil {
		return fmt.Errorf("read event %d: %w", e.Seq, err)
	}
	r.view.store(&event)
	r.cursor, r.ended, r.stuck = e.Seq, false, false
	return r.emit(&Event{Seq: e.Seq, Bytes: e.Bytes, Event: event})
}

// sayBehind says by how many events the ledger is behind the fold, if that has changed.
func (r *run) sayBehind() error {
	lag := uint64(0)
	if r.target > r.cursor {
		lag = r.target - r.cursor
	}
	if lag == r.lag {
		return nil
	}
	r.lag = lag
	return r.emit(&Lag{Reason: LagBehind, Events: lag})
}

// sayStuck says that the sink has parked the capture.
func (r *run) sayStuck() error {
	if r.stuck {
		return nil
	}
	r.stuck = true
	return r.emit(&Lag{Reason: LagParked, Detail: "the ledger does not take the capture's next record"})
}
