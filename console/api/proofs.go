package api

import (
	"context"
	"sync"
	"time"

	"github.com/steno-io/steno/console/proof"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink/verify"
)

const (
	// maxProofs bounds how many captures are proved at a time: a long one lets the others by.
	maxProofs = 2
	// provedFor is how long a proof is good where the capture has no more: what is stored can be changed.
	provedFor = 5 * time.Minute
	// maxProved bounds how many are kept.
	maxProved = 100
)

// proofs has few captures proved at a time, each once, and keeps what came of it until the capture has more.
type proofs struct {
	mu      sync.Mutex                   // guards what follows
	running map[schema.Identity]*proving // at most maxProofs
	kept    map[schema.Identity]kept
}

// proving is a proof that runs, for all who ask for it meanwhile.
type proving struct {
	stand proof.Stand
	done  chan struct{} // closed when the rest is there
	came  proved
	err   error
	left  bool // who had it made has gone, or had no more time: nothing is known
}

// kept is what was proved when the capture stood like that.
type kept struct {
	stand  proof.Stand
	proved proved
}

func newProofs() *proofs {
	return &proofs{running: map[schema.Identity]*proving{}, kept: map[schema.Identity]kept{}}
}

// of proves a capture, or gives what is kept of it, or what comes of the proof that another one is waiting for;
// errProofs where as many run as may. What does not agree is not kept: somebody may be mending it.
func (p *proofs) of(ctx context.Context, id schema.Identity, by Prover) (proved, error) {
	for {
		stand, err := by.Stand(ctx, id)
		if err != nil {
			return proved{}, err
		}
		if known, ok := p.known(id, stand); ok {
			return known, nil
		}
		r, mine, err := p.begin(id, stand)
		if err != nil {
			return proved{}, err
		}
		if mine {
			p.prove(ctx, id, by, r)
			return r.came, r.err
		}
		select {
		case <-ctx.Done():
			return proved{}, ctx.Err()
		case <-r.done:
		}
		switch {
		case r.err != nil && !r.left:
			return proved{}, r.err
		case r.err == nil && r.stand == stand:
			return r.came, nil
		} // else it ended with its client, or was of less
	}
}

// begin begins a proof, if none of the capture runs.
func (p *proofs) begin(id schema.Identity, stand proof.Stand) (r *proving, mine bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r = p.running[id]; r != nil {
		return r, false, nil
	}
	if len(p.running) == maxProofs {
		return nil, false, errProofs
	}
	r = &proving{stand: stand, done: make(chan struct{})}
	p.running[id] = r
	return r, true, nil
}

// prove makes a proof that was begun, and tells all who wait for it.
func (p *proofs) prove(ctx context.Context, id schema.Identity, by Prover, r *proving) {
	r.err = errUnavailable // should it panic
	defer func() {
		p.mu.Lock()
		delete(p.running, id)
		p.mu.Unlock()
		close(r.done)
	}()
	at := time.Now()
	var report verify.Report
	if report, r.err = by.Prove(ctx, id); r.err != nil {
		r.left = ctx.Err() != nil
		return
	}
	if r.came = conclude(&report, at); len(r.came.Findings) == 0 {
		p.keep(id, kept{r.stand, r.came})
	}
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
