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
	p := newPartition(w, number)
	s.by[number] = p
	ctx, stop := context.WithCancel(s.ctx)
	reading, enough := context.WithCancel(ctx)
	p.stop, p.enough = stop, enough
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
	p := w.serving.get(number)
	if p == nil {
		return
	}
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
	w.serving.mu.Lock()
	delete(w.serving.by, number)
	w.serving.mu.Unlock()
}

// serve folds the partition's frames until reading ends, and answers for its captures until ctx does.
func (p *partition) serve(ctx, reading context.Context) error {
	w := p.worker
	err := w.retry(ctx, fmt.Sprintf("take partition %d", p.number), func() error {
		last, _, err := topology.Last(ctx, w.js, topology.Raw, p.subject)
		p.taken.Store(last.Seq)
		return err
	})
	if err == nil {
		err = w.retry(ctx, "list parked captures", func() error { return p.takeParked(ctx) })
	}
	if err != nil {
		return err
	}
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
	return group.Wait()
}

// takeParked takes over the captures that an earlier worker parked.
func (p *partition) takeParked(ctx context.Context) error {
	listed, err := ListParked(ctx, p.worker.js)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, parked := range listed {
		if _, there := p.parkedBefore[parked.Identity]; !there && parked.Identity.Partition(p.worker.info.Partitions) == p.number {
			p.parkedBefore[parked.Identity] = &parked.Parked
			p.worker.counts.parked.Add(1)
		}
	}
	return nil
}
