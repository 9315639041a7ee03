package stage

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// snapshot is one that is to be stored once the record of its last event is.
type snapshot struct {
	schema.Snapshot
	blob string // where it is stored, if it is too large for a message
}

// save makes the snapshot of the capture as it stands, unless one waits already, and queues it as soon as
// it may be stored. c.mu is held.
func (c *capture) save() {
	if c.snap != nil || c.parked != nil || c.frame == 0 {
		return
	}
	s := &snapshot{Snapshot: schema.Snapshot{
		Frame: c.frame, StreamSeq: c.rawSeq, Created: c.part.worker.info.Created[topology.Raw], Chain: c.chain,
		Last: c.fold.Last(), LastChain: c.lastChain, Translator: c.fold.Version(),
	}}
	bad := c.guard(c.frame, func() *failure {
		s.Held = uint64(len(c.fold.Open().Messages))
		s.State = c.appendSaved(nil)
		return nil
	})
	if bad != nil { // the fold may be as good as ever
		c.later()
		c.part.worker.log.Warn().Err(bad).Stringer("capture", c.id).Msg("make snapshot")
		return
	}
	c.snap = s
	c.push()
}

// due makes a snapshot if many frames came since the last one. c.mu is held.
func (c *capture) due() {
	if every := uint64(c.part.worker.opts.SnapshotEvery); c.frame >= c.kept+every && c.frame >= c.notBefore {
		c.save()
	}
}

// later puts off the next snapshot that is due.
func (c *capture) later() { c.notBefore = c.frame + uint64(c.part.worker.opts.SnapshotEvery)/8 + 1 }

// ready gives the snapshot that may be stored: all that its fold had given is acknowledged.
func (c *capture) ready() *snapshot {
	if c.snap == nil || len(c.pending) > 0 && c.pending[0].events[0].origin.Compare(c.snap.Last) <= 0 {
		return nil
	}
	return c.snap
}

// keep stores a snapshot. One that fails is made again later: nothing but work depends on it.
func (w *Worker) keep(ctx context.Context, c *capture, s *snapshot) error {
	err := w.putSnapshot(ctx, c.id, s)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		w.counts.retries.Add(1)
		w.log.Warn().Err(err).Stringer("capture", c.id).Msg("store snapshot; a later one will do")
	}
	old, err := w.kept(ctx, c, s, err == nil)
	if old != "" && err == nil {
		if err := w.states.Delete(ctx, c.id, old); err != nil {
			w.log.Debug().Err(err).Stringer("capture", c.id).Msg("delete the state of the last snapshot")
		}
	}
	return err
}

// kept takes note of a snapshot that is stored, or is not, and gives the blob of the one before it, which
// nothing names any more; empty if there is none.
func (w *Worker) kept(ctx context.Context, c *capture, s *snapshot, stored bool) (old string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.snap != s { // the capture began anew meanwhile
		return "", w.next(ctx, c)
	}
	c.snap = nil
	if !stored {
		c.later()
		return "", w.next(ctx, c)
	}
	w.counts.snapshots.Add(1)
	if c.blob != s.blob {
		old = c.blob
	}
	c.kept, c.blob, c.distrusts = s.Frame, s.blob, false
	c.covered(s.StreamSeq)
	c.due() // the frames that came meanwhile may be many
	return old, w.next(ctx, c)
}

func (w *Worker) putSnapshot(ctx context.Context, id schema.Identity, s *snapshot) error {
	msg := &nats.Msg{Subject: schema.StateSubject(id, w.info.Partitions), Header: s.Header(id), Data: s.State}
	if len(msg.Data) > schema.MaxInline {
		sha, err := w.states.Put(ctx, id, msg.Data)
		if err != nil {
			return err
		}
		msg.Header.Set(schema.HeaderBlob, sha)
		msg.Data, s.blob = nil, sha
	}
	_, err := w.js.PublishMsg(ctx, msg)
	return err
}

// lastSnapshot reads the capture's snapshot from the stream's leader; nil if there is none. why says that
// it is not to be used; err is ctx's or hopeless.
func (w *Worker) lastSnapshot(ctx context.Context, id schema.Identity) (s *snapshot, why, err error) {
	subject := schema.StateSubject(id, w.info.Partitions)
	err = w.retry(ctx, "read snapshot of "+id.String(), func() error {
		s, why = nil, nil
		m, ok, err := topology.Last(ctx, w.js, topology.State, subject)
		if err != nil || !ok {
			return err
		}
		payload, sha := m.Data, m.Header.Get(schema.HeaderBlob)
		if sha != "" {
			if payload, err = w.states.Get(ctx, id, sha); errors.Is(err, topology.ErrBlob) {
				why = fmt.Errorf("read snapshot of %s: %w", id, err)
				return nil
			}
			if err != nil {
				return err
			}
		}
		decoded, err := schema.DecodeSnapshot(id, m.Header, payload)
		if err != nil {
			why = err
			return nil
		}
		s = &snapshot{Snapshot: decoded, blob: sha}
		return nil
	})
	return s, why, err
}
