package render

import (
	"strconv"
	"strings"

	"github.com/steno-io/steno/console/reading"
	"github.com/steno-io/steno/schema"
)

// card is a tool call as it stands, and what of it was drawn.
type card struct {
	*reading.Card
	drawn    bool
	lastLine string // of the phase, as written last
}

// card finds or makes the card of a tool.
func (r *Renderer) card(e *schema.Event, id string) *card { return r.drawing(r.tools.Card(e, id)) }

// drawing is a card as it is drawn; nil for nil.
func (r *Renderer) drawing(of *reading.Card) *card {
	if of == nil {
		return nil
	}
	c := r.cards[of]
	if c == nil {
		c = &card{Card: of}
		r.cards[of] = c
	}
	return c
}

// phaseWords says the phase by a mark and in words.
func (c *card) phaseWords() (s style, mark, words string) {
	tone, mark, words := c.Words()
	return styleOf(tone), mark, words
}

// cardHead writes the card's first line; further lines of the same card follow without a blank one.
func (r *Renderer) cardHead(c *card, e *schema.Event) {
	r.pause()
	r.task(e)
	r.spoken = false
	if r.current != c.Key {
		r.page.gap()
	}
	r.current = c.Key
	s, mark, words := c.phaseWords()
	c.lastLine = mark + words
	label, title := c.Label()
	when := r.when(e)
	reserved := columns(words) + 2
	if when != "" {
		reserved += columns(when) + 3
	}
	for _, f := range c.Flags {
		reserved += len(f) + 3
	}
	r.page.put(s, mark+" ")
	r.page.put(name, fit(label, r.page.room(reserved)))
	if title != "" && r.page.room(reserved) > 12 {
		r.page.put(plain, "  "+fit(title, r.page.room(reserved+2)))
	}
	for _, f := range c.Flags {
		r.page.put(warn, " ["+reading.OneLine(string(f))+"]")
	}
	if when != "" {
		words += " · " + when
	}
	r.page.right(s, words)
	r.page.newline()
}

func (r *Renderer) cardInput(c *card) {
	defer r.page.inside(PartBody)()
	if c.Input != nil {
		r.excerpt(rail, dim, reading.Readable(c.Input))
	}
}

func (r *Renderer) cardOutput(c *card) {
	defer r.page.inside(PartBody)()
	text := c.Result()
	if text == "" || !r.whole && reading.OnlyEdits(c.Output) { // the edits follow
		return
	}
	if c.Input != nil || len(c.Asks) > 0 {
		r.page.put(dim, "  ├─")
		r.page.newline()
	}
	s := plain
	if c.IsError {
		s = bad
	}
	r.excerpt(rail, s, text)
}

func (r *Renderer) cardAsk(a *reading.Ask) {
	r.page.put(dim, "  ? ")
	r.page.put(plain, fit("asked: "+a.Asked(), r.page.room(0)))
	r.page.newline()
	if a.Decided != "" {
		r.decided(a)
	}
}

func (r *Renderer) decided(a *reading.Ask) {
	s := bad
	if a.Allowed {
		s = good
	}
	r.page.put(s, "  → "+a.Decided)
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
		words = append(words, "and "+strconv.Itoa(left)+" more "+reading.Plural(left, "line"))
	}
	if cut > 0 {
		words = append(words, reading.BytesOf(cut)+" of these lines left out")
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
