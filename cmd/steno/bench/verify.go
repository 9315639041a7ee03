package bench

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
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

// The load of verify: so many captures for each of size.captures, and how many frames of each are stored
// before others' are.
const (
	verifyCaptures = 4
	verifyWaiting  = 20
)

// verify proves a ledger in SQLite by the frames of the stream: all recordings, each as often as the
// others, stored side by side as captures that go on at the same time are. The ceiling reads the same
// frames and events, each once, and hashes their bytes. The rate is that of the durable events, and that
// of the frames stands beside it: how many frames there are to an event depends on the recording.
func (b *bench) verify(ctx context.Context) error {
	return b.recorded(ctx, "verify", b.Recordings, verifyCaptures*b.size.captures, verifyWaiting, func(r *rig, load *backlog) (err error) {
		l, err := sqlite.Open(filepath.Join(r.dir, "ledger.db"), sqlite.Options{})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, l.Close()) }()
		total, err := b.durable(load)
		if err != nil {
			return err
		}
		if _, _, err := store(ctx, r, l, total); err != nil {
			return err
		}
		figure, ceiling, err := b.beside(ctx, "verify",
			func(ctx context.Context) (float64, error) { return b.prove(ctx, r, l, total) },
			func(ctx context.Context) (float64, error) { return b.hash(ctx, r, l, load.frames(), total) })
		if err != nil {
			return err
		}
		frames := float64(load.frames()) / float64(total)
		return errors.Join(
			b.higher("verify", "events/s", figure, ceiling, goalVerify),
			b.higher("verify, by frames", "frames/s", figure*frames, ceiling*frames, 0),
			b.verifyArchive(ctx, r, l, load))
	})
}

// prove verifies the ledger as often as a window takes.
func (b *bench) prove(ctx context.Context, r *rig, l *sqlite.Ledger, total int) (float64, error) {
	n := 0
	begin := time.Now()
	for n == 0 || time.Since(begin) < b.size.window {
		report, err := verify.Run(ctx, verify.Options{
			Frames: verify.Stream{JS: r.js, Blobs: r.blobs, Partitions: r.info.Partitions}, Ledger: l,
			NewFold: b.newFold,
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

// newFold starts the fold of a capture, for a proof.
func (b *bench) newFold(id schema.Identity, version string) verify.Fold {
	capture := translate.NewCapture(id, b.Catalogue, version)
	capture.Quiet()
	var events []schema.Event
	return verify.Fold{
		Step: func(f *schema.Frame) ([]schema.Event, error) {
			var err error
			events, err = capture.Step(events[:0], f)
			return events, err
		},
		Open: func() map[uint32]uint64 { return capture.Open().Frames },
	}
}

// hash reads what verify reads, the frames beside the events.
func (b *bench) hash(ctx context.Context, r *rig, l sink.Reader, frames, events int) (float64, error) {
	n := 0
	begin := time.Now()
	for n == 0 || time.Since(begin) < b.size.window {
		g, gctx := errgroup.WithContext(ctx)
		g.Go(func() error {
			sum, read := sha256.New(), 0
			for m, err := range topology.Read(gctx, r.js, topology.Raw, schema.RawSubjects, 1) {
				if err != nil {
					return err
				}
				sum.Write(m.Data)
				read++
			}
			if read != frames {
				return fmt.Errorf("read %d frames of %d", read, frames)
			}
			return nil
		})
		g.Go(func() error {
			sum, read := sha256.New(), 0
			for t, err := range sink.All(gctx, l) {
				if err != nil {
					return err
				}
				for e, err := range l.Events(gctx, t.Transcript, 0, 0) {
					if err != nil {
						return err
					}
					sum.Write(e.Bytes)
					read++
				}
			}
			if read != events {
				return fmt.Errorf("read %d events of %d", read, events)
			}
			return nil
		})
		if err := g.Wait(); err != nil {
			return 0, err
		}
		n += events
	}
	return perSecond(n, begin), nil
}
