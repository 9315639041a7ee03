package keeper

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink/archive"
)

// errOtherStreams: the connection was lost on the way, and the server may have come back with other streams.
var errOtherStreams = errors.New("the connection was lost since the frames were compared")

// returning is one capture of which something is given back.
type returning struct {
	*Keeper
	id       schema.Identity
	raw      string // its subjects
	events   string
	seal     *archive.Seal
	cutoff   time.Time // what was stored later stays
	number   uint64    // of the connection that all is read over
	unsaved  bool      // no snapshot stands at the seal or behind it
	free     bool      // nothing holds it, and these bound what may go:
	snapshot schema.Snapshot
	mark     topology.Mark
}

// giveBack gives back what may be given back of a capture, and notes when to look again.
func (k *Keeper) giveBack(ctx context.Context, id schema.Identity, n *known, now time.Time) error {
	n.again = now.Add(max(k.o.Every, min(k.o.Keep/10, 10*time.Minute)))
	r := &returning{
		Keeper: k, id: id, raw: schema.RawSubject(id, k.info.Partitions), events: schema.EventSubject(id, k.info.Partitions),
		cutoff: now.Add(-k.o.Keep), number: k.o.JS.Conn().Stats().Reconnects,
	}
	if err := r.putBackFirst(ctx); err != nil {
		return err
	}
	oldest, young, err := r.young(ctx)
	if err != nil {
		return err
	}
	if young {
		n.again = oldest.Add(k.o.Keep)
		return nil
	}
	if r.seal, err = k.archived.Last(ctx, id); err != nil || r.seal == nil {
		return err
	}
	frames, records, err := r.find(ctx)
	if r.unsaved {
		r.wake()
	}
	var is *heldError
	if n.held = nil; errors.As(err, &is) {
		n.held = is
		k.o.Log.Debug().Err(err).Stringer("capture", id).Msg("give back")
		return nil
	}
	if err != nil {
		return err
	}
	for _, part := range []struct {
		stream, subject string
		found
	}{{topology.Raw, r.raw, frames}, {topology.Events, r.events, records}} {
		if part.nothing() {
			continue
		}
		if err := topology.Purge(ctx, k.o.JS, part.stream, part.subject, part.before, func(last topology.Message) error {
			if last.Header.Get(schema.HeaderChain) != part.chain {
				return errOtherStreams
			}
			return r.same()
		}); err != nil {
			return err
		}
	}
	if err := r.tidied(ctx); err != nil {
		return err
	}
	if frames.left == 0 && records.left == 0 {
		n.clear = r.seal.Last // but for the last messages, which stay
	}
	if !frames.nothing() || !records.nothing() {
		k.o.Log.Info().Stringer("capture", id).Uint64("frames", frames.count).Uint64("records", records.count).
			Uint64("last_frame", frames.last).Msg("given back")
	}
	return nil
}

// same reports errOtherStreams if the connection was lost since the capture was begun with.
func (r *returning) same() error {
	if r.o.JS.Conn().Stats().Reconnects != r.number {
		return errOtherStreams
	}
	return nil
}

// tidied tidies the bucket where frames were given back, now or before.
func (r *returning) tidied(ctx context.Context) error {
	said, err := topology.ReadReturned(ctx, r.o.JS, r.id)
	if err != nil || said.Frame == 0 {
		return err
	}
	return r.tidy(ctx, r.id)
}

// putBackFirst puts back what a keeper that died on the way may have taken from the bucket, whatever holds the
// capture by now: it may be parked because of that.
func (r *returning) putBackFirst(ctx context.Context) error {
	said, err := topology.ReadReturned(ctx, r.o.JS, r.id)
	if err != nil || said.Frame == 0 {
		return err
	}
	return r.putBack(ctx, r.id)
}

// young reports whether even the first messages of both subjects are to stay, and when the older one was stored.
func (r *returning) young(ctx context.Context) (oldest time.Time, young bool, err error) {
	for stream, subject := range map[string]string{topology.Raw: r.raw, topology.Events: r.events} {
		first, ok, err := topology.First(ctx, r.o.JS, stream, subject)
		if err != nil {
			return time.Time{}, false, err
		}
		if ok && (oldest.IsZero() || first.Time.Before(oldest)) {
			oldest = first.Time
		}
	}
	return oldest, oldest.After(r.cutoff), nil
}

// found is what of a subject is to go: its messages before a stream sequence.
type found struct {
	count, before uint64
	chain         string            // of the last of them
	last          uint64            // number of the last frame
	writers       map[string]uint64 // as topology.Returned has them
	left          uint64            // messages that are sealed, and have to stay for now
}

func (f found) nothing() bool { return f.count == 0 }

// find finds what may go, and writes down what of it is frames.
func (r *returning) find(ctx context.Context) (frames, records found, err error) {
	if frames, err = r.frames(ctx); err != nil {
		return frames, records, err
	}
	if records, err = r.records(ctx); err != nil || frames.nothing() {
		return frames, records, err
	}
	if err = r.same(); err == nil {
		err = r.say(ctx, frames)
	}
	return frames, records, err
}

// frames finds the frames that may go, and compares each with what the archive has.
func (r *returning) frames(ctx context.Context) (found, error) {
	out := found{writers: map[string]uint64{}}
	first, ok, err := topology.First(ctx, r.o.JS, topology.Raw, r.raw)
	if err != nil || !ok {
		return out, err
	}
	last, ok, err := topology.Last(ctx, r.o.JS, topology.Raw, r.raw)
	if err != nil || !ok || last.Seq == first.Seq {
		return out, err
	}
	if err := r.look(ctx); err != nil {
		return out, err
	}
	var archived func() (schema.Frame, bool, error)
	stop := func() {}
	defer func() { stop() }()
	var line, sealed []byte
	for m, err := range topology.Read(ctx, r.o.JS, topology.Raw, r.raw, first.Seq) {
		if err != nil {
			return out, err
		}
		head, err := schema.FrameFromHeader(m.Header, nil)
		if err != nil {
			return out, fmt.Errorf("read frame of %s at sequence %d: %w", r.id, m.Seq, err)
		}
		if m.Seq == last.Seq || head.Seq > r.seal.Last {
			break
		}
		// The snapshot's own frame stays, so that whoever goes on from it can tell that it is of this capture.
		if head.Seq >= r.snapshot.Frame || m.Seq >= r.mark.Frame.Seq || m.Time.After(r.cutoff) {
			out.left++
			break
		}
		if out.count == 0 {
			if err := r.told(ctx, head.Seq); err != nil {
				return out, err
			}
			archived, stop = pull(r.archived.Frames(ctx, r.id, head.Seq))
		}
		f, _, err := r.blobs.Frame(ctx, m)
		if err != nil {
			return out, err
		}
		old, ok, err := archived()
		if err != nil {
			return out, err
		}
		if !ok {
			return out, fmt.Errorf("%w: it does not have frame %d", archive.ErrDiffers, f.Seq)
		}
		if line, err = wholeLine(line[:0], f); err == nil {
			sealed, err = wholeLine(sealed[:0], old)
		}
		if err != nil {
			return out, err
		}
		if string(line) != string(sealed) {
			return out, fmt.Errorf("%w: frame %d is another one on %s", archive.ErrDiffers, f.Seq, topology.Raw)
		}
		out.count, out.before, out.last, out.chain = out.count+1, m.Seq+1, f.Seq, f.Chain
		out.writers[f.Writer.Journal] = max(out.writers[f.Writer.Journal], f.Writer.Offset)
	}
	return out, nil
}

// told checks that of the frames before the first one that is there somebody has said that they were given
// back: else nobody knows any more how far their journals had come.
func (r *returning) told(ctx context.Context, first uint64) error {
	said, err := topology.ReadReturned(ctx, r.o.JS, r.id)
	if err == nil && said.Frame+1 < first {
		err = held("its frames up to %d are gone, and nothing says that they were given back", first-1)
	}
	return err
}

// say writes down what is given back, before any of it is.
func (r *returning) say(ctx context.Context, frames found) error {
	said, err := topology.ReadReturned(ctx, r.o.JS, r.id)
	if err != nil {
		return err
	}
	if said.Archive != "" && said.Archive != r.o.Place && said.Frame > r.seal.Last {
		return held("frames up to %d are in another archive, %s, and this one ends at %d", said.Frame, said.Archive, r.seal.Last)
	}
	now := topology.Returned{
		Frame: max(said.Frame, frames.last), Archive: r.o.Place, Writers: maps.Clone(said.Writers), Revision: said.Revision,
	}
	if now.Writers == nil {
		now.Writers = map[string]uint64{}
	}
	for journal, offset := range frames.writers {
		now.Writers[journal] = max(now.Writers[journal], offset)
	}
	if now.Frame == said.Frame && now.Archive == said.Archive && maps.Equal(now.Writers, said.Writers) {
		return nil // by a keeper that was killed then
	}
	return topology.WriteReturned(ctx, r.o.JS, r.id, now)
}
