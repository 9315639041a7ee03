package bench

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/sqlite"
	"github.com/steno-io/steno/sink/verify"
	"github.com/steno-io/steno/translate"
)

const goalVerify = 200_000

// verify proves a ledger in SQLite by the frames of the stream. The ceiling reads the same frames and
// events, as many captures at a time, and hashes their bytes.
func (b *bench) verify(ctx context.Context) error {
	return b.recorded(ctx, "verify", func(r *rig, ids []schema.Identity) (err error) {
		of, err := b.recording(schema.ACP)
		if err != nil {
			return err
		}
		durable, _, err := b.events(of)
		if err != nil {
			return err
		}
		l, err := sqlite.Open(filepath.Join(r.dir, "ledger.db"), sqlite.Options{})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, l.Close()) }()
		total := durable * len(ids)
		if _, _, err := store(ctx, r, l, total); err != nil {
			return err
		}
		figure, ceiling, err := b.beside(ctx, "verify",
			func(ctx context.Context) (float64, error) { return b.prove(ctx, r, l, total) },
			func(ctx context.Context) (float64, error) { return b.hash(ctx, r, l, ids, total) })
		if err != nil {
			return err
		}
		return b.higher("verify", "events/s", figure, ceiling, goalVerify)
	})
}

// prove verifies the ledger as often as a window takes.
func (b *bench) prove(ctx context.Context, r *rig, l *sqlite.Ledger, total int) (float64, error) {
	n := 0
	begin := time.Now()
	for n == 0 || time.Since(begin) < b.size.window {
		report, err := verify.Run(ctx, verify.Options{
			Frames: verify.Stream{JS: r.js, Blobs: r.blobs, Partitions: r.info.Partitions}, Ledger: l,
			NewFold: func(id schema.Identity, version string) verify.Fold {
				capture := translate.NewCapture(id, b.Catalogue, version)
				var events []schema.Event
				return verify.Fold{
					Step: func(f *schema.Frame) ([]schema.Event, error) {
						var err error
						events, err = capture.Step(events[:0], f)
						return events, err
					},
					Open: func() map[uint32]uint64 { return capture.Open().Frames },
				}
			},
		})
		if err == nil && (len(report.Findings) > 0 || report.Events != uint64(total)) {
			err = fmt.Errorf("%d events of %d agree, and there are %d findings", report.Events, total, len(report.Findings))
		}
		if err != nil {
			return 0, err
		}
		n += total
	}
	return perSecond(n, begin), nil
}

// hash reads what verify reads.
func (b *bench) hash(ctx context.Context, r *rig, l sink.Reader, ids []schema.Identity, total int) (float64, error) {
	sessions := map[schema.Identity][]schema.Transcript{}
	for t, err := range sink.All(ctx, l) {
		if err != nil {
			return 0, err
		}
		sessions[t.Transcript.Identity] = append(sessions[t.Transcript.Identity], t.Transcript)
	}
	n := 0
	begin := time.Now()
	for n == 0 || time.Since(begin) < b.size.window {
		var events atomic.Int64
		g, gctx := errgroup.WithContext(ctx)
		g.SetLimit(runtime.GOMAXPROCS(0))
		for _, id := range ids {
			g.Go(func() error {
				sum := sha256.New()
				for m, err := range topology.Read(gctx, r.js, topology.Raw, schema.RawSubject(id, r.info.Partitions), 1) {
					if err != nil {
						return err
					}
					sum.Write(m.Data)
				}
				for _, t := range sessions[id] {
					for e, err := range l.Events(gctx, t, 0, 0) {
						if err != nil {
							return err
						}
						sum.Write(e.Bytes)
						events.Add(1)
					}
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			return 0, err
		}
		if events.Load() != int64(total) {
			return 0, fmt.Errorf("read %d events of %d", events.Load(), total)
		}
		n += total
	}
	return perSecond(n, begin), nil
}
