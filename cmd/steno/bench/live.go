package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/steno-io/steno/console/follow"
	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/sqlite"
	"github.com/steno-io/steno/translate/stage"
)

// Goals of a delta's way, in milliseconds.
const (
	goalHalf    = 1
	goalSlowest = 5
)

// live says frames in many captures, each into its journal, and takes the time until its delta is at a
// console that follows the capture through a connection of its own. Beside it, in turn, messages of the
// same bytes hop over the server at the same rate: figures are what the pipeline takes beyond that.
func (b *bench) live(ctx context.Context) error {
	of, err := b.recording(schema.ACP)
	if err != nil {
		return err
	}
	load, err := b.chunksOf(of)
	if err != nil {
		return err
	}
	head, tail, err := template(load.chunks)
	if err != nil {
		return err
	}
	for _, sync := range []time.Duration{everySecond, 0} {
		name := "live, sync " + syncName(sync)
		err := withRig(ctx, sync, func(r *rig) error {
			b.Say("%s: starting", name)
			return b.consoles(ctx, r, load, func(ctx context.Context, say func(n int, line []byte) error, clock *clock) error {
				return b.hops(ctx, r, name, clock, func(n int) error {
					return say(n%b.size.open, fmt.Appendf(nil, "%s%s%09d %s", head, mark, n, tail))
				})
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// mark stands before a frame's number in its text.
const mark = "#"

// template cuts a chunk's line where its text stands.
func template(chunks []schema.Frame) (head, tail []byte, err error) {
	open := []byte(`"text":"`)
	for _, f := range chunks {
		head, rest, ok := bytes.Cut(f.Data, open)
		_, tail, closed := bytes.Cut(rest, []byte(`"`))
		if ok && closed && !bytes.Contains(rest, []byte(`\`)) {
			return append(bytes.Clone(head), open...), append([]byte(`"`), tail...), nil
		}
	}
	return nil, nil, errors.New("no chunk with a plain text")
}

// clock knows when each number was said and how long it took to arrive.
type clock struct {
	copies int // in which each number arrives; 0: one

	mu    sync.Mutex
	said  []time.Time
	first int       // number of the window
	took  []float64 // milliseconds, of the window's
}

// say gives the next number.
func (c *clock) say() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said = append(c.said, time.Now())
	return len(c.said) - 1
}

// heard takes the time of a number.
func (c *clock) heard(number string) {
	now := time.Now()
	n, err := strconv.Atoi(number)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && n >= c.first && n < len(c.said) {
		c.took = append(c.took, float64(now.Sub(c.said[n]))/float64(time.Millisecond))
	}
}

// window says so many numbers at their times, and gives what each took. One that has not arrived a while
// after is given as long as that: a console that fell behind has been given a snapshot instead.
func (c *clock) window(ctx context.Context, numbers int, every time.Duration, say func(n int) error) ([]float64, error) {
	c.mu.Lock()
	c.first, c.took = len(c.said), nil
	c.mu.Unlock()
	copies := numbers * max(c.copies, 1)
	begin := time.Now()
	for i := range numbers {
		if wait := time.Until(begin.Add(time.Duration(i) * every)); wait > 0 {
			if err := pause(ctx, wait); err != nil {
				return nil, err
			}
		}
		if err := say(c.say()); err != nil {
			return nil, err
		}
	}
	for late := time.Now(); time.Since(late) < arrival; {
		c.mu.Lock()
		took := c.took
		c.mu.Unlock()
		if len(took) >= copies {
			return took, nil
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	took := slices.Clone(c.took)
	if len(took) == 0 {
		return nil, fmt.Errorf("none of %d frames had arrived %s after the last one", numbers, arrival)
	}
	for len(took) < copies {
		took = append(took, float64(arrival)/float64(time.Millisecond))
	}
	return took, nil
}

// arrival is how long the last frames of a window may take.
const arrival = 3 * time.Second

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// hops measures the pipeline beside hops over the server.
func (b *bench) hops(ctx context.Context, r *rig, name string, c *clock, say func(n int) error) error {
	conn, err := r.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	bare := &clock{}
	if _, err := conn.Subscribe("bench.hop", func(m *nats.Msg) {
		_, number, _ := bytes.Cut(m.Data, []byte(mark))
		bare.heard(string(number[:min(len(number), 9)]))
	}); err != nil {
		return fmt.Errorf("subscribe: %w", err)
	}
	if err := conn.Flush(); err != nil {
		return fmt.Errorf("subscribe: %w", err)
	}
	payload := make([]byte, 400) // as a delta's
	return b.windows(ctx, name, b.size.every, [2]float64{goalHalf, goalSlowest}, c, bare, say, func(n int) error {
		return r.conn.Publish("bench.hop", append(fmt.Appendf(nil, "%s%09d", mark, n), payload...))
	})
}

// windows measures windows of the pipeline and of bare hops, in turn, and gives the rows, with their goals.
func (b *bench) windows(ctx context.Context, name string, every time.Duration, goals [2]float64, c, bare *clock,
	say, hop func(n int) error) error {
	numbers := max(int(2*b.size.window/every), 10)
	parts := []struct {
		name      string
		part      float64
		goal      float64
		way, hops []float64
	}{{name: "p50", part: 0.5, goal: goals[0]}, {name: "p99", part: 0.99, goal: goals[1]}}
	if _, err := c.window(ctx, numbers, every, say); err != nil { // until all are live: not measured
		return err
	}
	for i := range b.size.windows {
		b.Say("%s: window %d of %d", name, i+1, b.size.windows)
		way, err := c.window(ctx, numbers, every, say)
		if err != nil {
			return err
		}
		hops, err := bare.window(ctx, numbers, every, hop)
		if err != nil {
			return err
		}
		for j := range parts {
			p := &parts[j]
			p.way, p.hops = append(p.way, quantile(way, p.part)), append(p.hops, quantile(hops, p.part))
		}
	}
	for _, p := range parts {
		hop := median(p.hops)
		if err := b.lower(name+", "+p.name+" beyond a hop", "ms", median(p.way)-hop, hop, p.goal); err != nil {
			return err
		}
	}
	return nil
}

// consoles runs the pipeline of a data directory with captures that have said what stands before their
// text, each followed by a console. say says a line in one of them; clock hears what comes to a console.
func (b *bench) consoles(ctx context.Context, r *rig, load chunks,
	do func(ctx context.Context, say func(n int, line []byte) error, c *clock) error) (err error) {
	l, err := sqlite.Open(filepath.Join(r.dir, "ledger.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	w, err := stage.New(stage.Options{JS: r.js, Catalogue: b.Catalogue})
	if err != nil {
		return err
	}
	conn, err := r.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	running, stop := context.WithCancel(ctx)
	defer stop()
	g, running := errgroup.WithContext(running)
	g.Go(func() error { return w.Run(running) })
	g.Go(func() error {
		return sink.New(sink.Options{JS: r.js, Ledger: l}).Run(running)
	})
	watch := journal.NewWatch(filepath.Join(r.dir, "journals"))
	var writers []*journal.Writer
	defer func() {
		for _, w := range writers {
			err = errors.Join(err, w.Close())
		}
	}()
	c := &clock{}
	for n := range b.size.open {
		var w *journal.Writer
		if w, err = b.console(running, g, r, watch, conn, l, c, n, load); err != nil {
			break
		}
		writers = append(writers, w)
	}
	if err == nil {
		g.Go(func() error { return watch.Run(running) })
		err = pause(running, settle)
	}
	if err == nil {
		err = do(running, func(n int, line []byte) error {
			return writers[n].Append(running, schema.FromAgent, time.Now(), append(line, '\n'))
		}, c)
	}
	failed := running.Err() != nil && ctx.Err() == nil // by one of the group
	stop()
	if ended := g.Wait(); failed || err == nil && !errors.Is(ended, context.Canceled) {
		err = ended
	}
	return err
}

// settle is the time after which consoles that were just started show what there is.
const settle = 2 * time.Second

// console starts one capture: its journal, publisher and console.
func (b *bench) console(ctx context.Context, g *errgroup.Group, r *rig, watch *journal.Watch, conn *nats.Conn, l sink.Reader, c *clock, n int,
	load chunks) (*journal.Writer, error) {
	id := identity("live", n)
	w, err := journal.Create(journal.Options{Dir: filepath.Join(r.dir, "journals"), Head: journal.Head{
		Identity: id, Open: schema.OpenInfo{Protocol: schema.ACP, Tap: "bench"},
	}})
	if err != nil {
		return nil, err
	}
	reader, err := watch.Open(w.Path())
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	for i := range load.before {
		f := &load.before[i]
		if f.Type != schema.TypeData {
			continue
		}
		if err := w.Append(ctx, f.From, time.Now(), append(bytes.Clone(f.Data), '\n')); err != nil {
			return nil, errors.Join(err, reader.Close(), w.Close())
		}
	}
	follower, err := follow.New(follow.Options{
		Conn: conn, Reader: l, Partitions: r.info.Partitions, Transcript: schema.Transcript{Identity: id, Session: load.session},
	})
	if err != nil {
		return nil, errors.Join(err, reader.Close(), w.Close())
	}
	g.Go(func() error { return w.Run(ctx) })
	g.Go(func() error {
		return errors.Join(publish.NewPublisher(publish.Options{
			Source: reader, JS: r.js, Blobs: r.blobs, Partitions: r.info.Partitions, BatchFrom: publish.BatchFrom(r.info.Replicas, r.sync == 0),
		}).Run(ctx), reader.Close())
	})
	g.Go(func() error {
		return follower.Run(ctx, func(item follow.Item) error {
			if d, ok := item.(*follow.Delta); ok {
				if _, number, ok := bytes.Cut([]byte(d.Text), []byte(mark)); ok {
					c.heard(string(number[:min(len(number), 9)]))
				}
			}
			return nil
		})
	})
	return w, nil
}
