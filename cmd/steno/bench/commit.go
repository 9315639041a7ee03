package bench

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

const (
	goalCommit     = 0.7 // of the loop
	commitInFlight = 64  // records of the loop at a time, as many as the stage's
)

// commit folds a stored backlog and commits its records. The ceiling is a loop that reads the same
// frames in the same way, does not decode them, and publishes as many fenced records of the same size.
func (b *bench) commit(ctx context.Context) error {
	of, err := b.recording(schema.ACP)
	if err != nil {
		return err
	}
	for _, sync := range []time.Duration{everySecond, 0} {
		name := "commit, sync " + syncName(sync)
		b.Say("%s: storing a backlog", name)
		err := withRig(ctx, sync, func(r *rig) error {
			load, err := r.backlog(ctx, []Recording{of}, b.size.captures, 0)
			if err != nil {
				return err
			}
			total := load.frames()
			records, bytes := 0, 0
			figure, ceiling, err := b.beside(ctx, name,
				func(ctx context.Context) (float64, error) {
					n, took, err := b.translated(ctx, r, load)
					if err != nil {
						return 0, err
					}
					state, err := r.purge(ctx, topology.Events)
					if err != nil {
						return 0, err
					}
					if n == 0 || state.Msgs != uint64(n) {
						return 0, fmt.Errorf("committed %d records, and the stream has %d", n, state.Msgs)
					}
					records, bytes = n, int(state.Bytes)/n
					return float64(total) / took.Seconds(), nil
				},
				func(ctx context.Context) (float64, error) { return r.loop(ctx, total, records, bytes) })
			if err != nil {
				return err
			}
			return b.higher(name, "frames/s", figure, ceiling, goalCommit*ceiling)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// loop reads every frame and publishes records of that number and size evenly, each fenced on a subject
// of its own.
func (r *rig) loop(ctx context.Context, frames, records, size int) (float64, error) {
	payload := make([]byte, size)
	due := make(chan int, records)
	reading, done := context.WithCancelCause(ctx)
	defer done(nil)
	begin := time.Now()
	publishers, publishing := errgroup.WithContext(reading)
	for range commitInFlight {
		publishers.Go(func() error {
			for {
				select {
				case <-publishing.Done():
					return publishing.Err()
				case n, ok := <-due:
					if !ok {
						return nil
					}
					m := &nats.Msg{Subject: schema.EventSubject(identity("loop", n), r.info.Partitions), Data: payload}
					if _, err := r.js.PublishMsg(publishing, m, jetstream.WithExpectLastSequencePerSubject(0)); err != nil {
						return fmt.Errorf("publish: %w", err)
					}
				}
			}
		})
	}
	var mu sync.Mutex
	read, published := 0, 0
	var readers sync.WaitGroup
	for p := range r.info.Partitions {
		readers.Go(func() {
			done(topology.Consume(reading, r.js, topology.Raw, schema.RawPartition(p), 1, func(topology.Message) error {
				mu.Lock()
				defer mu.Unlock()
				read++
				for ; published < read*records/frames; published++ {
					due <- published
				}
				if read == frames {
					close(due)
				}
				return nil
			}))
		})
	}
	err := publishers.Wait()
	rate := perSecond(frames, begin)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", err, context.Cause(reading))
	}
	done(nil)
	readers.Wait()
	if err != nil {
		return 0, err
	}
	_, err = r.purge(ctx, topology.Events)
	return rate, err
}
