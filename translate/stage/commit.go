package stage

import (
	"context"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// commitAll stores captures' records, one capture after the other, until the queue is closed.
func (w *Worker) commitAll(ctx context.Context) error {
	var payload []byte // lent to one record after the other
	for {
		c, ok := w.queue.pop()
		if !ok {
			return ctx.Err()
		}
		number, err := w.gate.pass(ctx)
		if err != nil {
			return err
		}
		if payload, err = w.commit(ctx, c, number, payload[:0]); err != nil {
			return err
		}
		if cap(payload) > 2*maxRecordBytes {
			payload = nil
		}
	}
}

// commit stores one record of the capture, or learns why it is not to be stored, and queues the
// capture again if more is pending. The queue holds a capture once, so one record is in flight.
// number is that of the connection. buffer is memory for the payload, and is given back, perhaps grown.
func (w *Worker) commit(ctx context.Context, c *capture, number uint64, buffer []byte) ([]byte, error) {
	c.mu.Lock()
	if s := c.ready(); s != nil {
		c.mu.Unlock()
		return buffer, w.keep(ctx, c, s)
	}
	if len(c.pending) == 0 { // dropped meanwhile
		defer c.mu.Unlock()
		return buffer, w.next(c)
	}
	if c.fenced != number { // another record may have its sequence by now
		defer c.mu.Unlock()
		if err := w.lookAgain(c.part.ctx, c); err != nil {
			return buffer, c.part.whileServed(err)
		}
		return buffer, w.next(c)
	}
	rec := cut(c.pending, c.fold.Version())
	fence, tries := c.fence.seq, c.tries
	c.mu.Unlock()

	if tries > 0 {
		if err := pause(ctx, tries); err != nil {
			return buffer, err
		}
	}
	buffer = appendPayload(buffer, &rec)
	seq, outcome, cause := w.publish(ctx, c.id, &rec, buffer, fence)
	if ctx.Err() != nil {
		return buffer, ctx.Err() // stored or not: the next worker reads the last record
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone { // its partition was taken anew
		return buffer, w.next(c)
	}
	if outcome == topology.Stored && !c.part.recordStands(spot{seq, rec.Chain}, number) {
		outcome, cause = topology.Unknown, errOtherStreams
	}
	if outcome == topology.Stored {
		c.tries, c.fence = 0, spot{seq, rec.Chain}
		c.drop(rec.Last)
		w.counts.records.Add(1)
		return buffer, w.next(c)
	}
	if err := w.refused(c.part.ctx, c, outcome, cause); err != nil {
		return buffer, c.part.whileServed(err)
	}
	return buffer, w.next(c)
}

// appendPayload writes what Record.Payload gives, into memory that is there.
func appendPayload(dst []byte, rec *schema.Record) []byte {
	size := 0
	for _, line := range rec.Events {
		size += len(line) + 1
	}
	dst = slices.Grow(dst, size)
	for _, line := range rec.Events {
		dst = append(append(dst, line...), '\n')
	}
	return dst
}

// publish stores a record, its payload in the blob bucket first where it is large.
func (w *Worker) publish(ctx context.Context, id schema.Identity, rec *schema.Record, payload []byte, fence uint64) (seq uint64, o topology.Outcome, err error) {
	header, err := rec.Header()
	if err != nil {
		return 0, topology.Never, err
	}
	msg := &nats.Msg{Subject: schema.EventSubject(id, w.info.Partitions), Header: header, Data: payload}
	if len(msg.Data) > schema.MaxInline {
		sha, err := w.blobs.Put(ctx, id, msg.Data)
		if err != nil {
			return 0, topology.Unknown, err
		}
		msg.Header.Set(schema.HeaderBlob, sha)
		msg.Data = nil
	}
	ack, err := w.js.PublishMsg(ctx, msg, fenced(fence)...)
	if err != nil {
		return 0, topology.Classify(err), err
	}
	return ack.Sequence, topology.Stored, nil
}

// refused deals with every answer but a clean ack. c.mu is held.
func (w *Worker) refused(ctx context.Context, c *capture, outcome topology.Outcome, cause error) error {
	c.tries++
	switch outcome {
	case topology.Busy: // a write on this subject has just ended: the expectation may still hold
		w.counts.retries.Add(1)
		return nil
	case topology.Never:
		bad := &failure{ReasonRefused, fmt.Errorf("store record of %s: %w", c.id, cause)}
		return c.part.parkRecords(ctx, c, bad)
	case topology.Refused:
		w.counts.fenced.Add(1)
	default:
		w.counts.retries.Add(1)
		w.log.Warn().Err(cause).Stringer("capture", c.id).Int("try", c.tries).Msg("store record: outcome unknown")
		if hopeless(cause) {
			return fmt.Errorf("store record of %s: %w", c.id, cause)
		}
	}
	return w.lookAgain(ctx, c)
}

// lookAgain reads the capture's last record and goes on behind it. c.mu is held.
func (w *Worker) lookAgain(ctx context.Context, c *capture) error {
	c.number = w.gate.now()
	last, seq, bad, err := w.lastRecord(ctx, c.id)
	if err != nil {
		return err
	}
	if !w.gate.same(c.number) { // it is asked for again when somebody has looked at the streams
		return nil
	}
	if bad != nil {
		return c.part.parkRecords(ctx, c, bad)
	}
	return w.adopt(ctx, c, last, seq)
}

// adopt goes on behind the capture's last record, whoever stored it. c.mu is held.
func (w *Worker) adopt(ctx context.Context, c *capture, last *seen, seq uint64) error {
	at := spot{seq: seq}
	if last != nil {
		at.chain = last.rec.Chain
	}
	if at == c.fence || c.parked != nil && c.fold == nil {
		c.fenced = c.number
		return nil // nothing was stored: try again
	}
	if seq <= c.fence.seq || c.beyond(last) || last.rec.Translator != c.fold.Version() && c.fence.seq == 0 {
		// The stream has lost records, or another worker began the capture with its own version.
		return c.part.reload(ctx, c)
	}
	if !c.part.recordStands(at, c.number) {
		return nil // as in lookAgain
	}
	if bad := c.pass(last); bad != nil {
		return c.part.parkRecords(ctx, c, bad)
	}
	c.tries, c.fence, c.fenced = 0, at, c.number
	return nil
}

// next queues the capture again if more of it is to be stored. Its key, if it is parked, is stored while its
// partition is served. c.mu is held.
func (w *Worker) next(c *capture) error {
	c.queued = false
	if c.gone { // what it had folded was given up: it tells nobody that it is stored
		return nil
	}
	c.push()
	err := c.part.whileServed(c.part.storeParked(c.part.ctx, c))
	c.part.waiting.settle(c)
	c.part.redriveDone(c)
	return err
}
