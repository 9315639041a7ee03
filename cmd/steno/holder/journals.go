package holder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
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
	to    publish.Options // the embedded server's
	watch *journal.Watch

	poke chan struct{} // a token: look now

	mu     sync.Mutex
	active map[string]*source
}

// source is a journal that is being published.
type source struct {
	publisher *publish.Publisher
	started   chan struct{} // closed when publisher is set
	ended     chan struct{} // closed when it is stored to its end
}

func newJournals(o Options, to publish.Options) *journals {
	return &journals{
		o: o, to: to, watch: journal.NewWatch(o.Dir.Journals()), active: map[string]*source{}, poke: make(chan struct{}, 1),
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
			j.o.Log.Error().Err(info.Err).Str("journal", info.Path).Msg("journal cannot be read")
			continue
		}
		if _, ok := j.active[info.ID]; ok || info.Head.Destination != "" && info.Alive {
			continue // a tap with a NATS URL publishes by itself while it lives
		}
		mark := j.mark(info.ID)
		if mark.Done {
			continue
		}
		s := &source{started: make(chan struct{}), ended: make(chan struct{})}
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

// publish stores one journal to its end, however often it takes. A journal that is damaged is
// reported and left to the operator; all before the damage is stored.
func (j *journals) publish(ctx context.Context, info journal.Info, mark journal.Mark, s *source) error {
	defer func() {
		j.mu.Lock()
		delete(j.active, info.ID)
		j.mu.Unlock()
	}()
	log := j.o.Log.With().Str("journal", info.ID).Logger()
	for wait := retryAfter; ; wait = min(2*wait, 30*time.Second) {
		err := j.once(ctx, info, mark, s)
		switch {
		case err == nil:
			close(s.ended)
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, journal.ErrDamaged):
			log.Error().Err(err).Msg("journal is damaged; what stands before is stored")
			close(s.ended)
			<-ctx.Done() // not taken up again by this holder
			return ctx.Err()
		}
		log.Warn().Err(err).Msg("publish journal; trying again")
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

func (j *journals) once(ctx context.Context, info journal.Info, mark journal.Mark, s *source) (err error) {
	reader, err := j.watch.Open(info.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	o := j.to
	if info.Head.Destination != "" {
		close, err := j.elsewhere(ctx, info.Head.Destination, &o)
		if err != nil {
			return err
		}
		defer close()
	}
	o.Source, o.Mark = reader, mark
	o.SaveMark = func(m journal.Mark) error { return journal.WriteMark(j.o.Dir.Journals(), info.ID, m) }
	o.Retry = func(err error) { j.o.Log.Debug().Err(err).Str("journal", info.ID).Msg("append again") }
	o.Identified = func(final, asked schema.Identity) {
		if final != asked {
			j.o.Log.Info().Stringer("capture", final).Stringer("asked", asked).Msg("attempt is taken; recording as the next one")
		}
	}
	p := publish.NewPublisher(o)
	j.mu.Lock()
	s.publisher = p
	select {
	case <-s.started:
	default:
		close(s.started)
	}
	j.mu.Unlock()
	return p.Run(ctx)
}

// elsewhere connects to the NATS that a dead tap's journal goes to.
func (j *journals) elsewhere(ctx context.Context, destination string, o *publish.Options) (func(), error) {
	conn, err := j.o.Dial(destination)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", withoutSecrets(destination), err)
	}
	js, err := jetstream.New(conn)
	if err == nil {
		var info topology.Info
		if info, err = topology.Check(ctx, js); err == nil {
			o.JS, o.Partitions = js, info.Partitions
			o.Blobs, err = topology.OpenBlobs(ctx, js)
		}
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn.Close, nil
}

func withoutSecrets(destination string) string {
	u, err := url.Parse(destination)
	if err != nil {
		return "NATS"
	}
	return u.Redacted()
}

// captured is a capture and how many frames of it are stored.
type captured struct {
	id     schema.Identity
	frames uint64
}

// drained waits until what the journals hold now is stored, and gives their captures. Journals that go
// to another NATS, or that cannot be read, are not waited for.
func (j *journals) drained(ctx context.Context) ([]captured, error) {
	infos, err := journal.List(j.o.Dir.Journals())
	if err != nil {
		return nil, fmt.Errorf("list journals: %w", err)
	}
	var captures []captured
	for _, info := range infos {
		if info.Err != nil || info.Head.Destination != "" {
			continue
		}
		c, err := j.stored(ctx, info)
		if err != nil {
			return nil, err
		}
		if c.frames > 0 {
			captures = append(captures, c)
		}
	}
	return captures, nil
}

// stored waits until the bytes that a journal held when it was listed are stored. A journal that was
// stored before gives no capture: its frames were waited for then.
func (j *journals) stored(ctx context.Context, info journal.Info) (captured, error) {
	for {
		j.mu.Lock()
		s := j.active[info.ID]
		j.mu.Unlock()
		if s == nil {
			if mark := j.mark(info.ID); mark.Done {
				return captured{mark.Identity, mark.Frames}, nil
			}
			select {
			case j.poke <- struct{}{}:
			default:
			}
		} else if c, ok := j.reached(ctx, s, uint64(info.Size)); ok {
			return c, nil
		}
		select {
		case <-ctx.Done():
			return captured{}, fmt.Errorf("wait for journal %s: %w", info.ID, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// reached waits for one publisher; ok is false if it ended before.
func (j *journals) reached(ctx context.Context, s *source, offset uint64) (c captured, ok bool) {
	select {
	case <-ctx.Done():
		return captured{}, false
	case <-s.started:
	}
	j.mu.Lock()
	p := s.publisher
	j.mu.Unlock()
	id, frames, err := p.Stored(ctx, offset)
	if err == nil {
		return captured{id, frames}, true
	}
	select {
	case <-s.ended: // a torn tail is never stored
		id, frames := p.Capture()
		return captured{id, frames}, true
	default:
		return captured{}, false
	}
}
