package bench

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/steno-io/steno/console/replay"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/translate"
)

// replay folds one capture after the other and gives its events, the ephemeral ones too, as JSON without
// their pauses. The ceiling reads the same frames.
func (b *bench) replay(ctx context.Context) error {
	of, err := b.recording(schema.ACP)
	if err != nil {
		return err
	}
	_, all, err := b.events(of)
	if err != nil {
		return err
	}
	return withRig(ctx, everySecond, func(r *rig) error {
		b.Say("replay: storing a backlog")
		load, err := r.backlog(ctx, []Recording{of}, min(b.size.captures, 20), 0)
		if err != nil {
			return err
		}
		each := func(one func(context.Context, schema.Identity) error) measure {
			return func(ctx context.Context) (float64, error) {
				n := 0
				begin := time.Now()
				for n == 0 || time.Since(begin) < b.size.window {
					if err := one(ctx, load.captures[n%len(load.captures)]); err != nil {
						return 0, err
					}
					n++
				}
				return perSecond(n*all, begin), nil
			}
		}
		figure, ceiling, err := b.beside(ctx, "replay",
			each(func(ctx context.Context, id schema.Identity) error {
				n := 0
				var line []byte
				err := replay.Replay(ctx, b.typed(ctx, r, id), replay.Options{Clock: noWait{}}, func(e schema.Event) error {
					line = e.AppendJSON(line[:0])
					n++
					return nil
				})
				if err == nil && n != all {
					err = fmt.Errorf("replayed %d events of %d", n, all)
				}
				return err
			}),
			each(func(ctx context.Context, id schema.Identity) error {
				for _, err := range topology.Read(ctx, r.js, topology.Raw, schema.RawSubject(id, r.info.Partitions), 1) {
					if err != nil {
						return err
					}
				}
				return nil
			}))
		if err != nil {
			return err
		}
		return b.higher("replay", "events/s", figure, ceiling, 0)
	})
}

// typed gives all events of a capture, from its stored frames.
func (b *bench) typed(ctx context.Context, r *rig, id schema.Identity) iter.Seq2[schema.Event, error] {
	return func(yield func(schema.Event, error) bool) {
		capture := translate.NewCapture(id, b.Catalogue, "")
		var events []schema.Event
		for m, err := range topology.Read(ctx, r.js, topology.Raw, schema.RawSubject(id, r.info.Partitions), 1) {
			var f schema.Frame
			if err == nil {
				f, _, err = r.blobs.Frame(ctx, m)
			}
			if err == nil {
				events, err = capture.Step(events[:0], &f)
			}
			if err != nil {
				yield(schema.Event{}, err)
				return
			}
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// noWait is a clock on which everything is due.
type noWait struct{}

// Now implements replay.Clock.
func (noWait) Now() time.Time { return time.Time{} }

// WaitUntil implements replay.Clock.
func (noWait) WaitUntil(ctx context.Context, _ time.Time) error { return ctx.Err() }
