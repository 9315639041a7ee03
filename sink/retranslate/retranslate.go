// Package retranslate tells what another translator version would make of frames whose events are stored.
package retranslate

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/verify"
)

// Ledger is where the stored events are; see sink.Reader.
type Ledger interface {
	Events(ctx context.Context, key schema.Transcript, after uint64, limit int) iter.Seq2[sink.Event, error]
}

// Options of a comparison. All but Differs are needed.
type Options struct {
	Ledger Ledger
	// Frames gives a capture's frames from the first one on, with their bytes.
	Frames func(ctx context.Context, id schema.Identity) iter.Seq2[schema.Frame, error]
	// Fold is the capture's fold by the other version.
	Fold verify.Fold
	// Differs is called with each difference, in the order of the frames; an error of it ends the comparison.
	// nil: they are only counted.
	Differs func(Difference) error
}

// Counts says how much of what was compared differs. An event that differs only in what follows from other
// differences, its number, its part and its id, and in source.translator, is the same.
type Counts struct {
	Frames  uint64 `json:"frames"`
	Events  uint64 `json:"events"` // stored
	Added   uint64 `json:"added"`
	Removed uint64 `json:"removed"`
	Changed uint64 `json:"changed"`
	Moved   uint64 `json:"moved"` // the same, under another number, part or id
}

// Add adds those of another capture.
func (c *Counts) Add(o Counts) {
	c.Frames, c.Events = c.Frames+o.Frames, c.Events+o.Events
	c.Added, c.Removed, c.Changed, c.Moved = c.Added+o.Added, c.Removed+o.Removed, c.Changed+o.Changed, c.Moved+o.Moved
}

// Differs reports whether anything does.
func (c Counts) Differs() bool { return c.Added+c.Removed+c.Changed > 0 }

// Compare holds what another version makes of a capture's frames against what is stored, up to the frame of
// the last event stored. Nothing is proved of what is stored: verify does that.
func Compare(ctx context.Context, info sink.CaptureInfo, o Options) (Counts, error) {
	c := &comparing{ctx: ctx, o: o, info: info, sessions: map[uint32]*session{}}
	for _, s := range info.Sessions {
		c.session(s.Session)
	}
	if err := c.run(); err != nil {
		return c.counts, fmt.Errorf("retranslate %s: %w", info.Capture.Capture, err)
	}
	return c.counts, nil
}

type comparing struct {
	ctx      context.Context //nolint:containedctx // of the call that it is made for
	o        Options
	info     sink.CaptureInfo
	sessions map[uint32]*session
	counts   Counts
}

// pageEvents is how many events of a session are read at a time.
const pageEvents = 128

// session is one whose stored events are read along.
type session struct {
	key   schema.Transcript
	page  []sink.Event
	read  uint64        // number of the last event in it
	ahead *schema.Event // read, and not compared yet
	given uint64        // events that the other version gave
}

// next reads the next stored event; nil behind the last.
func (s *session) next(ctx context.Context, l Ledger) (*schema.Event, error) {
	if len(s.page) == 0 {
		for e, err := range l.Events(ctx, s.key, s.read, pageEvents) {
			if err != nil {
				return nil, err
			}
			s.page, s.read = append(s.page, e), e.Seq
		}
	}
	if len(s.page) == 0 {
		return nil, nil
	}
	e := s.page[0]
	s.page = s.page[1:]
	event, err := schema.DecodeEvent(e.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read event %d of session %d: %w", e.Seq, s.key.Session, err)
	}
	return &event, nil
}

func (c *comparing) session(number uint32) *session {
	s := c.sessions[number]
	if s == nil {
		s = &session{key: schema.Transcript{Identity: c.info.Capture.Capture, Session: number}}
		c.sessions[number] = s
	}
	return s
}

func (c *comparing) run() error {
	last := c.info.Last.Frame
	if last == 0 {
		return nil
	}
	for f, err := range c.o.Frames(c.ctx, c.info.Capture.Capture) {
		if err != nil {
			return err
		}
		if want := c.counts.Frames + 1; f.Seq != want {
			return fmt.Errorf("frame %d is wanted, and frame %d is the next that is left", want, f.Seq)
		}
		events, err := c.o.Fold.Step(&f)
		if err != nil {
			return err
		}
		c.counts.Frames = f.Seq
		if err := c.frame(f.Seq, events); err != nil {
			return err
		}
		if f.Seq == last {
			return nil
		}
	}
	return fmt.Errorf("the frames end at %d, the events go to frame %d", c.counts.Frames, last)
}

// frame compares what a frame gives.
func (c *comparing) frame(number uint64, events []schema.Event) error {
	is := map[uint32][]version{}
	for i := range events {
		e := &events[i]
		if e.Ephemeral {
			continue
		}
		s := c.session(e.Session)
		s.given++
		e.StoreSeq = s.given
		v, err := newVersion(e.AppendJSON(nil))
		if err != nil {
			return err
		}
		is[e.Session] = append(is[e.Session], v)
	}
	for _, session := range slices.Sorted(maps.Keys(c.sessions)) {
		was, err := c.stored(session, number)
		if err != nil {
			return err
		}
		if err := c.compare(was, is[session]); err != nil {
			return err
		}
	}
	return nil
}

// stored gives a session's stored events of a frame.
func (c *comparing) stored(number uint32, frame uint64) (out []version, err error) {
	s := c.sessions[number]
	for {
		if s.ahead == nil {
			if s.ahead, err = s.next(c.ctx, c.o.Ledger); err != nil {
				return nil, err
			}
		}
		switch {
		case s.ahead == nil:
			return out, nil
		case s.ahead.WorkerSeq > frame:
			return out, nil
		case s.ahead.WorkerSeq < frame:
			return nil, fmt.Errorf("event %d of session %d stands behind its frame %d (steno verify finds what is wrong)", s.ahead.StoreSeq, number, s.ahead.WorkerSeq)
		}
		out = append(out, versionOf(*s.ahead))
		s.ahead = nil
		c.counts.Events++
	}
}

// compare aligns a session's events of one frame, and tells what differs.
func (c *comparing) compare(was, is []version) error {
	for _, p := range align(was, is) {
		d := Difference{}
		switch {
		case p.was == nil:
			c.counts.Added++
			d.Change, d.Is = Added, &p.is.event
		case p.is == nil:
			c.counts.Removed++
			d.Change, d.Was = Removed, &p.was.event
		case p.same():
			if p.was.event.Part != p.is.event.Part || p.was.event.StoreSeq != p.is.event.StoreSeq {
				c.counts.Moved++
			}
			continue
		default:
			c.counts.Changed++
			d.Change, d.Was, d.Is = Changed, &p.was.event, &p.is.event
			d.Fields = fields(p.was.text, p.is.text)
		}
		if c.o.Differs != nil {
			if err := c.o.Differs(d); err != nil {
				return err
			}
		}
	}
	return nil
}
