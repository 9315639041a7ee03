package verify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// tellEvery is how many frames pass between two calls of Progress.
const tellEvery = 4096

// proof is the proof of one capture.
type proof struct {
	result
	run      *run
	ctx      context.Context //nolint:containedctx // a proof lives for one call
	id       schema.Identity
	info     sink.CaptureInfo
	settled  uint64 // frames up to this one are numbered
	fold     *Fold
	sessions map[uint32]*session
	named    frameSet
	stopped  bool // the frames cannot be folded any further
	told     [2]uint64
}

func (r *run) capture(ctx context.Context, id schema.Identity) (result, error) {
	p := &proof{run: r, ctx: ctx, id: id, sessions: map[uint32]*session{}}
	p.heads.Capture = id.String()
	var err error
	p.info, err = r.o.Ledger.Capture(ctx, id)
	if err != nil && !errors.Is(err, sink.ErrNotFound) {
		return result{}, err
	}
	p.settled = p.info.Last.Frame
	if r.o.Settled != nil {
		p.settled = max(p.settled, r.o.Settled(id))
	}
	if p.info.Last.Frame > 0 {
		p.heads.Stored = p.info.Last.String()
	}
	for _, s := range p.info.Sessions {
		p.sessions[s.Session] = p.session(s.Session, s.Head)
	}
	if err := p.frames(); err != nil {
		return result{}, err
	}
	if err := p.end(); err != nil {
		return result{}, err
	}
	p.result.frames = p.heads.Raw
	for _, s := range p.sessions {
		if s.head > 0 || s.given > 0 {
			p.transcripts++
		}
	}
	r.tell(1, p.heads.Raw-p.told[0], p.events-p.told[1])
	return p.result, nil
}

func (p *proof) session(number uint32, head uint64) *session {
	return &session{proof: p, key: schema.Transcript{Identity: p.id, Session: number}, head: head}
}

func (p *proof) find(f Finding) { p.result.find(p.run.o.MaxFindings, f) }

// frames checks and folds the frames, up to the ledger's last event or, if more is settled, up
// to there; beyond that their numbers and chain are checked.
func (p *proof) frames() error {
	for batch, err := range readAhead(p.ctx, p.run.o.Frames.Frames(p.ctx, p.id)) {
		if err != nil {
			return err
		}
		for _, f := range batch {
			if !p.number(f.frame) {
				return nil
			}
			p.checkChain(f)
			if f.frame.Type == schema.TypeGap {
				p.heads.Gaps = append(p.heads.Gaps, f.frame.Seq)
			}
			if !p.stopped && f.frame.Seq <= p.settled {
				if err := p.step(f.frame); err != nil {
					return err
				}
			}
		}
		if frames := p.heads.Raw - p.told[0]; frames >= tellEvery {
			p.run.tell(0, frames, p.events-p.told[1])
			p.told = [2]uint64{p.heads.Raw, p.events}
		}
	}
	return nil
}

// number takes the next frame; a wrong number ends the proof of this capture, since nothing behind
// it is the capture's.
func (p *proof) number(f *schema.Frame) bool {
	want := p.heads.Raw + 1
	if f.Seq != want {
		p.find(Finding{Problem: Numbers, Frame: f.Seq, Detail: fmt.Sprintf("want frame %d, got frame %d", want, f.Seq)})
		p.stopped = true
		return false
	}
	p.heads.Raw = f.Seq
	return true
}

func (p *proof) checkChain(f checked) {
	if f.chainErr != nil {
		p.find(Finding{Problem: BrokenChain, Frame: f.frame.Seq, Detail: f.chainErr.Error()})
	}
	last := p.info.Last.Frame
	if f.frame.Seq == last && p.info.Chain != f.frame.Chain {
		p.find(Finding{Problem: BrokenChain, Frame: last, Detail: fmt.Sprintf("the ledger has chain %q of it, the frame says %q", p.info.Chain, f.frame.Chain)})
	}
}

func (p *proof) step(f *schema.Frame) error {
	if p.fold == nil {
		fold := p.run.o.NewFold(p.id, p.info.Translator)
		p.fold = &fold
	}
	events, err := p.fold.Step(f)
	if err != nil {
		p.find(Finding{Problem: Unfoldable, Frame: f.Seq, Detail: err.Error()})
		p.stopped = true
		return nil
	}
	p.heads.Folded = f.Seq
	for i := range events {
		if events[i].Ephemeral {
			continue
		}
		if err := p.event(&events[i]); err != nil {
			return err
		}
	}
	if f.Seq == p.info.Last.Frame {
		p.account()
	}
	return nil
}

func (p *proof) event(e *schema.Event) error {
	s := p.sessions[e.Session]
	if s == nil {
		s = p.session(e.Session, 0)
		p.sessions[e.Session] = s
	}
	if e.Origin().Compare(p.info.Last) > 0 {
		s.given++
		p.find(eventFinding(Missing, e, s.given, fmt.Sprintf("the ledger ends at %s", p.info.Last)))
		return nil
	}
	for _, r := range e.Frames {
		p.named.add(r)
	}
	return s.compare(e)
}

// account counts the frames up to the ledger's last event.
func (p *proof) account() {
	var open uint64
	for _, frames := range p.fold.Open() {
		open += frames
	}
	covered := p.info.Last.Frame
	p.open = open
	p.unaccounted = int64(covered) - int64(p.named.count(covered)) - int64(open)
	if p.unaccounted != 0 {
		first := p.named.firstUnnamed(covered)
		p.find(Finding{Problem: Unaccounted, Frame: first, Detail: fmt.Sprintf(
			"of %d frames events name %d and open messages hold %d; the first that no event names is %d",
			covered, p.named.count(covered), open, first)})
	}
}

// end checks what the ledger holds beyond what the frames gave.
func (p *proof) end() error {
	last := p.info.Last.Frame
	if p.heads.Raw < last && !p.stopped {
		p.find(Finding{Problem: Numbers, Frame: p.heads.Raw + 1, Detail: fmt.Sprintf("the frames end at %d, the ledger covers %d", p.heads.Raw, last)})
	}
	for _, number := range slices.Sorted(maps.Keys(p.sessions)) {
		if err := p.sessions[number].end(); err != nil {
			return err
		}
	}
	if k := p.info.Parked; k != nil {
		p.find(Finding{Problem: Parked, Frame: last, Session: k.Session, Seq: k.Ordinal, Detail: fmt.Sprintf(
			"%s at record %d: have %s, got %s", k.Reason, k.Seq, excerpt(k.Have, 0), excerpt(k.Got, 0))})
	}
	return nil
}
