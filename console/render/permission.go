package render

import (
	"github.com/steno-io/steno/console/reading"
	"github.com/steno-io/steno/schema"
)

// permission writes what the agent asks to be allowed, under the tool's card.
func (r *Renderer) permission(e *schema.Event, k *schema.Raw) {
	a := r.tools.AskOf(e, k)
	c := r.asker(e, a.Tool)
	if r.whole && c != nil && c.drawn {
		return // it is on the card
	}
	r.under(c, e)
	r.cardAsk(&a)
	r.question = a
}

// decision writes what was decided, and by whom if that was not the client's user.
func (r *Renderer) decision(e *schema.Event, k *schema.Raw) {
	a := reading.DecisionOf(k.Value)
	c := r.asker(e, a.Tool)
	if r.whole && c != nil && c.drawn {
		return
	}
	of := r.question
	isAbout := r.current == askBlock && of.Tool == a.Tool && of.Offered == a.Offered
	r.under(c, e)
	if c == nil && !isAbout { // another question is the last one on the page
		r.cardAsk(&a)
		r.question = a
		return
	}
	r.decided(&a)
}

// asker is the card of the tool that a permission is about; nil if there is none.
func (r *Renderer) asker(e *schema.Event, peer string) *card { return r.drawing(r.tools.Of(e, peer)) }

// under begins a line that belongs to a card, or to no tool at all.
func (r *Renderer) under(c *card, e *schema.Event) {
	r.pause()
	switch {
	case c == nil && r.current == askBlock:
	case c == nil:
		r.head(warn, reading.MarkWaiting+" permission", e)
		r.current = askBlock
	case r.current != c.Key:
		r.cardHead(c, e)
	}
}
