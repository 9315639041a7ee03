package stage

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

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

// standing is the snapshot message that a capture's subject holds, as far as is known.
type standing struct {
	seq   uint64 // on STENO_STATE; 0: there is none
	blob  string // where its state is, if that is large
	frame uint64 // that it is of; 0: it cannot be used
}

// errOlder marks a snapshot that is to stand in the place of a newer one.
var errOlder = errors.New("a newer snapshot stands")

// keep stores a snapshot. One that fails is made again later: nothing but work depends on it.
func (w *Worker) keep(ctx context.Context, c *capture, s *snapshot) error {
	c.mu.Lock()
	behind := c.standing
	c.mu.Unlock()
	now, stored, gone, err := w.putSnapshot(ctx, c, s, behind)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		w.counts.retries.Add(1)
		w.log.Warn().Err(err).Stringer("capture", c.id).Msg("store snapshot; a later one will do")
	}
	err = w.kept(c, s, now, stored)
	for _, name := range gone {
		if err := w.states.Delete(ctx, c.id, name); err != nil {
			w.log.Debug().Err(err).Stringer("capture", c.id).Msg("delete a state that no snapshot names")
		}
	}
	return err
}

// kept takes note of what the capture's subject holds now, and whether that is this snapshot.
func (w *Worker) kept(c *capture, s *snapshot, now standing, stored bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.seq > c.standing.seq { // else it was read anew meanwhile
		c.standing = now
	}
	if c.snap != s { // the capture began anew meanwhile
		return w.next(c)
	}
	c.snap, c.standing = nil, now
	if !stored {
		if c.later(); now.frame > s.Frame { // it is replaced by the first that is as far
			c.notBefore = now.frame
			c.due()
		}
		return w.next(c)
	}
	w.counts.snapshots.Add(1)
	c.kept, c.distrusts = s.Frame, false
	c.covered(s.StreamSeq)
	c.due() // the frames that came meanwhile may be many
	return w.next(c)
}

// snapshotTries bounds how often a snapshot is written behind another one that has come in between.
const snapshotTries = 3

// putSnapshot writes a snapshot behind the one that the capture's subject is known to hold. One that is
// further and can be used stays, whoever wrote it: neither a worker that was away for long nor one that
// distrusts it moves anything back, since the frames before it may be given back at any moment. It gives what the subject holds, whether that is this snapshot, and the states that
// no snapshot names any more, since what named them was replaced, or can never be stored.
func (w *Worker) putSnapshot(ctx context.Context, c *capture, s *snapshot, behind standing) (now standing, stored bool, gone []string, err error) {
	msg := &nats.Msg{Subject: schema.StateSubject(c.id, w.info.Partitions), Header: s.Header(c.id), Data: s.State}
	if len(msg.Data) > schema.MaxInline {
		if s.blob, err = w.states.Put(ctx, c.id, msg.Data); err != nil {
			return behind, false, nil, err
		}
		msg.Header.Set(schema.HeaderBlob, s.blob)
		msg.Data = nil
	}
	for try := 1; ; try++ {
		err := errOlder
		if behind.frame <= s.Frame {
			var ack *jetstream.PubAck
			if ack, err = w.js.PublishMsg(ctx, msg, jetstream.WithExpectLastSequencePerSubject(behind.seq)); err == nil {
				return standing{ack.Sequence, s.blob, s.Frame}, true, replaced(behind, s.blob), nil
			}
		}
		there, one, readErr := w.readSnapshot(ctx, c.id)
		switch {
		case readErr != nil && !isUnusable(readErr):
			return behind, false, nil, errors.Join(err, readErr)
		case there.seq == behind.seq && !errors.Is(err, errOlder): // it may still come to be stored
			if topology.Classify(err) == topology.Busy && try < snapshotTries {
				continue
			}
			return behind, false, nil, err
		case one != nil && there.blob == s.blob && one.Header(c.id)[schema.HeaderSHA][0] == msg.Header.Get(schema.HeaderSHA):
			return there, true, replaced(behind, s.blob), nil // by a write whose answer was lost, or the same one
		}
		ahead, readErr := w.ahead(ctx, c, one, s)
		switch {
		case readErr != nil:
			return behind, false, nil, errors.Join(err, readErr)
		case ahead: // this one is written behind what is not there any more: it never comes to be stored
			return there, false, replaced(standing{blob: s.blob}, there.blob), nil
		case try == snapshotTries:
			return there, false, replaced(standing{blob: s.blob}, there.blob), err
		}
		behind = there
		behind.frame = 0
	}
}

// replaced is the state that a snapshot named, unless the one that stands names it.
func replaced(old standing, now string) []string {
	if old.blob == "" || old.blob == now {
		return nil
	}
	return []string{old.blob}
}

// ahead reports whether a stored snapshot is further than one that is to be stored, and can be used.
func (w *Worker) ahead(ctx context.Context, c *capture, there, s *snapshot) (bool, error) {
	if there == nil || there.Frame <= s.Frame {
		return false, nil
	}
	_, why, err := c.part.fitting(ctx, c.id, there)
	return why == nil && err == nil, err
}

// lastSnapshot reads the capture's snapshot from the stream's leader; nil if there is none. why says that
// it is not to be used; err is ctx's or hopeless.
func (w *Worker) lastSnapshot(ctx context.Context, id schema.Identity) (at standing, s *snapshot, why, err error) {
	err = w.retry(ctx, "read snapshot of "+id.String(), func() (err error) {
		at, s, err = w.readSnapshot(ctx, id)
		if why = nil; isUnusable(err) {
			why, err = err, nil
		}
		return err
	})
	return at, s, why, err
}

// isUnusable tells a snapshot that is not to be had whole from one that cannot be read now.
func isUnusable(err error) bool {
	return errors.Is(err, topology.ErrBlob) || errors.Is(err, schema.ErrSnapshot)
}

// readSnapshot reads what the capture's subject holds. Of a snapshot whose state is gone the error wraps
// topology.ErrBlob, of one that is damaged schema.ErrSnapshot.
func (w *Worker) readSnapshot(ctx context.Context, id schema.Identity) (standing, *snapshot, error) {
	subject := schema.StateSubject(id, w.info.Partitions)
	var gone standing // whose state could not be had, and why
	var why error
	for {
		m, ok, err := topology.Last(ctx, w.js, topology.State, subject)
		if err != nil || !ok {
			return standing{}, nil, err
		}
		at := standing{seq: m.Seq, blob: m.Header.Get(schema.HeaderBlob)}
		if why != nil && at == gone {
			return at, nil, why
		}
		payload := m.Data
		if at.blob != "" {
			payload, err = w.states.Get(ctx, id, at.blob)
			if err != nil {
				err = fmt.Errorf("read snapshot of %s: %w", id, err)
			}
			if errors.Is(err, topology.ErrBlob) { // its successor may stand there by now
				gone, why = at, err
				continue
			}
			if err != nil {
				return at, nil, err
			}
		}
		decoded, err := schema.DecodeSnapshot(id, m.Header, payload)
		if err != nil {
			return at, nil, err
		}
		at.frame = decoded.Frame
		return at, &snapshot{Snapshot: decoded, blob: at.blob}, nil
	}
}
