package a2a

import (
	"github.com/steno-io/steno/schema"
	wire "github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// fold is the state of one conversation.
type fold struct {
	id      schema.Identity `state:"-"`
	stamp   translate.Stamp
	reader  jsontree.Reader `state:"-"`
	aside   jsontree.Reader `state:"-"` // for evidence, which stands beside a body
	profile profile
	peer    string
	labels  map[string]string
	ending
	title     title
	exchanges map[string]*exchange
	going     []*exchange          // whose close has not come, by first frame
	tasks     map[string]*task     // by the peer's id, the newest incarnation
	order     []*task              // all, those without an id too, until their exchange has closed
	numbers   int                  // tasks so far
	ids       map[string]int       // how often a message id was given out
	users     map[userKey]bool     // the user's words so far
	told      map[userKey]bool     // those that only the agent told of
	injected  map[string]injection // by exchange, until the peer has taken it
	contexts  map[string]bool      // conversations named so far
	context   string               // the one named last
	key       []byte               `state:"-"` // scratch
	events    []wire.Event         `state:"-"` // scratch
	room      []jsontree.Value     `state:"-"` // scratch
	arms      []wire.Arm           `state:"-"` // scratch
	spare     []byte               `state:"-"` // for the payloads of the next open text

	// The rest belongs to the frame being folded.
	frame   *schema.Frame `state:"-"`
	seq     uint64
	here    []schema.Range // the frame itself, shared by its events
	flags   translate.FlagSet
	from    *exchange
	body    []byte        `state:"-"` // the frame's JSON text, where it is one value
	dialect wire.Dialect  // of the object being folded
	label   string        // last element of the frame's source label
	failing bool          // the event says that it is an error
	shared  bool          // the frame holds several objects
	owner   *growing      // the open text that may account for the frame
	owned   bool          // a text accounts for the frame
	named   bool          // an event named it
	shown   bool          // the frame's Raw was given
	minted  int           // ids made for the frame
	joined  *growing      // the text that accounts for the frame
	resting bool          // nothing went on before the frame
	before  schema.Status // over, before the frame
}

// Quiet implements translate.Quieter.
func (x *fold) Quiet() { x.stamp.Quiet() }

// Step implements translate.Fold.
func (x *fold) Step(dst []schema.Event, f *schema.Frame) []schema.Event {
	x.stamp.Begin(dst, f)
	x.frame, x.seq, x.here, x.flags = f, f.Seq, []schema.Range{{f.Seq, f.Seq}}, 0
	x.from, x.body, x.dialect, x.label = nil, nil, "", ""
	x.failing = false
	x.shared, x.owner, x.owned, x.named, x.shown, x.minted = false, nil, false, false, false, 0
	x.joined, x.resting, x.before = nil, x.atRest(), x.over
	if x.over != "" && f.Type != schema.TypeClose {
		x.over = "" // a frame after the close reopens the capture
		x.flags |= translate.Of(schema.FlagLate)
	}
	if f.Type != schema.TypeData {
		x.control()
	} else {
		x.data()
	}
	x.frame, x.body, x.owner = nil, nil, nil // an owner that is left has lost the frame to an event
	return x.stamp.Done()
}

// End implements translate.Fold.
func (x *fold) End(dst []schema.Event) []schema.Event {
	if x.seq == 0 {
		return dst
	}
	x.stamp.Resume(dst)
	x.flags = 0
	x.finish(true)
	return x.stamp.Done()
}

// finish ends everything that is open: the capture is at its end. With cut, the end of no exchange was
// seen.
func (x *fold) finish(cut bool) {
	for _, e := range x.going {
		x.endExchange(e, cut, "")
		e.closed = true
	}
	x.going = nil
	for _, t := range x.order {
		x.flush(t, schema.BoundaryEnd, translate.Of(schema.FlagPartial))
		x.interruptTools(t)
	}
}

// emit gives a durable event made of the given frames. t is nil for what no task is named for.
func (x *fold) emit(t *task, kind schema.Kind, frames []schema.Range, flags translate.FlagSet) {
	x.title.hears(kind)
	x.stamp.Emit(0, x.source(t), kind, false, frames, (x.flags | flags).List())
}

// emitHere gives a durable event made of the frame being folded.
func (x *fold) emitHere(t *task, kind schema.Kind, flags translate.FlagSet) {
	x.named = true
	x.emit(t, kind, x.here, flags)
}

// live gives an ephemeral event.
func (x *fold) live(t *task, kind schema.Kind) {
	x.stamp.Emit(0, x.source(t), kind, true, x.here, x.flags.List())
}

func (x *fold) source(t *task) schema.Source {
	s := schema.Source{Protocol: schema.A2A, Dialect: string(x.version()), SessionID: x.context, Translator: Version}
	if t != nil {
		s.TaskID = t.name
		if t.context != "" {
			s.SessionID = t.context
		}
	}
	return s
}

// version is the dialect of what is being folded: its own, else that of its exchange, else 1.0.
func (x *fold) version() wire.Dialect {
	switch {
	case x.dialect != "":
		return x.dialect
	case x.from != nil && x.from.dialect != "":
		return x.from.dialect
	}
	return wire.V10
}

// Open implements translate.Fold.
func (x *fold) Open() translate.Open {
	open := translate.Open{Frames: map[uint32]uint64{}}
	for _, t := range x.order {
		for g := range t.growing() {
			open.Frames[0] += translate.CountFrames(g.Frames())
			if g == t.notes.open {
				open.Notes = append(open.Notes, translate.OpenNote{TaskID: t.name, Text: t.notes.text()})
				continue // it is live without an index
			}
			if g.Empty() {
				continue
			}
			open.Messages = append(open.Messages, translate.OpenMessage{
				MessageID: g.ID, Role: g.Role, Channel: g.Channel, Text: g.Text(), Next: g.Next(), TaskID: t.name,
			})
		}
		for _, c := range t.calls {
			if !c.phase.Phase.Ended() {
				open.Tools = append(open.Tools, translate.OpenTool{State: *c.state()})
			}
		}
	}
	if open.Frames[0] == 0 {
		delete(open.Frames, 0)
	}
	return open
}
