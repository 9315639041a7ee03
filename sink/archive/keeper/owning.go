package keeper

import (
	"context"
	"sync"

	"github.com/steno-io/steno/sink"
)

// Owned is an ownership that also tells which partitions it has given: those that a sink stores now.
type Owned struct {
	sink.Ownership
	mu  sync.Mutex
	has map[uint32]int
}

var _ sink.Ownership = (*Owned)(nil)

// NewOwned watches an ownership.
func NewOwned(o sink.Ownership) *Owned { return &Owned{Ownership: o, has: map[uint32]int{}} }

// Run implements sink.Ownership.
func (o *Owned) Run(ctx context.Context, count uint32, serve func(context.Context, uint32) error) error {
	return o.Ownership.Run(ctx, count, func(ctx context.Context, partition uint32) error {
		o.add(partition, 1)
		defer o.add(partition, -1)
		return serve(ctx, partition)
	})
}

func (o *Owned) add(partition uint32, n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.has[partition] += n
}

// Owns reports whether a partition is stored now.
func (o *Owned) Owns(partition uint32) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.has[partition] > 0
}
