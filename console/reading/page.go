package reading

import (
	"slices"
	"time"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/sink"
)

// Page is a whole transcript as it is read.
type Page struct {
	Items []Item
	// Hidden counts the Raws that are in no item, since items say the same.
	Hidden int
	// Origin says of A2A where the peer is, and the labels; empty where nothing is said of it.
	Origin string
}

// Item is a piece of a page.
type Item struct {
	Event *schema.Event // the one at which it stands
	At    time.Time     // when it was said, as far as that is known
	Task  string        // of A2A, where another of several tasks begins with it; else empty
	Flags []schema.Flag
	Is    Piece
}

// Piece is what an item is: *Message, *Tool, *Permission, *Plan, *Noise, *Remark or *Line.
type Piece interface{ piece() }

// Message is what somebody said.
type Message struct {
	Who     string
	Role    schema.Role
	Channel schema.Channel
	Revised bool
	Parts   []Part
}

// Part is text, or what is named instead of it.
type Part struct {
	Text  string
	Named string      // of a part that is not text: what it is
	Value schema.JSON // and itself
}

// Tool is a tool's whole life.
type Tool struct{ *Card }

// Permission is one that names no tool.
type Permission struct{ Asks []Ask }

// Plan is the agent's plan.
type Plan struct{ Steps []Step }

// Noise is what stood between the frames.
type Noise struct{ What, Text string }

// Title says what it is, and how much.
func (n *Noise) Title() string {
	return n.What + " · " + Count(max(1, len(linesOf(n.Text))), "line")
}

// Remark is progress, in as many lines as it has.
type Remark struct {
	Tone Tone
	Mark string
	Text string
}

// Line tells one thing. Value is what it was read from; nil if it says all of it.
type Line struct {
	Said
	Value schema.JSON
}

func (*Message) piece()    {}
func (*Tool) piece()       {}
func (*Permission) piece() {}
func (*Plan) piece()       {}
func (*Noise) piece()      {}
func (*Remark) piece()     {}
func (*Line) piece()       {}

// NewPage reads a transcript, given by its stored events in the order of their numbers, which are then in
// the order of reading. at is NewClock's.
func NewPage(s sink.Summary, events []schema.Event, at func(frame uint64) time.Time) *Page {
	p := &pager{tools: NewTools(), drawn: map[*Card]bool{}, several: SeveralTasks(events)}
	if s.Protocol == schema.A2A {
		p.reader.Peer = s.Agent
	}
	for i := range events {
		p.tools.Gather(&events[i])
	}
	p.tools.Again()
	places := Places(events)
	p.clock = NewClock(events, places, at)
	Sort(events, places)
	for i := range events {
		p.event(&events[i])
	}
	p.settleFault()
	return &p.page
}

// pager makes a page.
type pager struct {
	page    Page
	reader  Reader
	tools   *Tools
	clock   *Clock
	drawn   map[*Card]bool
	several bool
	task    string        // that the page speaks of
	fault   *schema.Event // an error that the next event may say
}

func (p *pager) add(e *schema.Event, piece Piece) {
	item := Item{Event: e, At: p.clock.SaidAt(e), Flags: e.Flags, Is: piece}
	if id := e.Source.TaskID; p.several && e.Source.Protocol == schema.A2A && id != "" && id != p.task {
		p.task, item.Task = id, id
	}
	p.page.Items = append(p.page.Items, item)
}

func (p *pager) line(e *schema.Event, said Said, value schema.JSON) {
	p.add(e, &Line{Said: said, Value: value})
}

func (p *pager) event(e *schema.Event) {
	if p.fault != nil && SaysFault(e, p.fault) {
		p.fault = nil
		p.page.Hidden++
	}
	p.settleFault()
	p.reader.Hears(e)
	switch k := e.Kind.(type) {
	case *schema.Message:
		p.message(e, k)
	case *schema.Progress:
		switch d := k.Detail.(type) {
		case *schema.Note:
			tone, mark := Quiet, MarkNote
			if e.Source.Protocol == schema.A2A {
				tone, mark = NoteTone(d.Text)
			}
			p.add(e, &Remark{tone, mark, d.Text})
		case *schema.UsageEstimate:
			p.line(e, UsageOf(d), nil)
		}
	case *schema.ToolCall, *schema.ToolResult, *schema.ToolState:
		id, _ := ToolID(e)
		p.card(e, p.tools.Card(e, id))
	case *schema.Stop:
		p.line(e, StopOf(k), nil)
	case *schema.Raw:
		p.raw(e, k)
	case *schema.Unknown:
		p.line(e, UnknownOf(k), k.Value)
	}
}

func (p *pager) settleFault() {
	if e := p.fault; e != nil {
		p.fault = nil
		k := e.Kind.(*schema.Raw)
		p.line(e, FaultOf(k), k.Value)
	}
}

// card adds a tool where it is first met.
func (p *pager) card(e *schema.Event, c *Card) {
	if !p.drawn[c] {
		p.drawn[c] = true
		p.add(e, &Tool{c})
		p.page.Items[len(p.page.Items)-1].Flags = c.Flags
	}
}

func (p *pager) message(e *schema.Event, k *schema.Message) {
	m := &Message{Who: p.reader.Speaker(e, k.Role, k.Channel), Role: k.Role, Channel: k.Channel, Revised: k.Revision > 1}
	if k.Content == nil {
		m.Parts = []Part{{Text: k.Text}}
	} else {
		for part := range Parse(k.Content).Children() {
			m.Parts = append(m.Parts, partOf(part))
		}
	}
	p.add(e, m)
}

func partOf(v jsontree.Value) Part {
	if text, ok := v.Get("text").Text(); ok && v.Get("type").Is("text") {
		return Part{Text: text}
	}
	return Part{Named: AttachmentOf(v), Value: schema.JSON(slices.Clone(v.Raw()))}
}

func (p *pager) raw(e *schema.Event, k *schema.Raw) {
	switch said := p.reader.Says(e, k); said.As {
	case Elsewhere:
		p.page.Hidden++
	case APlan:
		steps, _ := PlanOf(k.Value)
		p.add(e, &Plan{steps})
	case APermission:
		p.ask(e, p.tools.AskOf(e, k))
	case ADecision:
		p.decision(e, DecisionOf(k.Value))
	case ANoise:
		text, _ := Unbase64(k.Value)
		p.add(e, &Noise{said.What, text})
	case APart:
		part := Part{Named: said.What, Value: k.Value}
		if m := p.said(); m != nil {
			m.Parts = append(m.Parts, part)
			return
		}
		said.As, said.What = ALine, "["+said.What+"]"
		p.line(e, said, k.Value)
	case AFault:
		p.fault = e
	case ABeginning:
		if p.page.Origin == "" && len(p.page.Items) == 0 {
			p.page.Origin = said.More
			p.page.Hidden++
			return
		}
		p.line(e, said, k.Value)
	default:
		p.line(e, said, k.Value)
	}
}

// said is the message that the page ends with; nil if it ends with something else.
func (p *pager) said() *Message {
	if len(p.page.Items) == 0 {
		return nil
	}
	m, _ := p.page.Items[len(p.page.Items)-1].Is.(*Message)
	return m
}

// ask adds a permission: its tool's card has it, if there is one.
func (p *pager) ask(e *schema.Event, a Ask) {
	if c := p.tools.Of(e, a.Tool); c != nil {
		p.card(e, c)
		return
	}
	p.add(e, &Permission{[]Ask{a}})
}

// decision answers the permission that names no tool, or one that is not known, and was asked last.
func (p *pager) decision(e *schema.Event, a Ask) {
	if c := p.tools.Of(e, a.Tool); c != nil {
		p.card(e, c)
		return
	}
	for _, item := range slices.Backward(p.page.Items) {
		k, ok := item.Is.(*Permission)
		if !ok {
			continue
		}
		if answer(k.Asks, a) {
			return
		}
	}
	p.add(e, &Permission{[]Ask{a}})
}

// Body is a part's text: its own, or that of a resource in it; empty if it has none.
func (p *Part) Body() string {
	if p.Value == nil {
		return p.Text
	}
	text, _ := Parse(p.Value).Get("resource").Get("text").Text()
	return text
}

// Facts are what a heading says beside the title and the key, each on one line.
func Facts(s sink.Summary) (facts []string) {
	facts = []string{OneLine(string(s.Protocol) + " " + s.Dialect), OneLine(s.Agent), string(s.Status),
		Count(int(s.Frames), "frame") + ", " + Count(int(s.Events), "event")}
	if s.Unaccounted != 0 {
		facts = append(facts, Count(int(s.Unaccounted), "frame")+" unaccounted")
	}
	return slices.DeleteFunc(facts, func(f string) bool { return f == "" })
}

// Title is what a transcript is called.
func Title(s sink.Summary) string {
	if title := OneLine(s.Title); title != "" {
		return title
	}
	return "untitled"
}
