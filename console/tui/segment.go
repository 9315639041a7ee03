package tui

import (
	"slices"
	"strings"

	"github.com/steno-io/steno/console/render"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// segment is a run of consecutive events of a transcript, and the lines that they are shown as. The last
// one of a page grows, and has open text behind its events.
type segment struct {
	first  uint64 // number of the first event, or of the one to come
	events []schema.Event
	open   open
	whole  bool // nothing comes behind it any more

	shown *look // that the lines are made for; nil = there are none
	out   *collector
	pen   *render.Renderer
	head  []line
	lines []line // the heading's, too
	// typing is what was written of each open text.
	typing map[string]string
}

// open is what stands behind the last event.
type open struct {
	texts []openText
	tools []schema.OpenTool
	notes []schema.OpenNote
	bits  []schema.Event // pieces of notes
}

// next is the number behind the last event.
func (s *segment) next() uint64 { return s.first + uint64(len(s.events)) }

// show makes the lines, unless they are there. Errors of the renderer are those of its writer, which has
// none.
func (s *segment) show(about sink.Summary, l look) []line {
	if s.shown != nil && *s.shown == l {
		return s.lines
	}
	s.out = &collector{seq: s.first}
	s.pen = render.New(s.out, l.options(s.out.ends))
	s.pen.Resume(about)
	s.heading(about, l)
	s.shown, s.typing = &l, map[string]string{}
	s.write(s.events)
	s.typed(s.open.texts, s.open.tools, s.open.notes, s.open.bits)
	if s.whole {
		_ = s.pen.Settle()
	}
	s.fold()
	return s.lines
}

// heading makes the heading, which stands before the first event. It is made by itself, since it changes
// while the events stay as they are.
func (s *segment) heading(about sink.Summary, l look) {
	s.head = nil
	if s.first != 1 {
		return
	}
	out := &collector{seq: 1}
	_ = render.New(out, l.options(out.ends)).Transcript(about)
	s.head = out.lines
}

// tell changes the heading, where it is shown.
func (s *segment) tell(about sink.Summary) {
	if s.shown != nil && s.first == 1 {
		s.heading(about, *s.shown)
		s.fold()
	}
}

func (s *segment) write(events []schema.Event) {
	for _, e := range events {
		s.out.seq = e.StoreSeq
		_ = s.pen.Event(e)
		if m, ok := e.Kind.(*schema.Message); ok {
			delete(s.typing, (&openText{OpenMessage: schema.OpenMessage{Channel: m.Channel, MessageID: m.MessageID}}).key())
		}
	}
}

// typed writes what is open and not written yet.
func (s *segment) typed(texts []openText, tools []schema.OpenTool, notes []schema.OpenNote, bits []schema.Event) {
	s.out.seq = s.next()
	for _, e := range bits {
		_ = s.pen.Delta(e)
	}
	var joined []schema.OpenMessage
	for _, t := range texts {
		if t.began.Kind == nil || t.Role == schema.User {
			joined = append(joined, t.OpenMessage)
			continue
		}
		_ = s.pen.Delta(t.piece(s.typing[t.key()]))
		s.typing[t.key()] = t.Text
	}
	if len(joined)+len(tools)+len(notes) > 0 {
		_ = s.pen.Snapshot(joined, tools, notes...)
	}
}

// piece is what of a text is behind the part that was written, as if it came in one.
func (t *openText) piece(written string) schema.Event {
	rest, goesOn := strings.CutPrefix(t.Text, written)
	e := t.began
	if t.Channel == schema.Thought {
		e.Kind = &schema.Progress{Detail: &schema.Thinking{MessageID: t.MessageID, Text: rest, Reset: !goesOn}}
	} else {
		e.Kind = &schema.Delta{MessageID: t.MessageID, TextFragment: rest, Reset: !goesOn}
	}
	return e
}

func (t *openText) key() string { return string(t.Channel) + "\x00" + t.MessageID }

func (s *segment) fold() {
	part := render.PartText
	if n := len(s.open.texts); n > 0 && s.open.texts[n-1].Channel == schema.Thought {
		part = render.PartThought
	}
	s.lines = s.shown.fold(s.out.all(part))
	if s.head != nil {
		s.lines = slices.Concat(s.head, s.lines)
	}
}

// add takes what came.
func (s *segment) add(n news) {
	s.events = append(s.events, n.events...)
	s.open.take(n)
	if s.shown == nil {
		return
	}
	s.write(n.events)
	s.typed(n.texts, n.tools, n.notes, n.bits)
	s.fold()
}

// take keeps what is open.
func (o *open) take(n news) {
	o.texts = n.open
	for _, e := range n.events {
		switch k := e.Kind.(type) {
		case *schema.ToolState:
			o.tools = slices.DeleteFunc(o.tools, func(t schema.OpenTool) bool { return t.State.ToolID == k.ToolID })
		case *schema.Progress:
			o.notes, o.bits = withoutTask(e.Source.TaskID, o.notes, o.bits)
		}
	}
	if n.tools != nil {
		o.tools = n.tools
	}
	if n.notes != nil {
		o.notes, o.bits = n.notes, nil
	}
	o.bits = append(o.bits, n.bits...)
}

// withoutTask gives what is left of notes and of their pieces once the note of a task is stored.
func withoutTask(task string, notes []schema.OpenNote, bits []schema.Event) ([]schema.OpenNote, []schema.Event) {
	return slices.DeleteFunc(slices.Clone(notes), func(n schema.OpenNote) bool { return n.TaskID == task }),
		slices.DeleteFunc(slices.Clone(bits), func(b schema.Event) bool { return b.Source.TaskID == task })
}

// part splits off the events before the one at i, as a segment of their own.
func (s *segment) part(i int) *segment {
	before := &segment{first: s.first, events: slices.Clone(s.events[:i]), whole: true}
	s.first, s.events, s.shown = s.first+uint64(i), slices.Clone(s.events[i:]), nil
	return before
}
