package stage

import (
	"sync"
	"sync/atomic"

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

	fold    *translate.Capture
	version string // translator, as the first record names it; empty before there is one
	frame   uint64 // last frame folded
	rawSeq  uint64 // its stream sequence
	chain   string // its chain
	// lastChain is the chain of the frame of the last durable event that the fold has given.
	lastChain string
	sessions  map[uint32]struct{}
	about     translate.Abouts
	seen      *seen             // the last record, until the fold has passed it
	after     map[uint32]uint64 // scratch of countAfter

	number  uint64 // of the connection that it was last read over
	fence   spot   // the last record; sequence 0: there is none
	fenced  uint64 // number of the connection over which that was known to be so
	pending []group
	queued  bool // a committer has it, or will have
	tries   int  // failed in a row

	// hold is the lowest stream sequence that may hold a frame which neither a record nor a snapshot
	// covers, 0 if there is none; low is the same, or lower, for whoever does not hold mu.
	hold  uint64
	low   atomic.Uint64
	anew  bool   // the fold is being made again: low stays
	round uint64 // of its partition, when it was last needed

	snap      *snapshot // waits to be stored
	kept      uint64    // frame of the stored snapshot; 0: none that is known
	standing  standing  // what its subject on STENO_STATE holds, as far as is known
	notBefore uint64    // frame before which no snapshot is due
	resumed   bool      // the fold began from a snapshot
	began     footing   // what there was to begin from
	unused    error     // why the snapshot was not used
	distrusts bool      // the stored snapshot is not to be used
	failed    *failure  // of the fold that began from it, while another one is made without

	changed      bool // since the last heads
	parked       *Parked
	parkedStored bool
	overtaken    bool // what parked it is to be looked at again
	// parkedKnown is how far the bucket of parked captures was read when this fold began, and
	// parkedRevision that of the key under which this capture is parked.
	parkedKnown, parkedRevision uint64
	redriven                    uint64 // revision of the key that asks to fold it again; 0: nobody asks
	redrivenTo                  uint64 // stream sequence up to which it must be covered then
}

// begin starts the fold anew behind the last record, if there is one, at its stream sequence.
func (c *capture) begin(catalogue *translate.Catalogue, last *seen, seq uint64) {
	c.version, c.fence, c.fenced = "", spot{seq: seq}, c.number
	if last != nil {
		c.version, c.fence.chain = last.rec.Translator, last.rec.Chain
	}
	c.fold = translate.NewCapture(c.id, catalogue, c.version)
	c.frame, c.rawSeq, c.chain, c.lastChain = 0, 0, "", ""
	c.sessions, c.about = map[uint32]struct{}{}, translate.Abouts{}
	c.seen = last
	c.hold, c.snap, c.kept, c.notBefore, c.resumed = 0, nil, 0, 0, false
}

// holdAt sets the lowest stream sequence that may hold a frame which is not covered.
func (c *capture) holdAt(seq uint64) {
	c.hold = seq
	if !c.anew {
		c.low.Store(seq)
	}
}

// covered notes that the frames up to a stream sequence are covered.
func (c *capture) covered(seq uint64) {
	switch {
	case c.parked != nil: // the frame that it failed at is passed once its key is stored
	case c.hold == 0 || c.hold > seq:
	case c.rawSeq > seq:
		c.holdAt(seq + 1)
	default:
		c.holdAt(0)
	}
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
	c.push()
}

// push gives the capture to a committer if there is something to store.
func (c *capture) push() {
	if !c.queued && c.unstored() {
		c.queued = true
		c.part.worker.queue.push(c)
	}
}

// unstored reports whether a committer has something to do.
func (c *capture) unstored() bool { return len(c.pending) > 0 || c.ready() != nil }

// beyond reports whether a record ends before what waits to be stored: then those behind it are lost.
func (c *capture) beyond(last *seen) bool {
	return len(c.pending) > 0 && last.rec.Last.Compare(c.pending[0].events[0].origin) < 0
}

// drop forgets the pending events up to an origin, which a record covers.
func (c *capture) drop(last schema.Origin) {
	var whole uint64 // stream sequence of the last frame of which nothing is left
	open := false
	for i := range c.pending {
		if g := &c.pending[i]; g.events[len(g.events)-1].origin.Compare(last) <= 0 {
			whole, open = g.seq, len(g.open) > 0
		}
	}
	if open { // whoever takes the partition reads that frame, and finds what is open, of which no frame may come
		whole--
	}
	c.forgetUpTo(last)
	c.covered(whole)
}

// dropAll forgets what is pending, since the capture is folded again or given up.
func (c *capture) dropAll() {
	if n := len(c.pending); n > 0 {
		c.forgetUpTo(schema.Origin{Frame: c.pending[n-1].frame, Part: ^uint32(0)})
	}
	c.snap = nil
}

func (c *capture) forgetUpTo(last schema.Origin) {
	rest, bytes := dropUpTo(c.pending, last)
	c.pending = rest
	c.part.backlog.add(-bytes)
}
