package keeper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/archive"
)

// Dropper is a ledger that drops what is sealed; see sink.Ledger.
type Dropper interface {
	Drop(ctx context.Context, c sink.Claim, d sink.Dropped) (bool, error)
}

// maxPiece bounds the bytes of a piece's events, but for the last of them: the ledger compares them in one
// transaction.
const maxPiece = 4 << 20

// together is how long what is old enough waits at most for what will soon be: it goes in one piece then. A transcript
// that was said slowly would lie in thousands, each of which is looked for when it is read.
const together = 24 * time.Hour

// through is a ledger that reads what it has dropped in the archives that have it.
type through struct {
	Ledger
	dropped *archive.Dropped
}

// Events implements sink.Reader.
func (t through) Events(ctx context.Context, key schema.Transcript, after uint64, limit int) iter.Seq2[sink.Event, error] {
	return t.dropped.Through(ctx, t.Ledger, key, after, limit)
}

// droppedIn gives the archive that has what was dropped.
func (k *Keeper) droppedIn(ctx context.Context, d sink.Dropped) (archive.Store, error) {
	if k.o.Open == nil || d.Archive == k.o.Place {
		return k.o.Store, nil
	}
	return k.o.Open(ctx, d.Archive)
}

// dropping is one capture of which events are dropped.
type dropping struct {
	*Keeper
	claim  sink.Claim
	seal   *archive.Seal
	cutoff time.Time // what was said, or came to be here, later stays
	count  uint64    // dropped
	left   bool      // something that is sealed stays for now
	old    time.Time // when the first of what is too young is old enough; zero: nothing is
	soon   bool      // something else keeps it, which may soon be over
	fenced bool      // another owner has the partition by now
}

// drop drops what is sealed and old of a capture, and notes when to look again. One that is parked stays whole: its
// redrive is compared with what is there.
func (k *Keeper) drop(ctx context.Context, c *sink.CaptureInfo, n *known, now time.Time) error {
	id := c.Capture.Capture
	n.dropAgain = now.Add(max(k.o.Every, min(k.o.Drop/10, 10*time.Minute)))
	claim, ok := k.o.Claimed(id.Partition(k.info.Partitions))
	if !ok || c.Parked != nil {
		return nil
	}
	d := &dropping{Keeper: k, claim: claim, cutoff: now.Add(-k.o.Drop)}
	var err error
	if d.seal, err = k.archived.Last(ctx, id); err != nil || d.seal == nil {
		return err
	}
	err = d.sessions(ctx, c)
	if d.count > 0 {
		k.o.Log.Info().Stringer("capture", id).Uint64("events", d.count).Stringer("archive", k.o.Store).Msg("dropped from the ledger")
	}
	switch {
	case d.fenced:
	case err == nil && !d.left:
		n.dropped = d.seal.Last
	case err == nil && !d.soon && !d.old.IsZero():
		if then := d.old.Add(min(k.o.Drop/10, together)); then.After(n.dropAgain) {
			n.dropAgain = then
		}
	}
	return err
}

// sessions drops events of each session, until another owner is found to have the partition: that one drops.
func (d *dropping) sessions(ctx context.Context, c *sink.CaptureInfo) (err error) {
	for _, h := range d.seal.Sessions {
		for _, s := range c.Sessions {
			if s.Session != h.Session || s.Head == 0 {
				continue
			}
			key := schema.Transcript{Identity: c.Capture.Capture, Session: s.Session}
			failed := d.session(ctx, key, s.Dropped, min(h.Head, s.Head-1))
			if d.fenced = errors.Is(failed, sink.ErrFenced); d.fenced {
				return err
			}
			err = errors.Join(err, failed)
		}
	}
	return err
}

// session drops events of a transcript behind a number, up to another one, piece by piece, as the archive gives them:
// each part is held against its seal there, and each event by the ledger against what it has.
func (d *dropping) session(ctx context.Context, key schema.Transcript, after, upTo uint64) error {
	if after >= upTo {
		return nil
	}
	t, err := d.o.Ledger.Transcript(ctx, key)
	if err != nil {
		return err
	}
	if !d.isOld(t.AddedAt) { // imported, perhaps: what is in it may be older
		return nil
	}
	piece := d.piece(key, after+1)
	size := 0
	for e, err := range d.archived.Events(ctx, key, after) {
		if err != nil {
			return err
		}
		if e.Seq != piece.First+uint64(len(piece.Digests)/digestBytes) {
			return fmt.Errorf("%w: it does not have event %d of session %d", archive.ErrDiffers, after+1, key.Session)
		}
		var said struct {
			At time.Time `json:"emitted_at"`
		}
		if err := json.Unmarshal(e.Bytes, &said); err != nil {
			return fmt.Errorf("read event %d of %s: %w", e.Seq, key, err)
		}
		if e.Seq > upTo || !d.isOld(said.At) {
			break
		}
		piece.Last, after = e.Seq, e.Seq
		piece.Add(e.Bytes)
		if size += len(e.Bytes); size < maxPiece && e.Seq-piece.First+1 < sink.MaxDropped {
			continue
		}
		if more, err := d.put(ctx, &piece); err != nil || !more {
			return err
		}
		piece, size = d.piece(key, e.Seq+1), 0
	}
	if piece.Last == 0 {
		return nil
	}
	_, err = d.put(ctx, &piece)
	return err
}

// digestBytes is what a digest takes in a sink.Dropped.
const digestBytes = 32

func (d *dropping) piece(key schema.Transcript, first uint64) sink.Dropped {
	return sink.Dropped{Transcript: key, First: first, Archive: d.o.Place, Seal: d.seal.Last}
}

// put drops a piece; false: not now.
func (d *dropping) put(ctx context.Context, piece *sink.Dropped) (bool, error) {
	ok, err := d.o.Dropper.Drop(ctx, d.claim, *piece)
	if err == nil && ok {
		d.count += piece.Last - piece.First + 1
	}
	if !ok {
		d.left, d.soon = true, true
	}
	return ok, err
}

// isOld reports whether something is of long enough ago.
func (d *dropping) isOld(at time.Time) bool {
	if !at.After(d.cutoff) {
		return true
	}
	d.left = true
	if then := at.Add(d.o.Drop); d.old.IsZero() || then.Before(d.old) {
		d.old = then
	}
	return false
}
