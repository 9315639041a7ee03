package stage

import (
	"context"
	"errors"
	"fmt"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// footing is what a fold began from, by their sequences: the last record, and the snapshot that stood then,
// 0 if nobody looked for one.
type footing struct{ record, snapshot uint64 }

// isGap tells failures of a fold that misses frames, or their bytes.
func isGap(reason Reason) bool {
	return reason == ReasonSealed || reason == ReasonNumber || reason == ReasonBlob
}

// mayGoOn reports whether a fold that misses frames which were given back has something else to begin from by
// now: before they are, a snapshot stands behind them, which may be newer than what the fold began from. c.mu
// is held.
func (p *partition) mayGoOn(ctx context.Context, c *capture) (bool, error) {
	var now footing
	returned := false
	err := p.worker.retry(ctx, "look what "+c.id.String()+" can be folded from", func() error {
		r, err := topology.ReadReturned(ctx, p.worker.js, c.id)
		if returned = c.frame < r.Frame; err != nil || !returned {
			return err
		}
		record, _, err := topology.Last(ctx, p.worker.js, topology.Events, schema.EventSubject(c.id, p.worker.info.Partitions))
		if err != nil {
			return err
		}
		state, _, err := topology.Last(ctx, p.worker.js, topology.State, schema.StateSubject(c.id, p.worker.info.Partitions))
		now = footing{record.Seq, state.Seq}
		return err
	})
	if err != nil || !returned || now == c.began {
		return false, err
	}
	c.distrusts = c.distrusts && now.snapshot == c.began.snapshot // it was another one
	return true, nil
}

// fill folds the frames between the last one folded and a frame that is there, out of the archive that they
// were given back to. c.mu is held.
func (p *partition) fill(ctx context.Context, c *capture, next uint64) (*failure, error) {
	p.worker.log.Info().Stringer("capture", c.id).Uint64("frame", c.frame+1).Uint64("before", next).Msg("folding frames out of the archive")
	var bad *failure
	err := p.worker.retry(ctx, "read frames of "+c.id.String()+" out of the archive", func() error {
		for f, err := range p.worker.opts.Returned(ctx, c.id, c.frame+1, next-1) {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(err, topology.ErrAway):
				return err
			case err != nil:
				return p.notReturned(ctx, c, err, &bad)
			}
			c.notBefore = max(c.notBefore, next) // no snapshot is of a frame that stands nowhere
			// They are covered by records: an archive has nothing else.
			if _, bad = c.step(nil, &f, c.rawSeq); bad != nil {
				return nil
			}
			p.worker.counts.reread.Add(1)
		}
		return nil
	})
	return bad, err
}

// notReturned says of a capture whose frames no archive has that they are sealed away. Where nothing says that any
// were given back they are just missing, as the next frame will show. c.mu is held.
func (p *partition) notReturned(ctx context.Context, c *capture, why error, bad **failure) error {
	said, err := topology.ReadReturned(ctx, p.worker.js, c.id)
	if err == nil && said.Frame > c.frame {
		*bad = &failure{ReasonSealed, fmt.Errorf("fold %s: %w", c.id, why)}
	}
	return err
}

// sealedAway says of a capture that cannot be folded without its first frames what is to be done. c.mu is held.
func (p *partition) sealedAway(ctx context.Context, c *capture, bad *failure) (*failure, error) {
	var r topology.Returned
	err := p.worker.retry(ctx, "look what was given back of "+c.id.String(), func() (err error) {
		r, err = topology.ReadReturned(ctx, p.worker.js, c.id)
		return err
	})
	if err != nil {
		return nil, err
	}
	why := c.unused
	if why == nil {
		why = errors.New("there is none")
	}
	where := "nothing says where they are"
	if r.Frame > 0 {
		where = fmt.Sprintf("frames 1 to %d are in archive %s", r.Frame, r.Archive)
	}
	return &failure{bad.reason, fmt.Errorf("%w; %s, and the snapshot that stood for them cannot be used (%w): "+
		"what is numbered stays; give the translator the archive (--archive), then steno redrive folds the capture again", bad.err, where, why)}, nil
}
