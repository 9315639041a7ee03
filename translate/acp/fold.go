package acp

import (
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// fold is the state of one connection.
type fold struct {
	id       schema.Identity
	stamp    translate.Stamp
	reader   jsontree.Reader
	dialect  string
	sessions []*session        // by ordinal; 0 is the connection
	ordinals map[string]uint32 // by the peer's session id
	requests map[requestKey]*request
	run      run      // lines that still join
	active   *session // the session named last
	agent    string
	labels   map[string]string
	status   schema.Status

	// The rest belongs to the frame being folded.
	frame  *schema.Frame
	seq    uint64
	here   []schema.Range // the frame itself, shared by its events
	flags  translate.FlagSet
	shared sharing
}

// sharing says what else is in the frame of an object: a frame that has a Raw of its own is not
// accounted for a second time by the message that its chunk belongs to.
type sharing int

const (
	alone    sharing = iota // nothing
	behind                  // noise before it, which has its Raw
	together                // other objects: each one has its Raw, chunks too
)

// Step implements translate.Fold.
func (x *fold) Step(dst []schema.Event, f *schema.Frame) []schema.Event {
	x.stamp.Begin(dst, f)
	x.frame, x.seq, x.here, x.flags, x.shared = f, f.Seq, []schema.Range{{f.Seq, f.Seq}}, 0, alone
	if x.status != schema.StatusOpen && f.Type != schema.TypeClose {
		x.status = schema.StatusOpen // a frame after the close reopens the capture
		x.reopened()
	}
	switch {
	case f.Type != schema.TypeData:
		x.control()
	case f.From == schema.FromStderr:
		x.join(sourceStderr)
	default:
		x.line()
	}
	x.frame = nil
	return x.stamp.Done()
}

// reopened marks what comes behind a close: the end was seen, and it was not the end.
func (x *fold) reopened() { x.flags |= translate.Of(schema.FlagLate) }

// End implements translate.Fold.
func (x *fold) End(dst []schema.Event) []schema.Event {
	if x.seq == 0 {
		return dst
	}
	x.stamp.Resume(dst)
	x.flags = 0
	x.endRun()
	x.finish()
	return x.stamp.Done()
}

// finish ends everything that is open: the capture is at its end.
func (x *fold) finish() {
	for _, s := range x.sessions {
		for _, l := range s.lanes() {
			x.closeStreams(s, l, schema.BoundaryEnd, translate.Of(schema.FlagPartial))
			x.interruptTools(s, l)
		}
	}
}

// emit gives an event made of the given frames.
func (x *fold) emit(s *session, kind schema.Kind, frames []schema.Range, flags translate.FlagSet) {
	x.stamp.Emit(s.ordinal, x.source(s), kind, false, frames, flags.List())
}

// emitHere gives an event made of the frame being folded.
func (x *fold) emitHere(s *session, kind schema.Kind, flags translate.FlagSet) {
	x.emit(s, kind, x.here, x.flags|flags)
}

func (x *fold) source(s *session) schema.Source {
	return schema.Source{Protocol: schema.ACP, Dialect: x.dialect, SessionID: s.id, Translator: Version}
}

// Open implements translate.Fold.
func (x *fold) Open() translate.Open {
	open := translate.Open{Frames: map[uint32]uint64{}}
	for _, s := range x.sessions {
		for _, l := range s.lanes() {
			for _, o := range l.open() {
				open.Frames[s.ordinal] += translate.CountFrames(o.Frames())
				if o.Role == schema.User {
					continue // not live
				}
				open.Messages = append(open.Messages, translate.OpenMessage{
					Session: s.ordinal, MessageID: o.ID, Role: o.Role, Channel: o.Channel, Text: o.Text(), Next: o.Next(),
				})
			}
			for _, t := range l.order {
				if !t.phase.Phase.Ended() {
					open.Tools = append(open.Tools, translate.OpenTool{Session: s.ordinal, State: *t.state()})
				}
			}
		}
	}
	if n := translate.CountFrames(x.run.frames); n > 0 {
		open.Frames[0] += n
	}
	return open
}
