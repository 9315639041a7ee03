package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

const (
	goalIngest     = 0.6 // of bare publishing
	ingestCaptures = 16
	// Messages of the bare loop that wait for their ack. Where each is fsynced their number changes
	// nothing but how long a window lasts.
	barePending       = 4096
	barePendingAlways = 256
)

// ingest appends the frames of 16 captures at once: a backlog, with all frames of a recording waiting,
// and as a journal that is followed gives them, some at a time. The ceiling is bare asynchronous
// publishing of the same messages, headers and all, made in advance, to as many subjects.
func (b *bench) ingest(ctx context.Context) error {
	of, err := b.recording(schema.ACP)
	if err != nil {
		return err
	}
	for _, shape := range []struct {
		sync    time.Duration
		waiting int
		name    string
	}{{everySecond, len(of.Frames), "a backlog"}, {everySecond, 20, "20 at a time"}, {0, len(of.Frames), "a backlog"}} {
		name := fmt.Sprintf("ingest, %s, sync %s", shape.name, syncName(shape.sync))
		b.Say("%s: starting", name)
		err := withRig(ctx, shape.sync, func(r *rig) error {
			round := 0
			figure, ceiling, err := b.beside(ctx, name,
				func(ctx context.Context) (float64, error) {
					round++
					return b.append(ctx, r, of, shape.waiting, round)
				},
				func(ctx context.Context) (float64, error) { return b.bare(ctx, r, of) })
			if err != nil {
				return err
			}
			return b.higher(name, "frames/s", figure, ceiling, goalIngest*ceiling)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) append(ctx context.Context, r *rig, of Recording, waiting, round int) (float64, error) {
	var stored atomic.Int64
	begin := time.Now()
	g, gctx := errgroup.WithContext(ctx)
	for n := range ingestCaptures {
		a, err := r.appender(identity(fmt.Sprintf("ingest-%d", round), n))
		if err != nil {
			return 0, err
		}
		g.Go(func() error {
			for behind := uint64(0); behind == 0 || time.Since(begin) < b.size.window; behind += uint64(len(of.Frames)) {
				for some := range slices.Chunk(frames(of, behind), waiting) {
					if err := a.Append(gctx, some); err != nil {
						return err
					}
					stored.Add(int64(len(some)))
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	rate := perSecond(int(stored.Load()), begin)
	_, err := r.purge(ctx, topology.Raw)
	return rate, err
}

func (b *bench) bare(ctx context.Context, r *rig, of Recording) (float64, error) {
	pending := barePending
	if r.sync == 0 {
		pending = barePendingAlways
	}
	js, err := jetstream.New(r.conn, jetstream.WithPublishAsyncMaxPending(pending))
	if err != nil {
		return 0, fmt.Errorf("open JetStream: %w", err)
	}
	var subjects []string
	for n := range ingestCaptures {
		subjects = append(subjects, schema.RawSubject(identity("bare", n), r.info.Partitions))
	}
	messages, err := messages(of)
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	n := 0
	for ; n < len(of.Frames) || time.Since(begin) < b.size.window; n++ {
		m := messages[n/len(subjects)%len(messages)]
		m.Subject, m.Reply = subjects[n%len(subjects)], ""
		if _, err := js.PublishMsgAsync(&m, jetstream.WithStallWait(time.Minute)); err != nil {
			return 0, fmt.Errorf("publish: %w", err)
		}
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-js.PublishAsyncComplete():
	}
	rate := perSecond(n, begin)
	state, err := r.purge(ctx, topology.Raw)
	if err == nil && state.Msgs != uint64(n) {
		err = fmt.Errorf("published %d messages, and the stream has %d", n, state.Msgs)
	}
	return rate, err
}

// messages are a recording's frames as they are stored.
func messages(of Recording) ([]nats.Msg, error) {
	all := frames(of, 0)
	out := make([]nats.Msg, len(all))
	chain := ""
	for i := range all {
		f := &all[i]
		f.Seq, f.Salt = uint64(i)+1, strings.Repeat("5a", 16)
		var err error
		if f.Chain, err = schema.ChainHash(chain, f); err != nil {
			return nil, err
		}
		chain = f.Chain
		out[i] = nats.Msg{Header: f.Header(), Data: f.Data}
	}
	return out, nil
}
