package stage

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// drainLook is how often a partition that is given up looks whether its records are stored.
const drainLook = 5 * time.Millisecond

// serving is the partitions that a worker serves now.
type serving struct {
	mu    sync.RWMutex
	by    map[uint32]*partition
	ctx   context.Context
	group *errgroup.Group
}

func (s *serving) begin(ctx context.Context, group *errgroup.Group) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.by, s.ctx, s.group = map[uint32]*partition{}, ctx, group
}

// get is a partition, nil if it is not served.
func (s *serving) get(number uint32) *partition {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.by[number]
}

// all are the partitions, by number.
func (s *serving) all() []*partition {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.SortedFunc(maps.Values(s.by), func(a, b *partition) int { return cmp.Compare(a.number, b.number) })
}

// Take implements lease.Server.
func (w *Worker) Take(number uint32) {
	s := &w.serving
	s.mu.Lock()
	defer s.mu.Unlock()
	w.take(newPartition(w, number, &waiting{}))
}

// take begins to serve a partition. serving.mu is held.
func (w *Worker) take(p *partition) {
	s := &w.serving
	s.by[p.number] = p
	ctx, stop := context.WithCancel(s.ctx)
	reading, enough := context.WithCancel(ctx)
	p.ctx, p.stop, p.enough = ctx, stop, enough
	s.group.Go(func() error {
		defer close(p.ended)
		defer enough()
		err := p.serve(ctx, reading)
		if s.ctx.Err() == nil && ctx.Err() != nil {
			return nil // dropped
		}
		return err
	})
}

// Drop implements lease.Server: nothing more is read, and what was folded is stored.
func (w *Worker) Drop(ctx context.Context, number uint32) {
	s := &w.serving
	for {
		p := s.get(number)
		if p == nil {
			return
		}
		p.drain(ctx)
		s.mu.Lock()
		last := s.by[number] == p // else it was taken anew meanwhile
		if last {
			delete(s.by, number)
		}
		s.mu.Unlock()
		if last {
			return
		}
	}
}

// takeAnew serves a partition from its mark or its first frame on, as if it had been taken now: what it
// holds in memory is of messages that the streams do not have any more. Nobody else is kept waiting until
// it has ended.
func (w *Worker) takeAnew(p *partition) {
	s := &w.serving
	p.renewal.Lock() // who comes second returns when it is done
	defer p.renewal.Unlock()
	if s.get(p.number) != p || s.ctx.Err() != nil {
		return
	}
	p.lost.Store(true)
	p.stop()
	<-p.ended
	next := newPartition(w, p.number, p.waiting)
	next.doubt = p.abandon()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by[p.number] != p || s.ctx.Err() != nil { // dropped meanwhile
		return
	}
	w.take(next)
}

// abandon lets go of what is not stored, and gives the captures whose keys are this partition's, or were
// in doubt when it began and are still. A record that is on its way may still be stored.
func (p *partition) abandon() (parked map[schema.Identity]struct{}) {
	p.forgetParked()
	p.mu.Lock()
	all := slices.Collect(maps.Values(p.captures))
	parked = maps.Clone(p.doubt)
	p.mu.Unlock()
	if parked == nil {
		parked = map[schema.Identity]struct{}{}
	}
	for _, c := range all {
		c.mu.Lock()
		if c.parked != nil && !c.parkedStored || c.parkedRevision != 0 { // one that is being folded again has its key
			parked[c.id] = struct{}{}
		}
		if c.parkedStored {
			p.worker.counts.parked.Add(^uint64(0))
		}
		c.dropAll()
		c.parked = nil
		p.forget(c)
		c.mu.Unlock()
	}
	return parked
}

// whileServed is an error of what was done for the partition, nil if that was cut short by its end.
func (p *partition) whileServed(err error) error {
	if p.ctx.Err() != nil {
		return nil
	}
	return err
}

// drain ends a partition: nothing more is read, and what was folded is stored, if ctx lasts.
func (p *partition) drain(ctx context.Context) {
	p.enough()
	for p.backlog.size() > 0 && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(drainLook):
		case <-p.ended:
		}
	}
	p.stop()
	<-p.ended
}

// serve folds the partition's frames until reading ends, and answers for its captures until ctx does.
func (p *partition) serve(ctx, reading context.Context) error {
	w := p.worker
	open, err := p.takeAll(ctx)
	if err != nil {
		return err
	}
	for _, id := range p.waiting.ids() {
		p.errands.add(func(ctx context.Context) error { return p.wakeFor(ctx, id) })
	}
	defer p.lastMark(ctx)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		reading, end := context.WithCancel(reading)
		defer end()
		defer context.AfterFunc(ctx, end)()
		err := p.consume(reading)
		if ctx.Err() == nil && reading.Err() != nil {
			return nil // the rest is stored meanwhile
		}
		return err
	})
	group.Go(func() error { return p.answer(ctx) })
	group.Go(func() error { return p.errands.run(ctx, &w.gate, p.wakeAll(open)) })
	group.Go(func() error { return p.tend(ctx) })
	return group.Wait()
}

// takeAll reads where the partition begins, over one connection: from then on whoever looks at the streams
// after a reconnect looks at what it has read, too. It gives the captures in which messages are open.
func (p *partition) takeAll(ctx context.Context) (open []schema.Identity, err error) {
	for first := true; ; first = false {
		number, err := p.worker.gate.pass(ctx)
		if err != nil {
			return nil, err
		}
		if open, err = p.takeOnce(ctx); err != nil {
			return nil, err
		}
		if first {
			close(p.began)
		}
		if p.worker.gate.same(number) {
			return open, nil
		}
	}
}

func (p *partition) takeOnce(ctx context.Context) (open []schema.Identity, err error) {
	w := p.worker
	err = w.retry(ctx, fmt.Sprintf("take partition %d", p.number), func() error {
		last, _, err := topology.Last(ctx, w.js, topology.Raw, p.subject)
		p.taken.Store(last.Seq)
		return err
	})
	if err == nil {
		err = w.retry(ctx, "list parked captures", func() error { return p.takeParked(ctx) })
	}
	if err == nil {
		err = w.retry(ctx, "list snapshots", func() (err error) { open, err = p.takeSnapshots(ctx); return err })
	}
	if err == nil {
		err = p.takeMark(ctx)
	}
	return open, err
}

// lastMark stores the mark once more when the partition has ended.
func (p *partition) lastMark(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastMarkWithin)
	defer cancel()
	if p.worker.js.Conn().IsConnected() {
		p.storeMark(ctx)
	}
}

// forgetParked lets go of the captures that an earlier worker parked and that were not seen yet.
func (p *partition) forgetParked() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.worker.counts.parked.Add(-uint64(len(p.parkedBefore)))
	clear(p.parkedBefore)
}

// takeParked takes over the captures that an earlier worker parked, and has those folded again that this
// one has parked over streams that were lost.
func (p *partition) takeParked(ctx context.Context) error {
	listed, err := ListParked(ctx, p.worker.js)
	if err != nil {
		return err
	}
	p.forgetParked()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, parked := range listed {
		_, doubtful := p.doubt[parked.Identity]
		switch {
		case parked.Identity.Partition(p.worker.info.Partitions) != p.number:
		case parked.Redrive || doubtful:
			p.redrive(parked.Identity, parked.Revision)
		default:
			p.parkedBefore[parked.Identity] = &parked.Parked
			p.worker.counts.parked.Add(1)
		}
	}
	return nil
}
