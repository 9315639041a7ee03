package stage

import (
	"context"
	"time"
)

// lastMarkWithin bounds the last write of a partition's mark, when its context has ended.
const lastMarkWithin = time.Second

// farBehind is how many times SnapshotEvery a capture may hold the mark back, in sequences of STENO_RAW,
// before it is saved.
const farBehind = 8

// tend stores the partition's mark and lets idle captures leave memory, now and then.
func (p *partition) tend(ctx context.Context) error {
	tick := time.NewTicker(p.worker.opts.MarkEvery)
	defer tick.Stop()
	p.storeMark(ctx)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		p.round.Add(1)
		p.sweep()
		p.storeMark(ctx)
	}
}

// sweep looks at every capture that nobody is busy with.
func (p *partition) sweep() {
	p.mu.Lock()
	all := make([]*capture, 0, len(p.captures))
	for _, c := range p.captures {
		all = append(all, c)
	}
	p.mu.Unlock()
	for _, c := range all {
		if c.mu.TryLock() {
			p.look(c)
			c.mu.Unlock()
		}
	}
}

// look saves the capture if it is idle, or holds the mark back, or has been redriven, and lets it leave
// memory if it is idle and saved. c.mu is held.
func (p *partition) look(c *capture) {
	if c.gone || !c.loaded || c.queued || c.parked != nil || c.frame == 0 || c.unstored() {
		return
	}
	o := &p.worker.opts
	idle := p.round.Load()-c.round >= uint64((o.IdleAfter+o.MarkEvery-1)/o.MarkEvery)
	folded := p.folded.Load()
	behind := c.hold != 0 && folded > c.hold && folded-c.hold >= farBehind*uint64(o.SnapshotEvery)
	switch {
	case c.redriven != 0:
		if c.hold != 0 && c.hold <= c.redrivenTo {
			c.save()
			return
		}
		p.redriveDone(c)
	case idle && c.kept == c.frame:
		p.forget(c)
		p.worker.counts.left.Add(1)
	case idle, behind:
		c.save()
	}
}
