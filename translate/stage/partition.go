package stage

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/translate"
)

// partition is one owned partition: its captures, and how far its frames are folded.
type partition struct {
	worker  *Worker
	number  uint32
	subject string // filter of its frames
	// taken is the stream sequence of its last frame when it was taken. Frames up to it are catch-up:
	// their deltas are history and are not sent.
	taken   atomic.Uint64
	folded  atomic.Uint64 // stream sequence of the last frame handled, or of the mark
	stored  atomic.Uint64 // stream sequence of the mark
	round   atomic.Uint64 // counts the looks at idle captures
	mark    spots
	marking marking
	renewal sync.Mutex      // held while it is taken anew
	lost    atomic.Bool     // the streams do not have any more what it has folded
	ctx     context.Context //nolint:containedctx // ends with it, also for whoever works for its captures elsewhere
	backlog backlog
	waiting *waiting
	errands *errands
	enough  func()        // ends reading
	stop    func()        // ends it
	began   chan struct{} // closed when it is known where it begins
	ended   chan struct{} // closed when it has ended
	// Those of the consuming goroutine alone: captures that had a snapshot at first, and scratch.
	saved  map[schema.Identity]struct{}
	events []schema.Event
	line   []byte

	mu           sync.Mutex
	captures     map[schema.Identity]*capture
	bySubject    map[string]*capture          // by raw subject; a gone one is looked up again
	parkedBefore map[schema.Identity]*Parked  // by an earlier worker; taken over when the capture is first seen
	changed      []*capture                   // since the last heads
	doubt        map[schema.Identity]struct{} // parked over streams that were lost: to be folded again, until their keys are gone
}

func newPartition(w *Worker, number uint32, waiting *waiting) *partition {
	return &partition{
		worker: w, number: number, subject: schema.RawPartition(number),
		backlog:      backlog{limit: w.opts.Backlog},
		marking:      marking{writer: uuid.NewString()},
		waiting:      waiting,
		errands:      newErrands(),
		began:        make(chan struct{}),
		ended:        make(chan struct{}),
		bySubject:    map[string]*capture{},
		captures:     map[schema.Identity]*capture{},
		parkedBefore: map[schema.Identity]*Parked{},
	}
}

// consume folds the partition's frames as they come, from the mark on.
func (p *partition) consume(ctx context.Context) error {
	for {
		number, err := p.worker.gate.pass(ctx)
		if err != nil {
			return err
		}
		err = topology.Consume(ctx, p.worker.js, topology.Raw, p.subject, p.folded.Load()+1, func(m topology.Message) error {
			if err := p.backlog.wait(ctx); err != nil {
				return err
			}
			if err := p.handle(ctx, m, number); err != nil {
				return err
			}
			if !p.stands(spotOf(m), number) { // it may have been passed over, not folded
				return errOtherStreams
			}
			p.mark.noteFrame(spotOf(m))
			p.folded.Store(m.Seq)
			return nil
		})
		if !errors.Is(err, errOtherStreams) {
			return err
		}
	}
}

// handle folds one frame that was delivered over the connection of a number. Its error ends the partition,
// unless it is errOtherStreams.
func (p *partition) handle(ctx context.Context, m topology.Message, number uint64) error {
	c := p.lockSubject(m.Subject)
	if c == nil {
		// No capture has this subject, so there is nothing to fold or to park. The frame stays stored.
		p.worker.counts.strays.Add(1)
		p.worker.log.Error().Str("subject", m.Subject).Uint64("stream_seq", m.Seq).Msg("frame on the subject of no capture of this partition")
		return nil
	}
	defer c.mu.Unlock()
	c.round = p.round.Load()
	if !c.loaded {
		number := m.Header.Get(schema.HeaderSeq)
		_, saved := p.saved[c.id]
		if err := p.load(ctx, c, saved || number != "1"); err != nil {
			return err
		}
		if number != strconv.FormatUint(c.frame+1, 10) {
			if err := p.catchUp(ctx, c, m.Seq); err != nil {
				return err
			}
		}
	}
	var err error
	p.events, err = p.fold(ctx, c, m, number, p.events[:0])
	if err == nil && m.Seq > p.taken.Load() {
		p.sendDeltas(p.events)
	}
	clear(p.events) // they hold texts
	p.waiting.settle(c)
	return err
}

// fold folds one message of the capture unless that is done, and appends its events to dst. A
// deterministic failure parks the capture. errOtherStreams says that the message came over another
// connection than the one there is. c.mu is held.
func (p *partition) fold(ctx context.Context, c *capture, m topology.Message, number uint64, dst []schema.Event) ([]schema.Event, error) {
	if c.parked != nil || m.Seq <= c.rawSeq {
		return dst, nil
	}
	c.number = number
	f, err := schema.FrameFromHeader(m.Header, m.Data)
	if err != nil {
		err = fmt.Errorf("read frame of %s at sequence %d: %w", c.id, m.Seq, err)
		return dst, p.parkFrame(ctx, c, &failure{ReasonHeader, err}, c.frame+1, m)
	}
	if f.Blob != "" {
		err := p.worker.retry(ctx, "get blob of a frame of "+c.id.String(), func() error {
			f.Data, err = p.worker.blobs.Get(ctx, c.id, f.Blob)
			if errors.Is(err, topology.ErrBlob) {
				return nil
			}
			return err
		})
		if err != nil {
			return dst, err
		}
	}
	if err != nil {
		err = fmt.Errorf("read frame %d of %s: %w", f.Seq, c.id, err)
		return dst, p.parkFrame(ctx, c, &failure{ReasonBlob, err}, f.Seq, m)
	}
	if !p.stands(spotOf(m), number) {
		return dst, errOtherStreams
	}
	var bad *failure
	if p.worker.opts.Returned != nil && f.Seq > c.frame+1 {
		if bad, err = p.fill(ctx, c, f.Seq); err != nil {
			return dst, err
		}
	}
	events := dst
	if bad == nil {
		events, bad = c.step(dst, &f, m.Seq)
	}
	if bad != nil {
		return dst, p.park(ctx, c, bad, f.Seq, m.Seq)
	}
	p.worker.counts.frames.Add(1)
	p.touch(c)
	return events, nil
}

// stands takes note of a frame before it is folded, and reports whether the streams are those that it was
// read from. They are asked for after it is noted, so that whoever looks at them after a reconnect looks for
// this frame, too; and before, since one of streams that nobody has looked at would be looked for instead of
// one that they may have lost.
func (p *partition) stands(frame spot, number uint64) bool {
	if !p.worker.gate.same(number) {
		return false
	}
	p.mark.noteAhead(frame)
	return p.worker.gate.same(number)
}

// recordStands does the same for a record that was read, or acknowledged, over the connection of a number,
// before a mark may count on it.
func (p *partition) recordStands(record spot, number uint64) bool {
	if !p.worker.gate.same(number) {
		return false
	}
	p.mark.noteRecord(record)
	return p.worker.gate.same(number)
}

// parkFrame parks the capture at a message that cannot be folded. c.mu is held.
func (p *partition) parkFrame(ctx context.Context, c *capture, bad *failure, frame uint64, m topology.Message) error {
	if !p.stands(spotOf(m), c.number) {
		return errOtherStreams
	}
	return p.park(ctx, c, bad, frame, m.Seq)
}

// lockSubject finds or makes the capture of a raw subject and locks it; nil if the subject is no
// capture's in this partition.
func (p *partition) lockSubject(subject string) *capture {
	p.mu.Lock()
	c := p.bySubject[subject]
	p.mu.Unlock()
	if c != nil {
		c.mu.Lock()
		if !c.gone {
			return c
		}
		c.mu.Unlock()
	}
	_, id, err := schema.ParseSubject(subject)
	if err != nil || subject != schema.RawSubject(id, p.worker.info.Partitions) {
		return nil
	}
	c = p.lock(id)
	p.mu.Lock()
	p.bySubject[subject] = c
	p.mu.Unlock()
	return c
}

// lock finds or makes the capture and locks it.
func (p *partition) lock(id schema.Identity) *capture {
	for {
		p.mu.Lock()
		c := p.captures[id]
		if c == nil {
			c = &capture{id: id, part: p}
			p.captures[id] = c
		}
		p.mu.Unlock()
		c.mu.Lock()
		if !c.gone {
			return c
		}
		c.mu.Unlock()
	}
}

// forget takes a capture out of memory: without frames, or with nothing that is not stored. c.mu is held.
func (p *partition) forget(c *capture) {
	c.gone = true
	c.fold, c.sessions, c.about, c.seen, c.after = nil, nil, translate.Abouts{}, nil, nil
	p.mu.Lock()
	delete(p.captures, c.id)
	delete(p.bySubject, schema.RawSubject(c.id, p.worker.info.Partitions))
	p.mu.Unlock()
}

// touch marks the capture for the next heads. c.mu is held.
func (p *partition) touch(c *capture) {
	if c.changed {
		return
	}
	c.changed = true
	p.mu.Lock()
	p.changed = append(p.changed, c)
	p.mu.Unlock()
}
