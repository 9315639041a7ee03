package stage

import (
	"context"
	"errors"
	"fmt"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/translate"
)

// errUnfit marks a snapshot that does not fit the streams.
var errUnfit = errors.New("snapshot does not fit")

// resume goes on from the capture's snapshot, if it has one that can be used: it is whole, of this build's
// form, of the translator of the last record, not ahead of that record, and of the frames that are
// stored. Whatever else it is, it is ignored, and the fold begins at frame 1. c.mu is held.
func (p *partition) resume(ctx context.Context, c *capture, last *seen) error {
	at, s, why, err := p.worker.lastSnapshot(ctx, c.id)
	c.standing, c.began.snapshot, c.unused = at, at.seq, why
	if err != nil || s == nil && why == nil {
		return err
	}
	var frame spot
	if why == nil {
		frame, why, err = p.fitting(ctx, c.id, s)
	}
	if err != nil {
		return err
	}
	if why == nil && !p.stands(frame, c.number) {
		return errOtherStreams
	}
	if why == nil {
		why = c.restore(p.worker.opts.Catalogue, s, last)
	}
	if why != nil {
		c.unused = why
		p.worker.counts.snapshotsIgnored.Add(1)
		p.worker.log.Debug().Err(why).Stringer("capture", c.id).Msg("snapshot ignored")
		return nil
	}
	p.worker.counts.snapshotsUsed.Add(1)
	return nil
}

// fitting looks for the snapshot's frame on STENO_RAW and gives where it stands, zero where it is purged. why
// says that another one is there, or none where one must be: the last frame of a capture is never purged.
func (p *partition) fitting(ctx context.Context, id schema.Identity, s *snapshot) (frame spot, why, err error) {
	if created := p.worker.info.Created[topology.Raw]; !s.Created.Equal(created) {
		return spot{}, fmt.Errorf("use snapshot of %s: it is of the %s made at %s, this one was made at %s: %w",
			id, topology.Raw, s.Created, created, errUnfit), nil
	}
	subject := schema.RawSubject(id, p.worker.info.Partitions)
	err = p.worker.retry(ctx, "read frame of a snapshot of "+id.String(), func() error {
		m, there, err := topology.At(ctx, p.worker.js, topology.Raw, s.StreamSeq)
		if err != nil {
			return err
		}
		switch {
		case !there:
			last, ok, err := topology.Last(ctx, p.worker.js, topology.Raw, subject)
			if err != nil {
				return err
			}
			if !ok || last.Seq < s.StreamSeq {
				why = fmt.Errorf("use snapshot of %s: the frames end at sequence %d, before its own at %d: %w", id, last.Seq, s.StreamSeq, errUnfit)
			}
		case m.Subject != subject || m.Header.Get(schema.HeaderChain) != s.Chain || m.Header.Get(schema.HeaderSeq) != fmt.Sprint(s.Frame):
			why = fmt.Errorf("use snapshot of %s: at sequence %d stands frame %s of %s, not its frame %d: %w",
				id, s.StreamSeq, m.Header.Get(schema.HeaderSeq), m.Subject, s.Frame, errUnfit)
		default:
			frame = spotOf(m)
		}
		return nil
	})
	return frame, why, err
}

// restore makes the fold from a snapshot. An error says why it is not to be used; then the capture is as
// it was.
func (c *capture) restore(catalogue *translate.Catalogue, s *snapshot, last *seen) error {
	unfit := func(format string, args ...any) error {
		return fmt.Errorf("use snapshot of frame %d of %s: %s: %w", s.Frame, c.id, fmt.Sprintf(format, args...), errUnfit)
	}
	end := schema.Origin{}
	if last != nil {
		end = last.rec.Last
		if last.rec.Translator != s.Translator {
			return unfit("it is by %q, the records are by %q", s.Translator, last.rec.Translator)
		}
	}
	switch order := s.Last.Compare(end); {
	case order > 0:
		return unfit("it has given %s, the last record ends at %s", s.Last, end)
	case order < 0 && s.Frame >= end.Frame:
		return unfit("it has given no more than %s, the last record ends at %s", s.Last, end)
	}
	state, err := readSaved(s.State)
	if err != nil {
		return unfit("%s", err)
	}
	var fold *translate.Capture
	if bad := c.guard(s.Frame, func() *failure {
		fold, err = translate.RestoreCapture(c.id, catalogue, state.fold)
		return nil
	}); bad != nil {
		err = bad
	}
	if err != nil {
		return unfit("%s", err)
	}
	if fold.Frame() != s.Frame || fold.Last() != s.Last || fold.Version() != s.Translator {
		return unfit("its state is of frame %d, event %s, translator %q", fold.Frame(), fold.Last(), fold.Version())
	}
	if last != nil {
		err := last.skip(s.Last, fold.Ordinal)
		if err == nil && s.Last == end {
			err = last.finish(s.LastChain)
		}
		if err != nil {
			last.next = 0
			return unfit("%s", err)
		}
		if s.Last == end {
			last = nil
		}
	}
	c.fold, c.frame, c.rawSeq, c.chain, c.lastChain = fold, s.Frame, s.StreamSeq, s.Chain, s.LastChain
	c.sessions, c.about, c.seen = state.sessions, state.about, last
	c.resumed, c.kept = true, s.Frame
	return nil
}

// distrust starts a capture again without the snapshot that it began from, after a failure which the
// snapshot may be the cause of. seq is the stream sequence of the frame that failed, 0 if none did. c.mu
// is held.
func (p *partition) distrust(ctx context.Context, c *capture, bad *failure, seq uint64) error {
	p.worker.log.Warn().Stringer("capture", c.id).Str("reason", string(bad.reason)).Str("error", firstLine(bad.err.Error())).
		Msg("a fold that began from a snapshot failed; it begins again without it")
	p.worker.counts.snapshotsDistrusted.Add(1)
	c.distrusts, c.failed = true, bad
	c.rawSeq = max(c.rawSeq, seq)
	if err := p.reload(ctx, c); err != nil {
		return err
	}
	c.failed = nil
	return nil
}
