package holder

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/translate/stage"
)

// Times of the pulse.
const (
	beatEvery  = time.Second
	beatWithin = 5 * time.Second
	// defaultStallAfter is longer than any one step that may still end well: a frame's 64 MB are fetched,
	// and its record's put, within 30 s each.
	defaultStallAfter = 90 * time.Second
)

// pulse tells work that only takes long from work that does not get on at all.
type pulse struct {
	worker *stage.Worker
	after  time.Duration

	mu      sync.Mutex
	waiting int
	beats   map[uint32]*beat // by partition
}

// beat is how far a partition is, and since when it has been there.
type beat struct {
	stage  stage.PartitionProgress
	stored uint64 // transactions of the ledger
	since  time.Time
	stuck  bool // somebody waited for it in vain, and it has not moved since
}

func newPulse(worker *stage.Worker, after time.Duration) *pulse {
	if after == 0 {
		after = defaultStallAfter
	}
	return &pulse{worker: worker, after: after, beats: map[uint32]*beat{}}
}

// run looks at the stage while somebody waits.
func (p *pulse) run(ctx context.Context) error {
	tick := time.NewTicker(min(beatEvery, p.after/4))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			p.look(ctx)
		}
	}
}

func (p *pulse) look(ctx context.Context) {
	p.mu.Lock()
	waiting := p.waiting
	p.mu.Unlock()
	if waiting == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, beatWithin)
	defer cancel()
	progress, err := p.worker.Progress(ctx)
	if err != nil {
		return // a stage that cannot say where it stands is not known to move
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, now := range progress.Partitions {
		b := p.beat(now.Partition)
		if now.Folded != b.stage.Folded || now.Backlog != b.stage.Backlog || now.Captures != b.stage.Captures {
			b.since, b.stuck = time.Now(), false
		}
		b.stage = now
	}
}

// stored hears of the ledger's transactions.
func (p *pulse) stored(partitions uint32) func(sink.Stored) {
	return func(s sink.Stored) {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, head := range s.Heads {
			b := p.beat(head.Transcript.Identity.Partition(partitions))
			b.stored++
			b.since, b.stuck = time.Now(), false
		}
	}
}

func (p *pulse) beat(partition uint32) *beat {
	b := p.beats[partition]
	if b == nil {
		b = &beat{since: time.Now()}
		p.beats[partition] = b
	}
	return b
}

// patient does work that waits for a partition, again until it is done or final says that it cannot
// be. When the partition has not moved for long, the work ends with an error that wraps ErrStalled.
func (p *pulse) patient(ctx context.Context, partition uint32, final func(error) bool, work func(context.Context) error) error {
	p.count(1)
	defer p.count(-1)
	ctx, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel(nil)
	watching.Go(func() { p.watch(ctx, partition, cancel) })
	for {
		err := work(ctx)
		if err == nil || final(err) {
			return err
		}
		select {
		case <-ctx.Done():
			if errors.Is(err, context.Canceled) {
				return context.Cause(ctx)
			}
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (p *pulse) count(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting += n
}

// watch gives up when the partition has not moved for long since it was waited for, or was given up
// before and has not moved since.
func (p *pulse) watch(ctx context.Context, partition uint32, giveUp context.CancelCauseFunc) {
	began := time.Now()
	tick := time.NewTicker(min(beatEvery, p.after/4))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			p.mu.Lock()
			b := p.beat(partition)
			from := b.since
			if began.After(from) {
				from = began
			}
			waited := time.Since(from)
			if waited > p.after || b.stuck && waited > 3*beatEvery {
				b.stuck = true
				folded, last, since := b.stage.Folded, b.stage.Last, b.since
				p.mu.Unlock()
				giveUp(fmt.Errorf("%w: partition %d, folded up to sequence %d of %d, has not moved for %s",
					ErrStalled, partition, folded, last, time.Since(since).Round(time.Second)))
				return
			}
			p.mu.Unlock()
		}
	}
}
