package stage

import (
	"bytes"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
)

// failure is a deterministic one: the same frames give it again.
type failure struct {
	reason Reason
	err    error
}

func (f *failure) Error() string { return string(f.reason) + ": " + f.err.Error() }

func fail(reason Reason, format string, args ...any) *failure {
	return &failure{reason, fmt.Errorf(format, args...)}
}

// guard runs a part of the fold and makes its panic a failure.
func (c *capture) guard(frame uint64, do func() *failure) (f *failure) {
	defer func() {
		if r := recover(); r != nil {
			f = fail(ReasonPanic, "fold frame %d of %s: panic: %v\n%s", frame, c.id, r, debug.Stack())
		}
	}()
	return do()
}

// step folds the next frame: checks its number and chain, compares what the last record covers and
// keeps the rest for the committers. It appends all the frame's events to dst.
func (c *capture) step(dst []schema.Event, f *schema.Frame, seq uint64) (events []schema.Event, bad *failure) {
	if bad := c.follows(f); bad != nil {
		return dst, bad
	}
	var g group
	bad = c.guard(f.Seq, func() (bad *failure) {
		var err error
		if events, err = c.fold.Step(dst, f); err != nil {
			if errors.Is(err, translate.ErrFrame) {
				return &failure{ReasonFrame, err}
			}
			return &failure{ReasonTranslator, err}
		}
		g, bad = c.take(f, events[len(dst):])
		return bad
	})
	if bad != nil {
		return dst, bad
	}
	covered := c.seen != nil && len(g.events) == 0
	if c.seen != nil && c.seen.rec.Last.Frame == f.Seq {
		if err := c.seen.finish(f.Chain); err != nil {
			return dst, &failure{ReasonDiverged, err}
		}
		c.seen = nil
		covered = covered && len(c.fold.Open().Frames) == 0 // else it is kept in sight, as in drop
	}
	c.frame, c.rawSeq, c.chain = f.Seq, seq, f.Chain
	if !covered && c.hold == 0 {
		c.holdAt(seq)
	}
	if len(g.events) > 0 {
		g.seq = seq
		c.add(g)
	}
	c.due()
	return events, nil
}

// follows checks that the frame is the next one, by number and chain.
func (c *capture) follows(f *schema.Frame) *failure {
	if want := c.frame + 1; f.Seq != want {
		if want == 1 && f.Seq > 1 {
			return fail(ReasonSealed, "fold %s: its first stored frame is %d", c.id, f.Seq)
		}
		return fail(ReasonNumber, "fold %s: want frame %d, got %d", c.id, want, f.Seq)
	}
	chain, err := schema.ChainHash(c.chain, f)
	if err != nil {
		return &failure{ReasonChain, err}
	}
	if chain != f.Chain {
		return fail(ReasonChain, "check frame %d of %s: its chain is %q, its bytes and headers give %q", f.Seq, c.id, f.Chain, chain)
	}
	return nil
}

// take sorts a frame's durable events: those that the last record covers are compared, the others
// become the frame's group.
func (c *capture) take(f *schema.Frame, all []schema.Event) (g group, bad *failure) {
	durable := 0
	for i := range all {
		if !all[i].Ephemeral {
			durable++
		}
	}
	if durable == 0 {
		return group{}, nil
	}
	c.lastChain = f.Chain
	g = group{frame: f.Seq, chain: f.Chain, events: make([]event, 0, durable)}
	c.countAfter(all, durable)
	buffer := c.part.worker.buffers.get()
	defer func() { c.part.worker.buffers.put(buffer) }()
	for i := range all {
		e := &all[i]
		if e.Ephemeral {
			continue
		}
		out := event{origin: e.Origin(), session: e.Session, ordinal: c.fold.Ordinal(e.Session)}
		if durable > 1 {
			c.after[e.Session]--
			out.ordinal -= c.after[e.Session]
		}
		covered := c.seen != nil && c.seen.covers(out.origin)
		if covered && !c.seen.holds(out.origin) {
			continue
		}
		buffer = e.AppendJSON(buffer[:0])
		if covered {
			out.line = buffer
			if err := c.seen.check(&out); err != nil {
				return group{}, &failure{ReasonDiverged, err}
			}
			continue
		}
		out.line = bytes.Clone(buffer)
		g.bytes += len(out.line)
		g.events = append(g.events, out)
	}
	c.about.Notice(c.fold, f, all, c.sessions)
	g.about = c.about.Take()
	if len(g.events) > 0 { // else the record that has them has what changed, too
		g.open = c.fold.Open().Frames
	}
	return g, nil
}

// countAfter counts, for each session, the durable events, so that each event's ordinal can be told
// from the session's last.
func (c *capture) countAfter(all []schema.Event, durable int) {
	if durable < 2 {
		return
	}
	if c.after == nil {
		c.after = map[uint32]uint64{}
	}
	clear(c.after)
	for i := range all {
		if !all[i].Ephemeral {
			c.after[all[i].Session]++
		}
	}
}
