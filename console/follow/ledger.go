package follow

import (
	"context"
	"fmt"
	"time"

	"github.com/steno-io/steno/schema"
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

// catchUp gives the events from the cursor up to the head that the ledger has had since a time, and the end
// if that is one. What another follower has seen of the ledger since then is as good.
func (r *run) catchUp(ctx context.Context, since time.Time) error {
	seen, err := r.feed.tail.look(ctx, since)
	if err != nil {
		return err
	}
	if seen.head > r.cursor && (len(seen.events) == 0 || seen.events[0].Seq > r.cursor+1) {
		err = r.history(ctx)
	} else {
		err = r.recent(seen.events)
	}
	if err != nil {
		return err
	}
	summary := seen.summary
	if r.lag > 0 && r.cursor >= r.target {
		r.lag = 0
		if err := r.emit(&Lag{Reason: LagBehind}); err != nil {
			return err
		}
	}
	switch {
	case summary.Status == schema.StatusParked:
		return r.sayStuck()
	case r.ended || r.cursor != summary.Head || r.cursor < r.target: // or more is known to come
		return nil
	case summary.Status == schema.StatusEnded, summary.Status == schema.StatusAbandoned:
		r.ended = true
		return r.emit(&End{Status: summary.Status, Head: summary.Head})
	}
	return nil
}

// history gives the events behind the cursor as the ledger has them.
func (r *run) history(ctx context.Context) error {
	for e, err := range r.Reader.Events(ctx, r.Transcript, r.cursor, 0) {
		if err != nil {
			return err
		}
		event, err := readEvent(e, r.cursor)
		if err != nil {
			return err
		}
		if err := r.give(event); err != nil {
			return err
		}
	}
	return nil
}

// recent gives those of the last events that are behind the cursor.
func (r *run) recent(events []*Event) error {
	for _, e := range events {
		if e.Seq <= r.cursor {
			continue
		}
		if err := r.give(e); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) give(e *Event) error {
	r.view.store(&e.Event)
	r.cursor, r.ended, r.stuck = e.Seq, false, false
	return r.emit(e)
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
