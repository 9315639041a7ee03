package holder

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/translate/stage"
)

// settleAtOnce is how many captures are waited for at the same time.
const settleAtOnce = 64

// drain waits until what the journals hold now is numbered, and says of what does not come through
// why. Its error is ctx's, or that the journals cannot be listed.
func (h *Holder) drain(ctx context.Context) (unstored []string, err error) {
	stored, unstored, err := h.journals.drained(ctx)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	stalled := map[string]bool{} // journals
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(settleAtOnce)
	for _, c := range stored {
		for id, frames := range c.captures {
			g.Go(func() error {
				err := h.settle(ctx, id, frames)
				if err == nil || errors.Is(err, ErrParked) {
					return nil
				}
				if !errors.Is(err, ErrStalled) {
					return err
				}
				mu.Lock()
				defer mu.Unlock()
				stalled[c.journal] = true
				unstored = append(unstored, oneLine(fmt.Errorf("capture %s of journal %s: %w", id, c.journal, err)))
				return nil
			})
		}
	}
	if err := g.Wait(); err != nil {
		return unstored, err
	}
	for _, c := range stored {
		if !stalled[c.journal] {
			h.journals.settled(c)
		}
	}
	return unstored, nil
}

// settle waits until a capture's frames are committed and numbered. The error wraps ErrParked or
// ErrStalled, or is ctx's.
func (h *Holder) settle(ctx context.Context, id schema.Identity, frame uint64) error {
	partition := id.Partition(h.info.Partitions)
	final := func(err error) bool {
		return errors.Is(err, ErrParked) || errors.Is(err, ErrStalled) || errors.Is(err, stage.ErrNotOwned)
	}
	err := h.pulse.patient(ctx, partition, final, func(ctx context.Context) error { return h.committed(ctx, id, frame) })
	if err != nil {
		return fmt.Errorf("translate it up to frame %d: %w", frame, err)
	}
	err = h.pulse.patient(ctx, partition, final, func(ctx context.Context) error { return h.numbered(ctx, id) })
	if err != nil {
		return fmt.Errorf("number it up to frame %d: %w", frame, err)
	}
	return nil
}

// committed waits for the stage.
func (h *Holder) committed(ctx context.Context, id schema.Identity, frame uint64) error {
	last, ok, err := topology.Last(ctx, h.js, topology.Raw, schema.RawSubject(id, h.info.Partitions))
	if err != nil {
		return err
	}
	if !ok { // it was stored, and is gone
		return fmt.Errorf("%w: %s holds no frame of it", ErrStalled, topology.Raw)
	}
	if f, err := schema.FrameFromHeader(last.Header, nil); err == nil && f.Seq < frame {
		return fmt.Errorf("%w: %s holds no frame of it after %d", ErrStalled, topology.Raw, f.Seq)
	}
	err = h.worker.Committed(ctx, id, frame)
	if errors.Is(err, stage.ErrParked) {
		return fmt.Errorf("%w: %w", ErrParked, err)
	}
	return err
}

// numbered waits for the ledger.
func (h *Holder) numbered(ctx context.Context, id schema.Identity) error {
	record, ok, err := topology.Last(ctx, h.js, topology.Events, schema.EventSubject(id, h.info.Partitions))
	if err != nil || !ok { // no durable event: nothing to number
		return err
	}
	if err := h.sink.Wait(ctx, id.Partition(h.info.Partitions), record.Seq); err != nil {
		return err
	}
	capture, err := h.ledger.Capture(ctx, id)
	if err != nil {
		return err
	}
	if p := capture.Parked; p != nil {
		return fmt.Errorf("%w: %s at ordinal %d of session %d", ErrParked, p.Reason, p.Ordinal, p.Session)
	}
	return nil
}

// oneLine is an error's text for a list.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
