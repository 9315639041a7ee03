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
	"github.com/steno-io/steno/schema"
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
		recheck := time.NewTicker(sweepEvery)
		defer recheck.Stop()
		for {
			j.recheck(ctx)
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-recheck.C:
			}
		}
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
		before := j.before(infos, info)
		g.Go(func() error {
			if err := j.follow(ctx, before); err != nil {
				return err
			}
			return j.publish(ctx, info, mark, s)
		})
	}
	return nil
}

// before lists the older journals, not known to be stored, of the same peer's proxies: a conversation
// may be in several. j.mu is held; infos are by age.
func (j *journals) before(infos []journal.Info, info journal.Info) (older []journal.Info) {
	if info.Head.Open.Protocol != schema.A2A {
		return nil
	}
	same := func(h journal.Head) bool {
		return h.Open.Protocol == schema.A2A && h.Open.Peer == info.Head.Open.Peer && h.Destination == info.Head.Destination &&
			h.Identity.Namespace == info.Head.Identity.Namespace && h.Identity.Workflow == info.Head.Identity.Workflow
	}
	for _, other := range infos {
		if other.ID == info.ID {
			break
		}
		_, done := j.done[other.ID]
		itself := other.Head.Destination != "" && other.Alive
		if other.Err == nil && !done && !itself && same(other.Head) {
			older = append(older, other)
		}
	}
	return older
}

// follow waits until what older journals held is stored, or is known not to come through, so that a
// conversation that was journalled while nobody published is stored in its order.
func (j *journals) follow(ctx context.Context, older []journal.Info) error {
	for _, info := range older {
		if _, _, err := j.stored(ctx, info); err != nil {
			return err
		}
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
