package render

import (
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// permission writes what the agent asks to be allowed, under the tool's card.
func (r *Renderer) permission(e *schema.Event, k *schema.Raw) {
	v := parse(k.Value)
	a := ask{offered: offered(v.Get("options"))}
	c := r.asker(e, v.Get("toolCall").Get("toolCallId"))
	if r.whole && c != nil && c.drawn {
		return // it is on the card
	}
	r.under(c, e)
	r.cardAsk(&a)
}

// decision writes what was decided, and by whom if that was not the client's user.
func (r *Renderer) decision(e *schema.Event, k *schema.Raw) {
	v := parse(k.Value)
	a := decide(v)
	c := r.asker(e, v.Get("toolCallId"))
	if r.whole && c != nil && c.drawn {
		return
	}
	r.under(c, e)
	r.decided(&a)
}

// asker is the card of the tool that a permission is about; nil if there is none.
func (r *Renderer) asker(e *schema.Event, peer jsontree.Value) *card {
	id, ok := peer.Text()
	if !ok {
		return nil
	}
	return r.cards[r.uses[lane(e, id)]]
}

// under begins a line that belongs to a card, or to no tool at all.
func (r *Renderer) under(c *card, e *schema.Event) {
	r.pause()
	switch {
	case c == nil && r.current == askBlock:
	case c == nil:
		r.head(warn, markWaiting+" permission", e)
		r.current = askBlock
	case r.current != c.key:
		r.cardHead(c, e)
	}
}

// offered lists the options by their names.
func offered(options jsontree.Value) string {
	var names []string
	for o := range options.Children() {
		names = append(names, optionName(o))
	}
	if names == nil {
		return "nothing to choose from"
	}
	return strings.Join(names, " | ")
}

func optionName(o jsontree.Value) string {
	for _, member := range []string{"name", "optionId"} {
		if text, ok := o.Get(member).Text(); ok && text != "" {
			return oneLine(text)
		}
	}
	return "?"
}

// decide reads a decision.
func decide(v jsontree.Value) ask {
	outcome := v.Get("outcome")
	a := ask{offered: offered(v.Get("offered"))}
	chosen, _ := outcome.Get("optionId").Text()
	switch {
	case outcome.Get("outcome").Is(acp.OutcomeSelected):
		a.decided = "answered: " + oneLine(chosen)
		for o := range v.Get("offered").Children() {
			if o.Get("optionId").Is(chosen) {
				kind, _ := o.Get("kind").Text()
				a.decided, a.allowed = "answered: "+optionName(o), acp.Decide(kind) == acp.Allowed
			}
		}
	case outcome.Get("outcome").Kind() == jsontree.String:
		a.decided, _ = outcome.Get("outcome").Text()
		a.decided = oneLine(a.decided)
	default:
		message, _ := v.Get("error").Get("message").Text()
		a.decided = oneLine("no decision: " + message)
	}
	if policy, _ := v.Get("policy").Text(); policy != "" && policy != "client" {
		a.decided += " (policy " + oneLine(policy) + ")"
	}
	return a
}
