package render

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/steno-io/steno/schema"
)

// card is a tool call as it stands.
type card struct {
	key      string
	id       string
	name     string
	title    string
	input    schema.JSON
	phase    schema.ToolPhase
	output   schema.JSON
	isError  bool
	asks     []ask
	edits    []edit
	flags    []schema.Flag
	drawn    bool
	lastLine string // of the phase, as written last
}

// ask is a permission that was asked for a tool, and what was decided.
type ask struct {
	offered string
	decided string
	allowed bool
}

// card finds or makes the card of a tool. The peer may use an id again; then "#2" stands behind it,
// and what the peer says of the id means the last one.
func (r *Renderer) card(e *schema.Event, id string) *card {
	key := lane(e, id)
	c := r.cards[key]
	if c == nil {
		c = &card{key: key, id: id, flags: e.Flags}
		r.cards[key] = c
	}
	peer, _, _ := strings.Cut(id, "#")
	r.uses[lane(e, peer)], r.uses[key] = key, key
	return c
}

// lane keeps the tools of a replayed history apart from those that ran: they may have the same ids.
func lane(e *schema.Event, id string) string {
	if e.Has(schema.FlagReplayed) {
		return string(schema.FlagReplayed) + "\x00" + id
	}
	return id
}

// update takes over what an event says of a tool, and reports whether its input is new.
func (c *card) update(e *schema.Event) (newInput bool) {
	before := c.input
	switch k := e.Kind.(type) {
	case *schema.ToolCall:
		c.name, c.input, c.flags = k.Tool, given(k.Input), e.Flags
	case *schema.ToolResult:
		c.isError = k.IsError
		if output := given(k.Output); output != nil {
			c.output = output
		}
	case *schema.ToolState:
		c.name, c.title, c.phase = k.Name, k.Title, k.State
		for _, input := range []schema.JSON{k.Input, k.State.Input, k.State.PartialInput} {
			if given(input) != nil {
				c.input = input
				break
			}
		}
		if c.output == nil && k.State.Output != nil {
			c.output = outputValue(*k.State.Output)
		}
	}
	return c.input != nil && !bytes.Equal(before, c.input)
}

// outputValue is a state's output, which is a string, or the JSON text of anything else.
func outputValue(output string) schema.JSON {
	if strings.HasPrefix(output, "{") || strings.HasPrefix(output, "[") {
		if json.Valid([]byte(output)) {
			return schema.JSON(output)
		}
	}
	return schema.AppendString(nil, output)
}

// given is a value that is neither absent nor null nor without members.
func given(value schema.JSON) schema.JSON {
	switch string(value) {
	case "", "null", "{}", "[]":
		return nil
	}
	return value
}

// label is the tool's name, and its title where that says more.
func (c *card) label() (string, string) {
	name, title := oneLine(c.name), oneLine(c.title)
	switch {
	case name == "" && title == "":
		return oneLine(c.id), ""
	case name == "" || name == title:
		return title, ""
	}
	return name, title
}

// phaseWords says a phase by a mark and in words.
func (c *card) phaseWords() (s style, mark, words string) {
	p := &c.phase
	elapsed := ""
	if p.ElapsedMs != nil {
		elapsed = " · " + span(millis(*p.ElapsedMs))
	}
	switch p.Phase {
	case schema.Streaming:
		return dim, markCalled, "called"
	case schema.WaitingConfirmation:
		return warn, markWaiting, "waits for permission"
	case schema.Executing:
		if p.Progress != "" {
			elapsed += " · " + oneLine(p.Progress)
		}
		return plain, markRunning, "running" + elapsed
	case schema.Completed:
		if p.Success {
			return good, markGood, "done" + elapsed
		}
		return bad, markBad, "failed" + elapsed
	case schema.Cancelled:
		words := map[schema.CancelReason]string{schema.Denied: "denied", schema.Interrupted: "interrupted", schema.Timeout: "timed out"}[p.Reason]
		if words == "" {
			words = "cancelled"
		}
		if p.Message != "" {
			words += ": " + oneLine(p.Message)
		}
		return bad, markBad, words
	case "":
		if c.output != nil && c.isError {
			return bad, markBad, "failed"
		} else if c.output != nil {
			return good, markGood, "done"
		}
		return dim, markCalled, "called"
	}
	return plain, markCalled, oneLine(string(p.Phase))
}

// cardHead writes the card's first line; further lines of the same card follow without a blank one.
func (r *Renderer) cardHead(c *card, e *schema.Event) {
	r.pause()
	r.task(e)
	r.spoken = false
	if r.current != c.key {
		r.page.gap()
	}
	r.current = c.key
	s, mark, words := c.phaseWords()
	c.lastLine = mark + words
	label, title := c.label()
	when := r.when(e)
	reserved := columns(words) + 2
	if when != "" {
		reserved += columns(when) + 3
	}
	for _, f := range c.flags {
		reserved += len(f) + 3
	}
	r.page.put(s, mark+" ")
	r.page.put(name, fit(label, r.page.room(reserved)))
	if title != "" && r.page.room(reserved) > 12 {
		r.page.put(plain, "  "+fit(title, r.page.room(reserved+2)))
	}
	for _, f := range c.flags {
		r.page.put(warn, " ["+oneLine(string(f))+"]")
	}
	if when != "" {
		words += " · " + when
	}
	r.page.right(s, words)
	r.page.newline()
}

func (r *Renderer) cardInput(c *card) {
	defer r.page.inside(PartBody)()
	if c.input != nil {
		r.excerpt(rail, dim, readable(c.input))
	}
}

func (r *Renderer) cardOutput(c *card) {
	defer r.page.inside(PartBody)()
	if c.output == nil || onlyEdits(c.output) {
		return
	}
	text := strings.TrimRight(readable(c.output), "\n")
	if text == "" {
		return
	}
	if c.input != nil || len(c.asks) > 0 {
		r.page.put(dim, "  ├─")
		r.page.newline()
	}
	s := plain
	if c.isError {
		s = bad
	}
	r.excerpt(rail, s, text)
}

func (r *Renderer) cardAsk(a *ask) {
	r.page.put(dim, "  ? ")
	r.page.put(plain, fit("asked: "+a.offered, r.page.room(0)))
	r.page.newline()
	if a.decided != "" {
		r.decided(a)
	}
}

func (r *Renderer) decided(a *ask) {
	s := bad
	if a.allowed {
		s = good
	}
	r.page.put(s, "  → "+a.decided)
	r.page.newline()
}

// excerpt writes the first lines of a text and says how much was left out.
func (r *Renderer) excerpt(indent string, s style, text string) {
	text = strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	all := strings.Split(text, "\n")
	shown := all
	if r.o.Lines > 0 && len(all) > r.o.Lines {
		shown = all[:r.o.Lines]
	}
	left, cut := len(all)-len(shown), 0
	for _, line := range shown {
		if limit := r.lineLimit(); limit > 0 && columns(line) > limit {
			head, tail := take(line, limit)
			line, cut = head+ellipsis, cut+len(tail)
		}
		r.page.block(indent, dim, s, line)
	}
	var words []string
	if left > 0 {
		words = append(words, "and "+strconv.Itoa(left)+" more "+plural(left, "line"))
	}
	if cut > 0 {
		words = append(words, bytesOf(cut)+" of these lines left out")
	}
	if words != nil {
		r.page.put(dim, indent+ellipsis+" "+strings.Join(words, ", "))
		r.page.newline()
	}
}

// lineLimit is how much of one line of a text an excerpt shows: three lines of the page.
func (r *Renderer) lineLimit() int {
	if r.o.Lines < 0 {
		return 0
	}
	if r.page.width == 0 {
		return 400
	}
	return 3 * max(20, r.page.width-len(rail))
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}
