// Package replay gives a transcript's events again, with the pauses that lay between them.
package replay

import (
	"context"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/steno-io/steno/schema"
)

// Options of a replay. The zero value is the original timing.
type Options struct {
	Speed     float64       // divides every pause; 0 = 1
	IdleLimit time.Duration // no pause is longer, as waited; 0 = no limit
	Clock     Clock         // nil = the system's
}

// Clock is what a replay waits by.
type Clock interface {
	Now() time.Time
	// WaitUntil returns nil at the time, at once if it is past, or ctx.Err() when ctx ends first.
	WaitUntil(ctx context.Context, at time.Time) error
}

// Replay calls emit for each event when it is due by emitted_at; the first is due at once. Where emit
// or the source take longer than a pause, the events behind it follow without waiting until the time
// is made up. It ends with the events, with ctx, or with the first error of the source or of emit.
func Replay(ctx context.Context, events iter.Seq2[schema.Event, error], o Options, emit func(schema.Event) error) error {
	speed := o.Speed
	if speed == 0 {
		speed = 1
	}
	if !(speed > 0) || math.IsInf(speed, 0) {
		return fmt.Errorf("replay at speed %v: want a number above 0", o.Speed)
	}
	if o.IdleLimit < 0 {
		return fmt.Errorf("replay with idle limit %s: want 0 or more", o.IdleLimit)
	}
	clock := o.Clock
	if clock == nil {
		clock = system{}
	}
	var before, due time.Time
	for e, err := range events {
		if err != nil {
			return err
		}
		if due.IsZero() {
			due = clock.Now()
		} else {
			due = due.Add(pause(e.EmittedAt.Sub(before), speed, o.IdleLimit))
		}
		before = e.EmittedAt
		if err := clock.WaitUntil(ctx, due); err != nil {
			return err
		}
		if err := emit(e); err != nil {
			return err
		}
	}
	return nil
}

// pause is how long to wait for what took so long. Time that runs backwards is no pause.
func pause(gap time.Duration, speed float64, limit time.Duration) time.Duration {
	wait := float64(max(0, gap)) / speed
	if limit > 0 && wait > float64(limit) {
		return limit
	}
	return time.Duration(min(wait, float64(math.MaxInt64/2)))
}

type system struct{}

func (system) Now() time.Time { return time.Now() }

func (system) WaitUntil(ctx context.Context, at time.Time) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	wait := time.Until(at)
	if wait <= 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
