package holder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/steno-io/steno/ingest/filing"
	"github.com/steno-io/steno/ingest/journal"
)

// Times of the journals' keeper.
const (
	lookEvery  = 2 * time.Second // besides notifications
	sweepEvery = time.Hour
	retryAfter = time.Second
)

// journals publishes the directory's journals as they grow, each to the destination in its head.
type journals struct {
	o     Options
	to    filing.Options // the embedded server's
	watch *journal.Watch

	poke chan struct{} // a token: look now

	mu     sync.Mutex
	active map[string]*source
	done   map[string]bool // known to be stored to its end, by id; true: its frames were numbered, too
	said   map[string]bool // what was reported, and is not again
}

func newJournals(o Options, to filing.Options) *journals {
	return &journals{
		o: o, to: to, watch: journal.NewWatch(o.Dir.Journals()), poke: make(chan struct{}, 1),
		active: map[string]*source{}, done: map[string]bool{}, said: map[string]bool{},
	}
}

func (j *journals) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := j.watch.Run(ctx); err != nil && ctx.Err() == nil {
			j.o.Log.Warn().Err(err).Msg("no file notifications; journals are looked at by the clock")
		}
		return nil
	})
	g.Go(func() error {
		look, sweep := time.NewTicker(lookEvery), time.NewTicker(sweepEvery)
		defer look.Stop()
		defer sweep.Stop()
		j.sweep()
		for {
			if err := j.take(ctx, g); err != nil {
				return err
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-j.watch.Came():
			case <-j.poke:
			case <-look.C:
			case <-sweep.C:
				j.sweep()
			}
		}
	})
	return g.Wait()
}

func (j *journals) sweep() {
	deleted, err := journal.Sweep(j.o.Dir.Journals(), time.Now())
	if err != nil {
		j.o.Log.Warn().Err(err).Msg("sweep journals")
	}
	for _, path := range deleted {
		j.o.Log.Debug().Str("journal", path).Msg("deleted: stored long ago")
	}
}

// take starts a publisher for every journal that has none and is not yet stored.
func (j *journals) take(ctx context.Context, g *errgroup.Group) error {
	infos, err := journal.List(j.o.Dir.Journals())
	if err != nil {
		return fmt.Errorf("list journals: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, info := range infos {
		if info.Err != nil {
			if cause := info.Path + ": " + info.Err.Error(); !j.said[cause] {
				j.said[cause] = true
				j.o.Log.Error().Err(info.Err).Str("journal", info.Path).Msg("journal cannot be read")
			}
			continue
		}
		_, active := j.active[info.ID]
		_, done := j.done[info.ID]
		if active || done || info.Head.Destination != "" && info.Alive {
			continue // a tap with a NATS URL publishes by itself while it lives
		}
		mark := j.mark(info.ID)
		if mark.Done {
			j.done[info.ID] = false
			continue
		}
		s := &source{ended: make(chan struct{})}
		j.active[info.ID] = s
		g.Go(func() error { return j.publish(ctx, info, mark, s) })
	}
	return nil
}

func (j *journals) mark(id string) journal.Mark {
	mark, err := journal.ReadMark(j.o.Dir.Journals(), id)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		j.o.Log.Warn().Err(err).Msg("read mark; the journal is read again")
	}
	return mark
}
