package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// ErrParkedChanged marks a parked capture whose key was written since it was listed.
var ErrParkedChanged = errors.New("the parked capture has changed meanwhile")

// Redrive asks the owner of a parked capture's partition to fold it again, and gives the revision of that
// request. The request is the capture's key itself, so that it outlives every worker: who takes the
// partition later finds it. An error wraps ErrParkedChanged if the key is not as listed any more.
func Redrive(ctx context.Context, js jetstream.JetStream, p ParkedCapture) (revision uint64, err error) {
	if p.Redrive {
		return p.Revision, nil
	}
	p.Redrive = true
	value, err := json.Marshal(p.Parked)
	if err != nil {
		return 0, fmt.Errorf("redrive %s: %w", p.Identity, err)
	}
	ack, err := js.Publish(ctx, topology.ParkedSubject(p.Identity.Subject()), value, jetstream.WithExpectLastSequencePerSubject(p.Revision))
	if topology.Classify(err) == topology.Refused {
		return 0, fmt.Errorf("redrive %s: %w: %w", p.Identity, ErrParkedChanged, err)
	}
	if err != nil {
		return 0, fmt.Errorf("redrive %s: %w", p.Identity, err)
	}
	return ack.Sequence, nil
}

// AwaitRedrive waits for what becomes of a request: nil if the capture came through, else how it is parked
// again. An error wraps ctx's if nobody has answered by then; the request stands all the same.
func AwaitRedrive(ctx context.Context, js jetstream.JetStream, id schema.Identity, revision uint64) (again *Parked, err error) {
	fail := func(err error) error { return fmt.Errorf("wait for %s to be folded again: %w", id, err) }
	kv, err := topology.Bucket(ctx, js, topology.Parked)
	if err != nil {
		return nil, fail(err)
	}
	watch, err := topology.Watch(ctx, kv, id.Subject())
	if err != nil {
		return nil, fail(err)
	}
	defer func() { _ = watch.Stop() }() // the connection may be gone
	known := false
	for {
		select {
		case <-ctx.Done():
			return nil, fail(ctx.Err())
		case entry, ok := <-watch.Updates():
			switch {
			case !ok:
				return nil, fail(jetstream.ErrConsumerDeleted)
			case entry == nil && !known:
				return nil, nil // the bucket does not have the key any more
			case entry == nil:
				continue
			}
			known = true
			if entry.Revision() <= revision {
				continue
			}
			if entry.Operation() != jetstream.KeyValuePut {
				return nil, nil
			}
			var p Parked
			if err := json.Unmarshal(entry.Value(), &p); err != nil {
				return nil, fail(err)
			}
			if !p.Redrive {
				return &p, nil
			}
		}
	}
}

// redrive has a capture folded again, whose key asks for it at a revision; 0: its key is gone.
func (p *partition) redrive(id schema.Identity, revision uint64) {
	p.errands.add(func(ctx context.Context) error { return p.redriveNow(ctx, id, revision) })
}

func (p *partition) redriveNow(ctx context.Context, id schema.Identity, revision uint64) error {
	p.mu.Lock()
	_, before := p.parkedBefore[id]
	delete(p.parkedBefore, id)
	there := p.captures[id] != nil
	p.mu.Unlock()
	if before {
		p.worker.counts.parked.Add(^uint64(0))
	}
	if revision == 0 && !before && !there {
		return nil
	}
	c := p.lock(id)
	defer c.mu.Unlock()
	if c.parked != nil && (revision != 0 || c.parkedStored) {
		if c.parkedStored {
			p.worker.counts.parked.Add(^uint64(0))
		}
		c.distrusts = false
		if revision != 0 { // answered under the newest key that parks it
			revision = max(revision, c.parkedRevision)
			c.parkedKnown = max(c.parkedKnown, revision)
		}
		if err := p.reload(ctx, c); err != nil {
			return err
		}
	}
	if err := p.loadWhole(ctx, c); err != nil {
		return err
	}
	if revision != 0 && c.parked == nil {
		// The key goes when the mark of any worker may pass these frames: before, they would be lost sight of
		// if this worker ended. A snapshot covers them at once.
		c.redriven, c.redrivenTo = revision, c.rawSeq
		if c.hold != 0 {
			c.save()
		}
		p.redriveDone(c)
	}
	if c.parked == nil {
		p.touch(c)
	}
	p.waiting.settle(c)
	if c.frame == 0 && c.parked == nil {
		p.forget(c)
	}
	return nil
}

// redriveDone has the key of a redriven capture deleted once its frames are covered. c.mu is held.
func (p *partition) redriveDone(c *capture) {
	if c.redriven == 0 || c.parked != nil || c.hold != 0 && c.hold <= c.redrivenTo {
		return
	}
	revision := c.redriven
	c.redriven = 0
	p.errands.add(func(ctx context.Context) error {
		return p.worker.retry(ctx, "delete key of redriven capture "+c.id.String(), func() error {
			err := p.worker.parkedKeys.Delete(ctx, c.id.Subject(), jetstream.LastRevision(revision))
			if topology.Classify(err) == topology.Refused { // deleted already, or parked again by another worker
				err = nil
			}
			if err == nil {
				p.cleared(c.id)
			}
			return err
		})
	})
}

// cleared notes that a capture has come through, and its key is gone.
func (p *partition) cleared(id schema.Identity) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.doubt, id)
}

// parkedWatch follows the keys of parked captures.
type parkedWatch struct {
	reconnected chan struct{}
	read        atomic.Uint64 // the bucket's sequence up to which keys are known
}

// again has the bucket read anew.
func (p *parkedWatch) again() {
	select {
	case p.reconnected <- struct{}{}:
	default:
	}
}

// watchParked notices requests to fold a parked capture again.
func (w *Worker) watchParked(ctx context.Context) error {
	for {
		inner, stop := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			select {
			case <-w.parked.reconnected:
				stop()
			case <-inner.Done():
			}
		}()
		err := w.followParked(inner)
		anew := inner.Err() != nil
		stop()
		<-ended
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !anew {
			return err
		}
	}
}

// followParked reads what the bucket holds, and then what is written.
func (w *Worker) followParked(ctx context.Context) error {
	var end uint64
	var listed []ParkedCapture
	err := w.retry(ctx, "read parked captures", func() error {
		stream, err := w.js.Stream(ctx, topology.ParkedStream)
		if err != nil {
			return err
		}
		end = stream.CachedInfo().State.LastSeq
		listed, err = ListParked(ctx, w.js)
		return err
	})
	if err != nil {
		return err
	}
	w.parked.read.Store(end)
	for _, one := range listed {
		if one.Redrive {
			w.redrive(one.Identity, one.Revision)
		}
	}
	return topology.Consume(ctx, w.js, topology.ParkedStream, topology.ParkedSubject(">"), end+1, func(m topology.Message) error {
		w.parked.read.Store(m.Seq)
		id, err := schema.ParseIdentitySubject(topology.ParkedKey(m.Subject))
		if err != nil {
			return nil // a mark, or what was given back
		}
		if m.Header.Get(kvOperation) != "" { // deleted, by hand or by whoever has redriven it
			w.redrive(id, 0)
			return nil
		}
		var p Parked
		if err := json.Unmarshal(m.Data, &p); err != nil {
			w.log.Warn().Err(err).Stringer("capture", id).Msg("key of a parked capture that cannot be read")
			return nil
		}
		if p.Redrive {
			w.redrive(id, m.Seq)
		}
		return nil
	})
}

func (w *Worker) redrive(id schema.Identity, revision uint64) {
	if p := w.serving.get(id.Partition(w.info.Partitions)); p != nil {
		p.redrive(id, revision)
	}
}
