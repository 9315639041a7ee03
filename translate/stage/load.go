package stage

import (
	"context"
	"errors"
	"fmt"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// load readies a capture that is not in memory: it is parked, or begins behind its last record. look says
// whether to look for a snapshot. c.mu is held.
func (p *partition) load(ctx context.Context, c *capture, look bool) error {
	p.mu.Lock()
	parked := p.parkedBefore[c.id]
	delete(p.parkedBefore, c.id)
	p.mu.Unlock()
	c.loaded = true
	if parked != nil {
		c.parked, c.parkedStored, c.version = parked, true, parked.Translator
		if parked.Frame > 0 {
			c.frame = parked.Frame - 1
		}
		return nil
	}
	return p.begin(ctx, c, look)
}

// begin starts the capture's fold behind its last record, from its snapshot where that may be used.
// If the streams change under it, it begins once more. c.mu is held.
func (p *partition) begin(ctx context.Context, c *capture, look bool) error {
	for {
		number, err := p.worker.gate.pass(ctx)
		if err != nil {
			return err
		}
		c.number = number
		if err := p.beginOnce(ctx, c, look); !errors.Is(err, errOtherStreams) {
			return err
		}
	}
}

func (p *partition) beginOnce(ctx context.Context, c *capture, look bool) error {
	last, seq, bad, err := p.worker.lastRecord(ctx, c.id)
	if err != nil {
		return err
	}
	c.parkedKnown = max(c.parkedKnown, p.worker.parked.read.Load())
	c.begin(p.worker.opts.Catalogue, last, seq)
	c.began.record = seq
	if !c.distrusts {
		c.began.snapshot, c.unused = 0, nil
	}
	if last != nil && !p.recordStands(spot{seq, last.rec.Chain}, c.number) {
		return errOtherStreams
	}
	if bad == nil && look && !c.distrusts {
		if err := p.resume(ctx, c, last); err != nil {
			return err
		}
	}
	switch {
	case !p.worker.gate.same(c.number):
		return errOtherStreams
	case bad != nil:
		return p.parkRecords(ctx, c, bad)
	}
	return nil
}

// loadWhole readies a capture that is not in memory and folds all that is stored of it. c.mu is held.
func (p *partition) loadWhole(ctx context.Context, c *capture) error {
	c.round = p.round.Load()
	if c.loaded {
		return nil
	}
	if err := p.load(ctx, c, true); err != nil {
		return err
	}
	return p.catchUp(ctx, c, ^uint64(0))
}

// catchUp folds the capture's stored frames below a stream sequence. c.mu is held.
func (p *partition) catchUp(ctx context.Context, c *capture, before uint64) error {
	if c.parked != nil {
		return nil
	}
	subject := schema.RawSubject(c.id, p.worker.info.Partitions)
	var events []schema.Event
	return p.worker.retry(ctx, "read frames of "+c.id.String(), func() error {
		number, err := p.worker.gate.pass(ctx)
		if err != nil {
			return err
		}
		for m, err := range topology.Read(ctx, p.worker.js, topology.Raw, subject, c.rawSeq+1) {
			if err != nil {
				return err
			}
			if m.Seq >= before || c.parked != nil {
				return nil
			}
			p.worker.counts.reread.Add(1)
			if events, err = p.fold(ctx, c, m, number, events[:0]); err != nil {
				return err
			}
			clear(events)
		}
		return nil
	})
}

// lastRecord reads the capture's last record from the stream's leader; last is nil if there is none.
// A record that cannot be read is bad; err is ctx's or hopeless.
func (w *Worker) lastRecord(ctx context.Context, id schema.Identity) (last *seen, seq uint64, bad *failure, err error) {
	subject := schema.EventSubject(id, w.info.Partitions)
	err = w.retry(ctx, "read last record of "+id.String(), func() error {
		last, seq, bad = nil, 0, nil
		m, ok, err := topology.Last(ctx, w.js, topology.Events, subject)
		if err != nil || !ok {
			return err
		}
		seq = m.Seq
		payload := m.Data
		if sha := m.Header.Get(schema.HeaderBlob); sha != "" {
			if payload, err = w.blobs.Get(ctx, id, sha); errors.Is(err, topology.ErrBlob) {
				bad = &failure{ReasonBlob, fmt.Errorf("read record of %s at sequence %d: %w", id, m.Seq, err)}
				return nil
			}
			if err != nil {
				return err
			}
		}
		rec, err := schema.DecodeRecord(m.Header, payload)
		if err == nil {
			last, err = newSeen(rec)
		}
		if err != nil {
			bad = &failure{ReasonRecord, fmt.Errorf("read record of %s at sequence %d: %w", id, m.Seq, err)}
		}
		return nil
	})
	return last, seq, bad, err
}
