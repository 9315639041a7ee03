package stage

import (
	"context"
	"fmt"
)

// pass compares a newer record with what is pending and drops what it covers; what it has beyond the
// fold's last frame is compared when the fold gets there. c.mu is held.
func (c *capture) pass(last *seen) *failure {
	if last.rec.Translator != c.fold.Version() {
		return fail(ReasonDiverged, "go on behind record %s of %s: it is by translator %q, its predecessors by %q: %w",
			last.rec.Last, c.id, last.rec.Translator, c.fold.Version(), errDiverged)
	}
	chain := ""
	for i := range c.pending {
		g := &c.pending[i]
		for j := range g.events {
			e := &g.events[j]
			if !last.covers(e.origin) || !last.holds(e.origin) {
				continue
			}
			if err := last.check(e); err != nil {
				return &failure{ReasonDiverged, err}
			}
		}
		if g.frame == last.rec.Last.Frame {
			chain = g.chain
		}
	}
	if c.frame < last.rec.Last.Frame {
		c.seen = last
	} else if err := last.finish(chain); err != nil {
		return &failure{ReasonDiverged, fmt.Errorf("go on behind a record of %s: %w", c.id, err)}
	}
	c.drop(last.rec.Last)
	if c.seen != nil { // it covers all that is folded
		c.holdAt(0)
	}
	return nil
}

// reload folds the capture anew, behind the record that is now its last. c.mu is held.
func (p *partition) reload(ctx context.Context, c *capture) error {
	before := c.rawSeq + 1
	if c.parked != nil { // what was to be stored before it is folded again, and so is what parked it
		before, c.parked, c.parkedStored, c.overtaken = ^uint64(0), nil, false, false // frames behind it were passed over
	}
	again := c.anew // the fold failed while it was reloaded: whoever did that says what is covered
	c.anew = true
	c.low.Store(1) // until it is known again what is covered
	c.dropAll()
	c.tries = 0
	if err := p.begin(ctx, c, true); err != nil {
		return err
	}
	if err := p.catchUp(ctx, c, before); err != nil {
		return err
	}
	if !again {
		c.anew = false
		c.low.Store(c.hold)
	}
	return nil
}
