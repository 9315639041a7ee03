package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// mark and markPlace are as the key has them.
type (
	mark      = topology.Mark
	markPlace = topology.Place
)

// spotAt is where a mark's message stands.
func spotAt(m markPlace) spot { return spot{m.Seq, m.Chain} }

// markKey is a key that is no identity's.
func markKey(partition uint32) string { return topology.MarkKey(partition) }

// marking is how a partition stores its mark. Only its own goroutine uses it.
type marking struct {
	writer   string
	stored   mark
	revision uint64 // of the key
	yielded  bool   // it is somebody else's
}

// takeMark begins at the partition's mark if it fits the streams, else before the first frame, and makes
// the key this partition's own.
func (p *partition) takeMark(ctx context.Context) error {
	return p.worker.retry(ctx, fmt.Sprintf("take the mark of partition %d", p.number), func() error {
		m, revision, err := p.readMark(ctx)
		if err != nil {
			return err
		}
		why := p.current(m)
		if why == nil {
			if why, err = p.fits(ctx, landmark{topology.Raw, spotAt(m.Frame)}, landmark{topology.Events, spotAt(m.Record)}); err != nil {
				return err
			}
		}
		if why != nil {
			p.worker.log.Warn().Err(why).Uint32("partition", p.number).Msg("mark does not fit the streams; beginning at the first frame")
			m = mark{Writer: m.Writer}
		}
		if err := p.claimMark(ctx, m, revision); err != nil {
			return err
		}
		p.mark.begin(spotAt(m.Frame), spotAt(m.Record))
		p.stored.Store(m.Frame.Seq)
		p.folded.Store(m.Frame.Seq)
		return nil
	})
}

// claimMark writes the mark under this partition's name, so that whoever stored it before does not go on.
// The lease is looked at after the revision: a worker that was away since it took the partition finds
// another one's lease, or writes behind a revision that is not the last any more. Without leases whoever
// comes last has the key.
func (p *partition) claimMark(ctx context.Context, m mark, revision uint64) error {
	k := &p.marking
	k.yielded = false
	if m.Writer == k.writer { // by a write whose answer was lost
		k.stored, k.revision = m, revision
		return nil
	}
	owned, err := p.owned(ctx)
	if err != nil {
		return err
	}
	if !owned {
		p.yieldMark()
		return nil
	}
	m.Writer = k.writer
	return p.putMark(ctx, m, revision)
}

// owned reports whether the partition is this worker's by its lease.
func (p *partition) owned(ctx context.Context) (bool, error) {
	l := p.worker.leases
	if l == nil {
		return true, nil
	}
	return l.Owns(ctx, p.number)
}

func (p *partition) yieldMark() {
	p.marking.yielded = true
	p.worker.log.Info().Uint32("partition", p.number).Msg("another worker stores the partition's mark")
}

// readMark reads the key from the leader; a mark that cannot be read is none. The revision is 0 if the key
// was never written.
func (p *partition) readMark(ctx context.Context) (m mark, revision uint64, err error) {
	there, ok, err := topology.Last(ctx, p.worker.js, topology.ParkedStream, topology.ParkedSubject(markKey(p.number)))
	if err != nil {
		return mark{}, 0, fmt.Errorf("read key %s: %w", markKey(p.number), err)
	}
	if !ok || there.Header.Get(kvOperation) != "" {
		return mark{}, there.Seq, nil
	}
	if err := json.Unmarshal(there.Data, &m); err != nil {
		p.worker.log.Warn().Err(err).Uint32("partition", p.number).Msg("mark that cannot be read")
		m = mark{}
	}
	return m, there.Seq, nil
}

// current checks that a mark is of these streams.
func (p *partition) current(m mark) error {
	for stream, at := range map[string]markPlace{topology.Raw: m.Frame, topology.Events: m.Record} {
		if created := p.worker.info.Created[stream]; at.Seq > 0 && !at.Created.Equal(created) {
			return fmt.Errorf("use mark: it is of the %s made at %s, this one was made at %s", stream, at.Created, created)
		}
	}
	return nil
}

// fits looks whether messages are where they were. why says which one is not.
func (p *partition) fits(ctx context.Context, landmarks ...landmark) (why, err error) {
	prefixes := map[string]string{topology.Raw: schema.RawPartition(p.number), topology.Events: schema.EventPartition(p.number)}
	for _, at := range landmarks {
		if at.seq == 0 || why != nil {
			continue
		}
		err := p.worker.retry(ctx, fmt.Sprintf("read where partition %d is", p.number), func() error {
			m, ok, err := topology.At(ctx, p.worker.js, at.stream, at.seq)
			if err != nil {
				return err
			}
			if !ok || !strings.HasPrefix(m.Subject, strings.TrimSuffix(prefixes[at.stream], ">")) || m.Header.Get(schema.HeaderChain) != at.chain {
				why = fmt.Errorf("look at sequence %d of %s: there is not the message that was there", at.seq, at.stream)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return why, nil
}

// low is the highest stream sequence up to which all frames of the partition are covered.
func (p *partition) low() uint64 {
	low := p.folded.Load() // first: what is folded later is not counted
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.captures {
		if hold := c.low.Load(); hold != 0 {
			low = min(low, hold-1)
		}
	}
	return low
}

// storeMark stores the mark if it has moved. The write states the revision that it stands behind, so that a
// worker which was away for long, and whose captures may have been parked or redriven since, moves
// nothing: once another one has the key, this partition never writes again. If its lease says that it is
// this worker's all the same, somebody else served it in between, and it is taken anew. A write that fails
// is made again later.
func (p *partition) storeMark(ctx context.Context) {
	k, w := &p.marking, p.worker
	if p.lost.Load() {
		return
	}
	fail := func(err error) {
		if err != nil && ctx.Err() == nil {
			w.counts.retries.Add(1)
			w.log.Warn().Err(err).Uint32("partition", p.number).Msg("store mark; the next one will do")
		}
	}
	if k.yielded {
		fail(p.takeBack(ctx))
		return
	}
	number, at := w.gate.seen.Load(), p.mark.under(p.low())
	_, record := p.mark.now() // after low: it is not older than any record that low counts on
	m := mark{
		Writer: k.writer,
		Frame:  markPlace{Created: w.info.Created[topology.Raw], Seq: at.seq, Chain: at.chain},
		Record: markPlace{Created: w.info.Created[topology.Events], Seq: record.seq, Chain: record.chain},
	}
	if spotAt(m.Frame) != spotAt(k.stored.Frame) && w.gate.same(number) { // else what it names may be lost
		fail(p.writeMark(ctx, m))
	}
}

// takeBack has a partition taken anew whose mark is another worker's, and whose lease is this one's.
func (p *partition) takeBack(ctx context.Context) error {
	w := p.worker
	if w.leases == nil || ctx.Err() != nil {
		return nil
	}
	owned, err := p.owned(ctx)
	if err != nil || !owned {
		return err
	}
	p.marking.yielded = false
	p.lost.Store(true) // what it knows is of the time before
	w.log.Info().Uint32("partition", p.number).Msg("another worker has served the partition meanwhile; it is taken anew")
	w.serving.group.Go(func() error { w.takeAnew(p); return nil })
	return nil
}

func (p *partition) writeMark(ctx context.Context, m mark) error {
	k := &p.marking
	err := p.putMark(ctx, m, k.revision)
	if err == nil {
		p.stored.Store(m.Frame.Seq)
		p.worker.counts.marks.Add(1)
		return nil
	}
	if topology.Classify(err) != topology.Refused {
		return err
	}
	there, revision, readErr := p.readMark(ctx)
	if readErr != nil {
		return errors.Join(err, readErr)
	}
	if there.Writer != k.writer {
		p.yieldMark()
		return nil
	}
	k.stored, k.revision = there, revision // by a write whose answer was lost
	p.stored.Store(there.Frame.Seq)
	return nil
}

// putMark writes the key behind a revision.
func (p *partition) putMark(ctx context.Context, m mark, revision uint64) error {
	value, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write mark: %w", err)
	}
	msg := &nats.Msg{Subject: topology.ParkedSubject(markKey(p.number)), Data: value}
	ack, err := p.worker.js.PublishMsg(ctx, msg, jetstream.WithExpectLastSequencePerSubject(revision))
	if err == nil {
		p.marking.stored, p.marking.revision = m, ack.Sequence
	}
	return err
}
