package api

import (
	"context"
	"sync"
	"time"

	"github.com/steno-io/steno/console/proof"
	"github.com/steno-io/steno/schema"
)

const (
	// provedFor is how long a proof is good where the capture has no more: what is stored can be changed.
	provedFor = 5 * time.Minute
	// maxProved bounds how many are kept.
	maxProved = 100
)

// proofs has one capture proved at a time, and keeps what came of it until the capture has more.
type proofs struct {
	turn chan struct{} // has an entry while one runs

	mu   sync.Mutex // guards what follows
	kept map[schema.Identity]kept
}

// kept is what was proved when the capture stood like that.
type kept struct {
	stand  proof.Stand
	proved proved
}

func newProofs() *proofs {
	return &proofs{turn: make(chan struct{}, 1), kept: map[schema.Identity]kept{}}
}

// of proves a capture, or gives what is kept of it; errProofs where another one has the turn. What does not agree is
// not kept: somebody may be mending it.
func (p *proofs) of(ctx context.Context, id schema.Identity, by Prover) (proved, error) {
	stand, err := by.Stand(ctx, id)
	if err != nil {
		return proved{}, err
	}
	if known, ok := p.known(id, stand); ok {
		return known, nil
	}
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	default:
		return proved{}, errProofs
	}
	at := time.Now()
	report, err := by.Prove(ctx, id)
	if err != nil {
		return proved{}, err
	}
	came := conclude(&report, at)
	if len(came.Findings) == 0 {
		p.keep(id, kept{stand, came})
	}
	return came, nil
}

func (p *proofs) known(id schema.Identity, now proof.Stand) (proved, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k, ok := p.kept[id]
	return k.proved, ok && k.stand == now && time.Since(k.proved.At) < provedFor
}

// keep keeps a proof, in the place of the oldest one where there are many.
func (p *proofs) keep(id schema.Identity, k kept) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, there := p.kept[id]; !there && len(p.kept) >= maxProved {
		var oldest schema.Identity
		for other, o := range p.kept {
			if before, ok := p.kept[oldest]; !ok || o.proved.At.Before(before.proved.At) {
				oldest = other
			}
		}
		delete(p.kept, oldest)
	}
	p.kept[id] = k
}
