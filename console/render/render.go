package render

import (
	"io"
	"time"

	"github.com/steno-io/steno/console/reading"
	"github.com/steno-io/steno/schema"
)

// Options of a Renderer. The zero value writes plain text without wrapping.
type Options struct {
	Colour bool // escape sequences for colour; else plain text only
	Width  int  // columns; 0 = lines are not wrapped
	Times  bool // show when things happened, from the transcript's first event on
	Raw    bool // show every Raw, those that another event shows as well
	// At tells when a frame came, for those that no event is emitted at: pieces of a message. The zero time
	// means that it does not know. Without it, what is made of such frames has the time of its end.
	At    func(frame uint64) time.Time
	Lines int // of a tool's input and output and of noise, the rest is left out; 0 = 8, below 0 = all
	// Takes are the interventions that the transcript's connection takes now, for its heading; empty = none.
	Takes string
	// Ends is called for each line that ends, in their order and before its line feed is written, with what
	// it is a part of; nil = nobody asks.
	Ends func(Part)
}

// Renderer writes one transcript. It is not safe for concurrent use. Text of the transcript never
// reaches the terminal as control characters.
type Renderer struct {
	o    Options
	page *page

	first   time.Time // of the transcript's first event
	hidden  int       // events left out
	reader  reading.Reader
	tools   *reading.Tools
	cards   map[*reading.Card]*card
	held    *schema.Event  // a call or a result whose state follows
	whole   bool           // cards are complete before they are drawn
	clock   *reading.Clock // of a whole page
	current string         // block that the page ends in: a card's id, another block, or none
	typing  *typing
	typed   map[string]*typing
	later   []*schema.Event // minor records that wait for the end of what is being typed

	question reading.Ask // asked last

	headed bool // the page ends in its heading

	// Of A2A.
	fault     *schema.Event // an error that the next event may say
	spoken    bool          // the page ends with what somebody said, and parts of it may follow
	shownTask string        // that the page speaks of
	several   bool          // the conversation has several tasks
}

// Blocks that are no card. Lines follow one another; a block stands between blank lines.
const (
	noBlock   = ""
	textBlock = "\x00text"
	askBlock  = "\x00ask" // of a permission that names no tool
)

// New makes a renderer.
func New(w io.Writer, o Options) *Renderer {
	if o.Lines == 0 {
		o.Lines = 8
	}
	return &Renderer{o: o, page: newPage(w, o), tools: reading.NewTools(), cards: map[*reading.Card]*card{}, typed: map[string]*typing{}}
}

// Event writes a stored event as it comes. Events are expected in the order of their numbers. A
// message that was typed is not written a second time.
func (r *Renderer) Event(e schema.Event) error {
	r.event(&e)
	return r.page.flush()
}

// Notice writes a line about the transcript that is not of it, such as that it lags or has ended.
func (r *Renderer) Notice(text string) error {
	r.settle()
	r.lines()
	r.page.block(reading.MarkAlarm+" ", warn, warn, reading.OneLine(text))
	return r.page.flush()
}

// Close ends what is being typed and says how many events were left out.
func (r *Renderer) Close() error {
	r.settle()
	if r.hidden > 0 {
		r.page.gap()
		r.page.put(dim, reading.Count(r.hidden, "raw record")+" left out: other lines say the same")
		r.page.newline()
	}
	return r.page.flush()
}

// settle brings what is unfinished on the page to the end of its line.
func (r *Renderer) settle() {
	if r.held != nil {
		e := r.held
		r.held = nil
		r.alone(e)
	}
	r.settleFault()
	r.pause()
}

func (r *Renderer) event(e *schema.Event) {
	if r.first.IsZero() {
		r.first = e.EmittedAt
	}
	if r.fault != nil && reading.SaysFault(e, r.fault) {
		r.fault = nil
		r.hidden++
	}
	r.settleFault()
	if r.held != nil && r.joins(e) {
		return
	}
	if r.held != nil {
		held := r.held
		r.held = nil
		r.alone(held)
	}
	r.reader.Hears(e)
	switch k := e.Kind.(type) {
	case *schema.Message:
		r.message(e, k)
	case *schema.Delta, *schema.Progress:
		r.progress(e)
	case *schema.ToolCall, *schema.ToolResult, *schema.ToolState:
		r.tool(e)
	case *schema.Stop:
		r.stop(e, k)
	case *schema.Raw:
		r.raw(e, k)
	case *schema.Unknown:
		r.says(e, reading.UnknownOf(k))
	}
}

// head begins a block: a blank line, a mark or a speaker, what is odd about it, and when it was.
func (r *Renderer) head(s style, title string, e *schema.Event) {
	r.pause()
	r.task(e)
	r.page.gap()
	r.spoken, r.headed = false, false
	r.current = textBlock
	r.page.put(s, title)
	r.edge(e)
}

// lines begins a line of its own, with a blank one before it if a block ends here.
func (r *Renderer) lines() {
	r.pause()
	r.spoken, r.headed = false, false
	if r.current != noBlock {
		r.page.gap()
	}
	r.current = noBlock
}

// edge ends a head line with the event's flags and time.
func (r *Renderer) edge(e *schema.Event) {
	for _, f := range e.Flags {
		r.page.put(warn, " ["+reading.OneLine(string(f))+"]")
	}
	r.page.right(dim, r.when(e))
	r.page.newline()
}

// line writes one line: a mark, what it is, and more about it in the room that is left.
func (r *Renderer) line(s style, mark, what, more string, e *schema.Event) {
	r.lines()
	r.page.put(s, mark+" ")
	r.page.put(s, fit(what, r.page.room(0)))
	reserved := columns(r.when(e)) + 2
	for _, f := range e.Flags {
		reserved += len(f) + 3
	}
	if room := r.page.room(reserved + 2); more != "" && room > 12 {
		if columns(more) > room {
			size := "  (" + reading.BytesOf(len(more)) + ")"
			more = fit(more, room-len(size)) + size
		}
		r.page.put(dim, "  "+more)
	}
	r.edge(e)
}

func (r *Renderer) when(e *schema.Event) string {
	if !r.o.Times {
		return ""
	}
	at := e.EmittedAt
	if r.clock != nil {
		at = r.clock.SaidAt(e)
	}
	return "+" + reading.Span(at.Sub(r.first))
}
