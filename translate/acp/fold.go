package acp

import (
	"time"

	"github.com/google/uuid"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// fold is the state of one connection.
type fold struct {
	id       schema.Identity `state:"-"`
	version  string          `state:"-"` // of the translator
	first    bool            `state:"-"` // that is FirstVersion
	stamp    translate.Stamp
	reader   jsontree.Reader `state:"-"`
	dialect  string
	sessions []*session        // by ordinal; 0 is the connection
	ordinals map[string]uint32 // by the peer's session id
	requests map[requestKey]*request
	elicited map[string]*session // by the id of a question that ends with a notification
	run      run                 // lines that still join
	active   *session            // the session named last
	agent    string
	labels   map[string]string
	policy   string // that answers permission requests; empty: the client does
	status   schema.Status
	closed   bool // a close frame was seen
	// shared are the frames that hold more than one object, or text beside one, and whether an event
	// names them yet: such a frame may belong to several open messages, and counts once.
	shared map[uint64]bool

	// The rest belongs to the frame being folded.
	frame *schema.Frame `state:"-"`
	seq   uint64
	at    time.Time
	here  []schema.Range    // the frame itself, kept by its events
	base  translate.FlagSet // flags of all that is on the line
	flags translate.FlagSet // and of the object being folded
	made  int               // messages that were given an id made of this frame
}

// Quiet implements translate.Quieter.
func (x *fold) Quiet() { x.stamp.Quiet() }

// Step implements translate.Fold.
func (x *fold) Step(dst []schema.Event, f *schema.Frame) []schema.Event {
	x.stamp.Begin(dst, f)
	x.frame, x.seq, x.at = f, f.Seq, f.At
	x.here, x.base, x.made = []schema.Range{{f.Seq, f.Seq}}, 0, 0
	if x.closed && f.Type != schema.TypeClose { // the end was seen, and it was not the end
		if f.Type != schema.TypeIntervention { // steno's own word of what did not reach the agent may come behind its end
			x.status = schema.StatusOpen
		}
		x.base = translate.Of(schema.FlagLate)
	}
	x.flags = x.base
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

// End implements translate.Fold.
func (x *fold) End(dst []schema.Event) []schema.Event {
	if x.seq == 0 {
		return dst
	}
	x.stamp.Resume(dst)
	x.base, x.flags = 0, 0
	x.endRun()
	x.finish()
	return x.stamp.Done()
}

// finish ends everything that is open: the capture is at its end.
func (x *fold) finish() {
	for _, s := range x.sessions {
		for _, l := range s.lanes() {
			x.closeStreams(s, l, schema.BoundaryEnd, translate.Of(schema.FlagPartial))
			x.interruptTools(s, l, nil)
		}
	}
}

// share marks the frame being folded as one that several events may name.
func (x *fold) share() {
	if x.shared == nil {
		x.shared = map[uint64]bool{}
	}
	x.shared[x.seq] = false
}

// emit gives an event made of the given frames.
func (x *fold) emit(s *session, kind schema.Kind, frames []schema.Range, flags translate.FlagSet) {
	if len(x.shared) > 0 {
		x.name(frames)
	}
	x.give(s, kind, false, frames, flags)
}

// give stamps an event with its session, and with the subagent whose session that is.
func (x *fold) give(s *session, kind schema.Kind, ephemeral bool, frames []schema.Range, flags translate.FlagSet) {
	if s.agent != uuid.Nil {
		x.stamp.As(s.agent, roleSubagent)
	}
	x.stamp.Emit(s.ordinal, x.source(s), kind, ephemeral, frames, flags.List())
	if s.agent != uuid.Nil {
		x.stamp.As(uuid.Nil, roleAgent)
	}
}

// name notes that the shared ones of these frames have an event.
func (x *fold) name(frames []schema.Range) {
	for _, r := range frames {
		for n := r[0]; n <= r[1]; n++ {
			if named, ok := x.shared[n]; ok && !named {
				x.shared[n] = true
			}
		}
	}
}

// emitHere gives an event made of the frame being folded. Whatever comes for a session while its
// history is replayed says so.
func (x *fold) emitHere(s *session, kind schema.Kind, flags translate.FlagSet) {
	if s.replay != nil {
		flags |= s.replay.flags
	}
	x.emit(s, kind, x.here, x.flags|flags)
}

func (x *fold) source(s *session) schema.Source {
	return schema.Source{Protocol: schema.ACP, Dialect: x.dialect, SessionID: s.id, Translator: x.version}
}

// Open implements translate.Fold.
func (x *fold) Open() translate.Open {
	open := translate.Open{Frames: map[uint32]uint64{}}
	counted := map[uint64]bool{} // shared frames
	for _, s := range x.sessions {
		for _, l := range s.lanes() {
			for _, o := range l.open() {
				if n := x.unnamed(o.Frames(), counted); n > 0 {
					open.Frames[s.ordinal] += n
				}
				if o.Role == schema.User {
					continue // not live
				}
				open.Messages = append(open.Messages, translate.OpenMessage{
					Session: s.ordinal, MessageID: o.ID, Role: o.Role, Channel: o.Channel, Text: o.Text(), Next: o.Next(),
				})
			}
			for _, g := range l.gathered {
				if n := x.unnamed(g.frames, counted); n > 0 {
					open.Frames[s.ordinal] += n
				}
			}
			for _, t := range l.order {
				if !t.phase.Phase.Ended() {
					open.Tools = append(open.Tools, translate.OpenTool{Session: s.ordinal, State: *t.state(t.shownAt)})
				}
			}
		}
	}
	if n := translate.CountFrames(x.run.frames); n > 0 {
		open.Frames[0] += n
	}
	return open
}

// unnamed counts the frames of an open message that no event names and no other open message has
// counted.
func (x *fold) unnamed(frames []schema.Range, counted map[uint64]bool) uint64 {
	count := translate.CountFrames(frames)
	if len(x.shared) == 0 {
		return count
	}
	for _, r := range frames {
		for n := r[0]; n <= r[1]; n++ {
			named, shared := x.shared[n]
			if shared && (named || counted[n]) {
				count--
			} else if shared {
				counted[n] = true
			}
		}
	}
	return count
}
