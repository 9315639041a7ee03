package sink

import (
	"context"
	"sync"
)

// Ownership decides which partitions a sink stores while other sinks store the rest. It is a
// courtesy that saves work: what makes storing safe is the epoch which Ledger.Claim raises.
type Ownership interface {
	// Run takes partitions, of count in all, and gives them back, until ctx ends. serve stores one
	// until the context that it is given ends; only when it has returned is the partition given
	// back, and only then may serve be called for it again. An error of serve that wraps ErrFenced
	// says that another has the partition already; any other one ends Run, which returns it. Run
	// returns when no serve runs any more.
	Run(ctx context.Context, count uint32, serve func(ctx context.Context, partition uint32) error) error
}

// Alone is the ownership of a sink that stores all partitions by itself: another owner of one of
// them is an error.
type Alone struct{}

var _ Ownership = Alone{}

// Run implements Ownership.
func (Alone) Run(ctx context.Context, count uint32, serve func(context.Context, uint32) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	for partition := range count {
		wg.Go(func() {
			if err := serve(ctx, partition); err != nil {
				stop(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
