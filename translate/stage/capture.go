package stage

import (
	"sync"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
)

// capture is one capture's fold and what of it is not stored yet. The partition folds, a committer
// stores; mu is held for both, but not while a record is on its way.
type capture struct {
	id   schema.Identity
	part *partition

	mu     sync.Mutex
	loaded bool
	gone   bool // not in its partition any more: look it up again

	fold     *translate.Capture
	version  string // translator, as the first record names it; empty before there is one
	frame    uint64 // last frame folded
	rawSeq   uint64 // its stream sequence
	chain    string // its chain
	sessions map[uint32]struct{}
	about    abouts
	seen     *seen             // the last record, until the fold has passed it
	after    map[uint32]uint64 // scratch of countAfter

	fence   uint64 // stream sequence of the last record; 0: there is none
	pending []group
	queued  bool // a committer has it, or will have
	tries   int  // failed in a row

	changed      bool // since the last heads
	parked       *Parked
	parkedStored bool
}

// begin starts the fold anew behind the last record, if there is one.
func (c *capture) begin(catalogue *translate.Catalogue, last *seen, fence uint64) {
	c.version = ""
	if last != nil {
		c.version = last.rec.Translator
	}
	c.fold = translate.NewCapture(c.id, catalogue, c.version)
	c.frame, c.rawSeq, c.chain = 0, 0, ""
	c.sessions, c.about = map[uint32]struct{}{}, abouts{}
	c.seen, c.fence = last, fence
}

// through is the last frame whose durable events, and those of all before it, are acknowledged.
func (c *capture) through() uint64 {
	if len(c.pending) > 0 {
		return c.pending[0].frame - 1
	}
	return c.frame
}

// ordinals gives the durable events of each session so far.
func (c *capture) ordinals() map[uint32]uint64 {
	out := make(map[uint32]uint64, len(c.sessions))
	for session := range c.sessions {
		out[session] = c.fold.Ordinal(session)
	}
	return out
}

// add keeps a frame's events for the committers.
func (c *capture) add(g group) {
	c.pending = append(c.pending, g)
	c.part.backlog.add(g.bytes)
	c.part.worker.counts.events.Add(uint64(len(g.events)))
	if !c.queued {
		c.queued = true
		c.part.worker.queue.push(c)
	}
}

// drop forgets the pending events up to an origin.
func (c *capture) drop(last schema.Origin) {
	rest, bytes := dropUpTo(c.pending, last)
	c.pending = rest
	c.part.backlog.add(-bytes)
}

// dropAll forgets what is pending.
func (c *capture) dropAll() {
	if n := len(c.pending); n > 0 {
		c.drop(schema.Origin{Frame: c.pending[n-1].frame, Part: ^uint32(0)})
	}
}
