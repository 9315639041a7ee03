package stage

import (
	"context"
	"sync"
)

// errands are what a partition does beside its frames, one after the other.
type errands struct {
	mu   sync.Mutex
	list []func(context.Context) error
	some chan struct{} // has one element when there is something new
}

func newErrands() *errands { return &errands{some: make(chan struct{}, 1)} }

// add gives an errand and does not wait.
func (e *errands) add(do func(context.Context) error) {
	e.mu.Lock()
	e.list = append(e.list, do)
	e.mu.Unlock()
	select {
	case e.some <- struct{}{}:
	default:
	}
}

func (e *errands) take() []func(context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := e.list
	e.list = nil
	return list
}

// run does errands until ctx ends or one fails; between them it does one of the spare ones, while there
// are some.
func (e *errands) run(ctx context.Context, gate *gate, spare []func(context.Context) error) error {
	one := func(do func(context.Context) error) error {
		if _, err := gate.pass(ctx); err != nil {
			return err
		}
		return do(ctx)
	}
	for {
		for _, do := range e.take() {
			if err := one(do); err != nil {
				return err
			}
		}
		if len(spare) > 0 {
			if err := one(spare[0]); err != nil {
				return err
			}
			spare = spare[1:]
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-e.some:
		}
	}
}
