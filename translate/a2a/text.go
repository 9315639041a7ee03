package a2a

import (
	"slices"

	"strconv"
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
)

// growing is an open text, with the payloads of the frames that only it accounts for: should it turn
// out to say nothing new, they stand for themselves.
type growing struct {
	translate.OpenText
	label    string // source label of those frames
	payloads []byte // as sent, with commas between
	count    int
	ended    bool // its frames stand in an event
}

// own lets the open text account for the frame, unless something else of the frame does. It is settled
// when the text ends, or with the frame: an event that names the frame gives it a Raw instead.
func (x *fold) own(g *growing, may bool) {
	if may && !x.shared && !x.shown && !x.owned && x.owner == nil && !x.resting {
		x.owner = g
	}
}

// settle makes the frame the open text's.
func (x *fold) settle(g *growing) {
	if x.owner != g {
		return
	}
	x.owner, x.owned, x.joined = nil, true, g
	g.AddFrame(x.seq)
	if g.count > 0 {
		g.payloads = append(g.payloads, ',')
	} else {
		g.label = x.sourceLabel(x.label)
		g.payloads, x.spare = x.spare, nil
	}
	g.count++
	if need := len(g.payloads) + len(x.body); need > cap(g.payloads) {
		g.payloads = slices.Grow(g.payloads, max(need, 2*cap(g.payloads))-len(g.payloads))
	}
	if len(x.body) > 0 && len(x.body) <= translate.MaxInlineValue && !x.reader.Lossy() {
		g.payloads = append(g.payloads, x.body...)
		return
	}
	g.payloads = append(g.payloads, x.payload()...)
}

// ownFlags are the frame's flags for an event that comes later: how a frame was found says nothing of a
// text that goes on over many.
func (x *fold) ownFlags() translate.FlagSet {
	return x.flags &^ translate.Of(schema.FlagRecovered, schema.FlagBatch)
}

// emitText gives what an open text became. It has its own flags, not those of the frame that ends it,
// unless it names that frame.
func (x *fold) emitText(t *task, kind schema.Kind, g *growing, flags translate.FlagSet) {
	frames := g.Frames()
	if len(frames) == 0 {
		frames, x.named = x.here, true
		flags |= x.flags &^ x.ownFlags()
	}
	x.title.hears(kind)
	x.stamp.Emit(0, x.source(t), kind, false, frames, flags.List())
	x.free(g)
}

// drop ends a text that says nothing new: its frames have one Raw together.
func (x *fold) drop(t *task, g *growing) {
	if g.count == 0 {
		return
	}
	value := schema.JSON{}
	if g.count > 1 {
		value = append(value, '[')
	}
	value = schema.AppendCompact(value, g.payloads)
	if g.count > 1 {
		value = append(value, ']')
	}
	x.free(g)
	x.stamp.Emit(0, x.source(t), &schema.Raw{Source: g.label, Value: value}, false, g.Frames(), g.Flags.List())
}

// maxSpare is the largest buffer that is kept for the next open text, in bytes.
const maxSpare = 256 << 10

// free takes back the buffer of a text that has ended.
func (x *fold) free(g *growing) {
	if cap(g.payloads) > cap(x.spare) && cap(g.payloads) <= maxSpare {
		x.spare = g.payloads[:0]
	}
	g.payloads, g.ended = nil, true
}

// strand is a text over all its revisions: an artifact's answer or reasoning, a message.
type strand struct {
	id       string // as the peer said it
	channel  schema.Channel
	open     *growing
	text     string // as it was made durable last
	said     bool
	revision uint64
}

// current is the text as it stands.
func (s *strand) current() string {
	if s.open != nil {
		return s.open.Text()
	}
	return s.text
}

// How a text comes.
type manner int

const (
	more     manner = iota // it goes on from what is there
	anew                   // it is all there is: the difference counts, if it begins alike
	snapshot               // as anew, but it never shortens
)

// extend takes a text and gives its live delta. It reports whether there is anything open.
func (x *fold) extend(t *task, s *strand, text string, how manner, flags translate.FlagSet) bool {
	replaced := false
	if how != more && text != "" {
		known := s.current()
		switch {
		case strings.HasPrefix(text, known):
			text = text[len(known):]
		case how == snapshot && strings.HasPrefix(known, text):
			text = ""
		default:
			replaced = true
		}
	}
	if text == "" && !replaced && s.open == nil && s.said {
		return false // nothing new
	}
	g := s.open
	if g == nil {
		g = x.openStrand(s, replaced)
	} else if replaced {
		s.revision++
	}
	g.Flags |= flags | x.ownFlags() | t.flags
	var index uint64
	switch {
	case replaced && g.Next() > 0:
		index = g.Replace(text)
	case text == "":
		return true
	default:
		replaced = false
		index = g.AddText(text)
	}
	if s.channel == schema.Thought {
		x.live(t, &schema.Progress{Detail: &schema.Thinking{MessageID: g.ID, Index: index, Text: text, Reset: replaced}})
	} else {
		x.live(t, &schema.Delta{MessageID: g.ID, Index: index, TextFragment: text, Reset: replaced})
	}
	return true
}

// openStrand opens the strand's next message, which goes on from what was said unless that was replaced.
func (x *fold) openStrand(s *strand, replaced bool) *growing {
	g := &growing{}
	g.Role, g.Channel = schema.Assistant, s.channel
	g.ID = x.messageID(s.id)
	if s.said && !replaced {
		g.Continue(s.text)
	}
	s.revision++
	s.open = g
	return g
}

// endStrand gives the strand's message, unless it says nothing new.
func (x *fold) endStrand(t *task, s *strand, boundary schema.Boundary, flags translate.FlagSet, by carrier) {
	g := s.open
	if g == nil {
		return
	}
	s.open = nil
	x.settle(g)
	text := g.Text()
	old := text == "" || s.said && text == s.text
	repeated := false
	if by != 0 && !old {
		key := sum([]byte(text))
		if repeated = t.repeats(key, by); !repeated {
			t.say(key, by)
		}
	}
	if text != "" {
		s.text, s.said = text, true
	}
	if old && s.revision > 0 {
		s.revision-- // it was none
	}
	if old || repeated {
		x.drop(t, g)
		return
	}
	if t.stopped {
		flags |= translate.Of(schema.FlagLate)
	}
	m := g.Message(boundary)
	if s.revision > 1 {
		m.Revision = s.revision
	}
	x.emitText(t, m, g, flags|g.Flags)
}

// messageID gives out a message id: the peer's own, marked where it was given out before, or one that
// follows from the frame.
func (x *fold) messageID(peer string) string {
	if peer == "" {
		name := "message/" + strconv.FormatUint(x.seq, 10)
		if x.minted++; x.minted > 1 {
			name += "/" + strconv.Itoa(x.minted)
		}
		return x.id.UUID(name).String()
	}
	for {
		x.ids[peer]++
		n := x.ids[peer]
		if n == 1 {
			return peer
		}
		if id := peer + "#" + strconv.Itoa(n); x.ids[id] == 0 {
			x.ids[id] = 1
			return id
		}
	}
}
