package stage

import (
	"context"
	"slices"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// maxWoken bounds the silent captures that a partition which is taken loads by itself, those saved last.
// The others are loaded when somebody asks.
const maxWoken = 1000

// takeSnapshots lists the captures that have a snapshot, and those of them in which messages are open: a
// capture may be silent for long, and its heads are to be sent all the same.
func (p *partition) takeSnapshots(ctx context.Context) (open []schema.Identity, err error) {
	saved := map[schema.Identity]struct{}{}
	for m, err := range topology.ReadHeaders(ctx, p.worker.js, topology.State, schema.StatePartition(p.number)) {
		if err != nil {
			return nil, err
		}
		_, id, err := schema.ParseSubject(m.Subject)
		if err != nil || m.Subject != schema.StateSubject(id, p.worker.info.Partitions) {
			continue // nobody's
		}
		saved[id] = struct{}{}
		if s, err := schema.SnapshotFromHeader(m.Header); err == nil && s.Held > 0 {
			open = append(open, id)
		}
	}
	slices.Reverse(open)
	p.saved = saved
	return open[:min(len(open), maxWoken)], nil
}

// wakeAll makes the errands of loading captures.
func (p *partition) wakeAll(ids []schema.Identity) []func(context.Context) error {
	out := make([]func(context.Context) error, len(ids))
	for i, id := range ids {
		out[i] = func(ctx context.Context) error { return p.wake(ctx, id) }
	}
	return out
}

// wake loads a capture if it is not in memory.
func (p *partition) wake(ctx context.Context, id schema.Identity) error {
	c := p.lock(id)
	defer c.mu.Unlock()
	if err := p.loadWhole(ctx, c); err != nil {
		return err
	}
	if c.frame == 0 && c.parked == nil {
		p.forget(c)
		return nil
	}
	if c.parked == nil {
		p.touch(c)
	}
	p.waiting.settle(c)
	return nil
}

// wakeFor loads a capture that somebody waits for, if the partition has passed its frames: no frame of
// it will come by then.
func (p *partition) wakeFor(ctx context.Context, id schema.Identity) error {
	p.mu.Lock()
	c := p.captures[id]
	p.mu.Unlock()
	if c == nil {
		var passed bool
		err := p.worker.retry(ctx, "look for frames of "+id.String(), func() error {
			m, ok, err := topology.Last(ctx, p.worker.js, topology.Raw, schema.RawSubject(id, p.worker.info.Partitions))
			passed = ok && m.Seq <= p.folded.Load()
			return err
		})
		if err != nil || !passed {
			return err
		}
	}
	return p.wake(ctx, id)
}
