package stage

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/steno-io/steno/schema"
)

// headsEvery is how often the heads of changed captures are sent.
const headsEvery = time.Second

// maxHeads bounds the open messages that one message of heads names.
const maxHeads = 1000

// sendDeltas sends a live frame's ephemeral events and does not wait: whoever misses one sees the gap
// in the index, or the heads, and asks for the open reply. One above the inline bound is not sent.
func (p *partition) sendDeltas(events []schema.Event) {
	for i := range events {
		e := &events[i]
		if !e.Ephemeral {
			continue
		}
		p.line = e.AppendJSON(p.line[:0])
		if len(p.line) > schema.MaxInline {
			p.worker.counts.deltasLeftOut.Add(1)
			p.line = nil
			continue
		}
		p.worker.sendLive(e.Transcript, p.line)
	}
}

func (w *Worker) sendLive(t schema.Transcript, data []byte) {
	if err := w.js.Conn().Publish(schema.DeltaSubject(t), data); err != nil {
		w.counts.deltasLeftOut.Add(1)
		w.log.Debug().Err(err).Stringer("transcript", t).Msg("send delta")
		return
	}
	w.counts.deltas.Add(1)
}

// sendHeads tells, each second, how far the open messages of changed captures are. A partition that
// still catches up waits, so that its first heads are those of taking its captures.
func (w *Worker) sendHeads(ctx context.Context) error {
	tick := time.NewTicker(headsEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		for _, p := range w.serving.all() {
			if p.folded.Load() < p.taken.Load() {
				continue
			}
			for _, c := range p.takeChanged() {
				if err := p.sendHeadsOf(c); err != nil {
					return err
				}
			}
		}
	}
}

func (p *partition) takeChanged() []*capture {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := p.changed
	p.changed = nil
	return changed
}

func (p *partition) sendHeadsOf(c *capture) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed = false
	if c.parked != nil || c.gone {
		return nil
	}
	bySession := map[uint32][]schema.Head{}
	bad := c.guard(c.frame, func() *failure {
		for _, m := range c.fold.Open().Messages {
			if m.Next > 0 { // else nothing of it was live, as with a user's
				bySession[m.Session] = append(bySession[m.Session], schema.Head{MessageID: m.MessageID, Next: m.Next})
			}
		}
		return nil
	})
	if bad != nil {
		return p.whileServed(p.park(p.ctx, c, bad, c.frame, c.rawSeq))
	}
	for _, session := range slices.Sorted(maps.Keys(bySession)) {
		for heads := range slices.Chunk(bySession[session], maxHeads) {
			message := schema.Heads{Frame: c.frame, Heads: heads}
			p.worker.sendLive(schema.Transcript{Identity: c.id, Session: session}, message.AppendJSON(nil))
		}
	}
	return nil
}
