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

// proof is the proof of one capture. A lane carries it on.
type proof struct {
	result
	run   *run
	left  uint64          // frames that are still to be read; the reader's
	lane  *lane           // the reader assigns it
	links links           // the lane's linking stage has them
	ctx   context.Context //nolint:containedctx // of the call that the proof is in

	id       schema.Identity
	info     sink.CaptureInfo
	settled  uint64 // frames up to this one are numbered
	fold     *Fold
	sessions map[uint32]*session
	named    frameSet
	stopped  bool // the frames cannot be folded any further
	told     [2]uint64
}

func (r *run) proof(info sink.CaptureInfo) *proof {
	p := &proof{run: r, id: info.Capture.Capture, info: info, links: links{info: info}, settled: info.Last.Frame}
	p.heads.Capture = p.id.String()
	if r.o.Leaves != nil {
		p.links.leaf = r.o.Leaves(p.id)
	}
	if r.o.Settled != nil {
		p.settled = max(p.settled, r.o.Settled(p.id))
	}
	if info.Last.Frame > 0 {
		p.heads.Stored = info.Last.String()
	}
	return p
}

// session gives a session of the capture, making one that the ledger has not.
func (p *proof) session(number uint32) *session {
	if p.sessions == nil {
		p.sessions = map[uint32]*session{}
		for _, s := range p.info.Sessions {
			p.sessions[s.Session] = &session{proof: p, key: schema.Transcript{Identity: p.id, Session: s.Session}, head: s.Head}
		}
	}
	s := p.sessions[number]
	if s == nil {
		s = &session{proof: p, key: schema.Transcript{Identity: p.id, Session: number}}
		p.sessions[number] = s
	}
	return s
}

func (p *proof) find(f Finding) { p.result.find(p.run.o.MaxFindings, f) }

// frame folds the next frame, up to the ledger's last event or, if more is settled, up to there.
func (p *proof) frame(f *schema.Frame, is linked) error {
	if !p.take(f, is) {
		return nil
	}
	if f.Type == schema.TypeGap {
		p.heads.Gaps = append(p.heads.Gaps, f.Seq)
	}
	if !p.stopped && p.unrepeated == nil && f.Seq <= p.settled {
		if err := p.step(f); err != nil {
			return err
		}
	}
	if frames := p.heads.Raw - p.told[0]; frames >= tellEvery {
		p.run.tell(0, frames, p.events-p.told[1])
		p.told = [2]uint64{p.heads.Raw, p.events}
	}
	return nil
}

// unreadable finds that the next frame is stored and cannot be had. Nothing behind it can be folded.
func (p *proof) unreadable(f *schema.Frame, is linked, why error) {
	if !p.take(f, is) {
		return
	}
	at := p.heads.Raw
	if f == nil {
		at++
	}
	p.find(Finding{Problem: Unreadable, Frame: at, Detail: why.Error()})
	p.stopped = true
}

// take takes what was found of the next frame, nil if not even its number can be told. false: it is not the
// capture's, and nothing behind it is.
func (p *proof) take(f *schema.Frame, is linked) bool {
	for _, found := range is.findings {
		p.find(found)
	}
	if is.foreign {
		p.stopped = true
		return false
	}
	if f != nil {
		p.heads.Raw = f.Seq
	}
	return true
}

func (p *proof) step(f *schema.Frame) error {
	if p.fold == nil {
		fold := p.run.o.NewFold(p.id, p.info.Translator)
		p.fold = &fold
	}
	events, err := p.fold.Step(f)
	if errors.Is(err, ErrVersion) {
		p.unrepeated = &Unrepeated{Capture: p.heads.Capture, Translator: p.info.Translator, Frames: p.info.Last.Frame}
		return nil
	}
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
		p.account(p.fold.Open())
	}
	return p.proved(f, events)
}

// proved tells of a frame whose events were all found, if nothing of the capture was found amiss.
func (p *proof) proved(f *schema.Frame, all []schema.Event) error {
	if p.run.o.Proved == nil || len(p.findings) > 0 || p.more > 0 || f.Seq > p.info.Last.Frame {
		return nil
	}
	durable := slices.DeleteFunc(slices.Clone(all), func(e schema.Event) bool { return e.Ephemeral })
	if len(durable) == 0 {
		return nil
	}
	return p.run.o.Proved(Proved{
		Capture: p.id, Translator: p.info.Translator, Frame: f, Events: durable, Open: p.fold.Open(), About: p.fold.About(f, durable),
	})
}

func (p *proof) event(e *schema.Event) error {
	s := p.session(e.Session)
	if e.Origin().Compare(p.info.Last) > 0 {
		s.given++
		p.find(eventFinding(Missing, e, s.given, fmt.Sprintf("what is stored ends at %s", p.info.Last)))
		return nil
	}
	p.name(e)
	return s.compare(e)
}

// name notes the frames that an event names, of those that were read: others may be so many that no memory
// holds a bit of each, and that they are missing is found otherwise.
func (p *proof) name(e *schema.Event) {
	for _, r := range e.Frames {
		if r[1] = min(r[1], p.heads.Raw); r[0] <= r[1] {
			p.named.add(r)
		}
	}
}

// account counts the frames up to the ledger's last event; in open messages are so many of each session.
func (p *proof) account(inOpen map[uint32]uint64) {
	var open uint64
	for _, frames := range inOpen {
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

// end checks what the ledger holds beyond what the frames gave, and lets go of all but the result.
func (p *proof) end() error {
	last := p.info.Last.Frame
	if p.heads.Raw < last && !p.stopped {
		p.find(Finding{Problem: Numbers, Frame: p.heads.Raw + 1, Detail: fmt.Sprintf("the frames end at %d, the events go up to frame %d: of those behind nobody can tell whether they follow", p.heads.Raw, last)})
	}
	p.session(0) // makes those that the ledger has
	for _, number := range slices.Sorted(maps.Keys(p.sessions)) {
		s := p.sessions[number]
		end := s.end
		if p.unrepeated != nil {
			end = s.readStored
		}
		if err := end(); err != nil {
			return err
		}
		s.letGo()
		if s.head > 0 || s.given > 0 {
			p.transcripts++
		}
	}
	if p.unrepeated != nil {
		p.unrepeated.Behind = p.heads.Raw - min(p.heads.Raw, last)
	}
	if p.unrepeated != nil && !p.unrepeated.odd && !p.stopped && p.heads.Raw >= last { // else frames are missing, as was found
		p.account(p.info.Open)
	}
	if k := p.info.Parked; k != nil {
		p.find(Finding{Problem: Parked, Frame: last, Session: k.Session, Seq: k.Ordinal, Detail: fmt.Sprintf(
			"%s at record %d: have %s, got %s", k.Reason, k.Seq, excerpt(k.Have, 0), excerpt(k.Got, 0))})
	}
	p.result.frames = p.heads.Raw
	p.run.tell(1, p.heads.Raw-p.told[0], p.events-p.told[1])
	p.fold, p.links, p.sessions, p.named, p.info = nil, links{}, nil, frameSet{}, sink.CaptureInfo{}
	return nil
}
