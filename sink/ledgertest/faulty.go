package ledgertest

import (
	"context"
	"errors"
	"sync"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// Fault is one of the two ways in which a write fails.
type Fault int

// Faults.
const (
	None   Fault = iota
	Refuse       // nothing is written
	Forget       // it is written, and the answer lost
)

// ErrFault is what a faulty ledger answers.
var ErrFault = errors.New("fault made by the test")

// Faulty is a ledger whose writes fail as Plan says; nil = never.
type Faulty struct {
	sink.Ledger
	// Plan is asked before each write, numbered from 1, with its name: claim, store, redrive, drop or index.
	Plan func(write int, name string) Fault

	mu     sync.Mutex
	writes int
	Faults int // made so far
}

// Claim implements sink.Ledger.
func (f *Faulty) Claim(ctx context.Context, partition uint32) (sink.Claim, error) {
	return fail(f, "claim", func() (sink.Claim, error) { return f.Ledger.Claim(ctx, partition) })
}

// Store implements sink.Ledger.
func (f *Faulty) Store(ctx context.Context, b sink.Batch) (sink.Stored, error) {
	return fail(f, "store", func() (sink.Stored, error) { return f.Ledger.Store(ctx, b) })
}

// Redrive implements sink.Ledger.
func (f *Faulty) Redrive(ctx context.Context, c sink.Claim, id schema.Identity) (bool, error) {
	return fail(f, "redrive", func() (bool, error) { return f.Ledger.Redrive(ctx, c, id) })
}

// Drop implements sink.Ledger.
func (f *Faulty) Drop(ctx context.Context, c sink.Claim, d sink.Dropped) (bool, error) {
	return fail(f, "drop", func() (bool, error) { return f.Ledger.Drop(ctx, c, d) })
}

// FaultyIndex is an index whose writes fail as Plan says; nil = never.
type FaultyIndex struct {
	To sink.Index
	Faulty
}

// Index implements sink.Index.
func (f *FaultyIndex) Index(ctx context.Context) (int, error) {
	return fail(&f.Faulty, "index", func() (int, error) { return f.To.Index(ctx) })
}

func fail[T any](f *Faulty, name string, write func() (T, error)) (T, error) {
	var none T
	f.mu.Lock()
	f.writes++
	fault := None
	if f.Plan != nil {
		fault = f.Plan(f.writes, name)
	}
	if fault != None {
		f.Faults++
	}
	f.mu.Unlock()
	switch fault {
	case Refuse:
		return none, ErrFault
	case Forget:
		if v, err := write(); err != nil {
			return v, err
		}
		return none, ErrFault
	}
	return write()
}
