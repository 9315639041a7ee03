package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// mark is a partition's low-water mark, a key of STENO_PARKED: each frame of the partition up to it is
// covered by an acknowledged record or a stored snapshot, or its capture is parked. It is a hint: one that
// is too low costs work, and one that does not fit the streams is not used. Record is the newest one that
// was acknowledged then: where the stream has another one there, or none, it has lost records, perhaps
// those that the mark counted on.
type mark struct {
	Writer string    `json:"writer"` // whoever stored it; another one on each taking of a partition
	Frame  markPlace `json:"frame"`
	Record markPlace `json:"record"`
}

// markPlace is a message of a stream, as a mark names it; sequence 0 is before the first.
type markPlace struct {
	Created time.Time `json:"created"` // of the stream
	Seq     uint64    `json:"seq"`
	Chain   string    `json:"chain"`
}

// markKey is a key that is no identity's.
func markKey(partition uint32) string { return "low." + strconv.FormatUint(uint64(partition), 10) }

// marking is how a partition stores its mark. Only its own goroutine uses it.
type marking struct {
	writer   string
	stored   mark
	revision uint64 // of the key; 0: there is none
	claimed  bool   // the key is this partition's own
	yielded  bool   // somebody else has taken it over
}

// takeMark begins at the partition's mark if it fits the streams, else before the first frame.
func (p *partition) takeMark(ctx context.Context) error {
	w := p.worker
	var m mark
	err := w.retry(ctx, fmt.Sprintf("read the mark of partition %d", p.number), func() (err error) {
		m, _, err = p.readMark(ctx)
		return err
	})
	if err != nil {
		return err
	}
	frame, record := spot{m.Frame.Seq, m.Frame.Chain}, spot{m.Record.Seq, m.Record.Chain}
	why := p.current(m)
	if why == nil {
		if why, err = p.fits(ctx, frame, record); err != nil {
			return err
		}
	}
	if why != nil {
		w.log.Warn().Err(why).Uint32("partition", p.number).Msg("mark does not fit the streams; beginning at the first frame")
		frame, record = spot{}, spot{}
	}
	p.mark.begin(frame, record)
	p.stored.Store(frame.seq)
	p.folded.Store(frame.seq)
	return nil
}

// readMark reads the key; a mark that cannot be read is none.
func (p *partition) readMark(ctx context.Context) (m mark, revision uint64, err error) {
	entry, err := p.worker.parkedKeys.Get(ctx, markKey(p.number))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return mark{}, 0, nil
	}
	if err != nil {
		return mark{}, 0, fmt.Errorf("read key %s: %w", markKey(p.number), err)
	}
	if err := json.Unmarshal(entry.Value(), &m); err != nil {
		p.worker.log.Warn().Err(err).Uint32("partition", p.number).Msg("mark that cannot be read")
		m = mark{}
	}
	return m, entry.Revision(), nil
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

// fits looks whether both messages are where they were. why says which one is not.
func (p *partition) fits(ctx context.Context, frame, record spot) (why, err error) {
	for _, one := range []struct {
		stream, prefix string
		at             spot
	}{{topology.Raw, schema.RawPartition(p.number), frame}, {topology.Events, schema.EventPartition(p.number), record}} {
		if one.at.seq == 0 || why != nil {
			continue
		}
		err := p.worker.retry(ctx, fmt.Sprintf("read where partition %d is", p.number), func() error {
			m, ok, err := topology.At(ctx, p.worker.js, one.stream, one.at.seq)
			if err != nil {
				return err
			}
			if !ok || !strings.HasPrefix(m.Subject, strings.TrimSuffix(one.prefix, ">")) || m.Header.Get(schema.HeaderChain) != one.at.chain {
				why = fmt.Errorf("look at sequence %d of %s: there is not the message that was there", one.at.seq, one.stream)
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
// nothing: once another one has written, it never writes again. A write that fails is made again later.
func (p *partition) storeMark(ctx context.Context) {
	k, w := &p.marking, p.worker
	if k.yielded || p.lost.Load() {
		return
	}
	at := p.mark.under(p.low())
	_, record := p.mark.now() // after low: it is not older than any record that low counts on
	m := mark{
		Writer: k.writer,
		Frame:  markPlace{w.info.Created[topology.Raw], at.seq, at.chain},
		Record: markPlace{w.info.Created[topology.Events], record.seq, record.chain},
	}
	if k.claimed && m.Frame == k.stored.Frame {
		return
	}
	if err := p.writeMark(ctx, m); err != nil && ctx.Err() == nil {
		w.counts.retries.Add(1)
		w.log.Warn().Err(err).Uint32("partition", p.number).Msg("store mark; the next one will do")
	}
}

func (p *partition) writeMark(ctx context.Context, m mark) error {
	k, w := &p.marking, p.worker
	if !k.claimed { // whoever wrote the mark before is not to go on
		_, revision, err := p.readMark(ctx)
		if err != nil {
			return err
		}
		k.revision = revision
	}
	value, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write mark: %w", err)
	}
	msg := &nats.Msg{Subject: topology.ParkedSubject(markKey(p.number)), Data: value}
	ack, err := w.js.PublishMsg(ctx, msg, jetstream.WithExpectLastSequencePerSubject(k.revision))
	if err == nil {
		k.stored, k.revision, k.claimed = m, ack.Sequence, true
		p.stored.Store(m.Frame.Seq)
		w.counts.marks.Add(1)
		return nil
	}
	if topology.Classify(err) != topology.Refused || !k.claimed {
		return err
	}
	there, revision, readErr := p.readMark(ctx)
	if readErr != nil {
		return errors.Join(err, readErr)
	}
	if there.Writer == k.writer { // stored by a write whose answer was lost
		k.stored, k.revision = there, revision
		p.stored.Store(there.Frame.Seq)
		return nil
	}
	k.yielded = true
	w.log.Info().Uint32("partition", p.number).Msg("another worker stores the partition's mark")
	return nil
}
