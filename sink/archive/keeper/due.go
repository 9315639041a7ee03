package keeper

import (
	"context"
	"time"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
)

// seal seals a capture if it is due.
func (k *Keeper) seal(ctx context.Context, c *sink.CaptureInfo, n *known, now time.Time) error {
	id := c.Capture.Capture
	if !n.looked {
		last, err := k.archived.Last(ctx, id)
		if err != nil {
			return err
		}
		if n.looked = true; last != nil {
			n.sealed = last.Last
		}
	}
	due, err := k.due(ctx, c, n, now)
	if err != nil || !due {
		return err
	}
	if err := k.reach(ctx, id, n.sealed+1); err != nil {
		return err
	}
	before := n.sealed
	n.looked = false // until it is known how it went
	seal, err := k.sealer.Seal(ctx, id)
	if err != nil {
		return err
	}
	n.looked = true
	if seal == nil || seal.Last == before {
		return nil
	}
	n.sealed, n.again = seal.Last, time.Time{}
	k.o.Log.Info().Stringer("capture", id).Uint64("frames", seal.Last-before).Uint64("last_frame", seal.Last).
		Stringer("root", seal.Root).Stringer("archive", k.o.Store).Msg("sealed")
	return nil
}

// reach looks, where frames that are to be sealed were given back already, whether the first of them is to be had:
// else a seal would be begun that nobody can complete.
func (k *Keeper) reach(ctx context.Context, id schema.Identity, first uint64) error {
	said, err := topology.ReadReturned(ctx, k.o.JS, id)
	if err != nil || said.Frame < first {
		return err
	}
	for _, err := range k.source.Frames(ctx, id, first) {
		return err
	}
	return nil
}

// due reports whether what is not sealed of a capture is to be sealed: it has ended, or it is much, or
// nothing came for long.
func (k *Keeper) due(ctx context.Context, c *sink.CaptureInfo, n *known, now time.Time) (bool, error) {
	if c.Last.Frame <= n.sealed {
		return false, nil
	}
	if c.Status == schema.StatusEnded || c.Status == schema.StatusAbandoned || c.Last.Frame-n.sealed >= k.o.Long {
		return true, nil
	}
	last, ok, err := topology.Last(ctx, k.o.JS, topology.Raw, schema.RawSubject(c.Capture.Capture, k.info.Partitions))
	return err == nil && (!ok || now.Sub(last.Time) >= k.o.Idle), err
}
