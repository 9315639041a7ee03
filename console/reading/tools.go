package reading

import (
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
)

// Tools are the cards of a transcript's tools.
type Tools struct {
	cards map[string]*Card
	uses  map[string]string // tool as the peer calls it → card
}

// NewTools makes an empty set.
func NewTools() *Tools { return &Tools{cards: map[string]*Card{}, uses: map[string]string{}} }

// Card finds or makes the card of a tool. The peer may use an id again; then "#2" stands behind it,
// and what the peer says of the id means the last one.
func (t *Tools) Card(e *schema.Event, id string) *Card {
	key := lane(e, id)
	c := t.cards[key]
	if c == nil {
		c = &Card{Key: key, ID: id, Flags: e.Flags}
		t.cards[key] = c
	}
	peer, _, _ := strings.Cut(id, "#")
	t.uses[lane(e, peer)], t.uses[key] = key, key
	return c
}

// Of is the card of the tool that an event's peer calls so; nil if there is none.
func (t *Tools) Of(e *schema.Event, peer string) *Card {
	if peer == "" {
		return nil
	}
	return t.cards[t.uses[lane(e, peer)]]
}

// Again forgets what peers' ids mean, which is told anew as the events are gone through once more.
func (t *Tools) Again() { clear(t.uses) }

// Gather puts what an event says of a tool on its card.
func (t *Tools) Gather(e *schema.Event) {
	k, ok := e.Kind.(*schema.Raw)
	if !ok {
		if id, ok := ToolID(e); ok {
			c := t.Card(e, id)
			c.Update(e)
			c.lives(e)
		}
		return
	}
	switch k.Source {
	case acp.MethodRequestPermission:
		a := AskOf(k.Value)
		if c := t.Of(e, a.Tool); c != nil {
			c.Asks = append(c.Asks, a)
		}
	case acp.MethodRequestPermission + "/decision":
		a := DecisionOf(k.Value)
		if c := t.Of(e, a.Tool); c != nil && len(c.Asks) > 0 {
			c.Decide(a)
		}
	default:
		if c, edits := t.Edited(e, k); c != nil {
			c.Edits = edits
		}
	}
}

// Edited gives the edits in a tool's frame, and the tool's card; nil if the record is of no known tool or
// has none.
func (t *Tools) Edited(e *schema.Event, k *schema.Raw) (*Card, []Edit) {
	tool, edits := editsOf(k)
	if edits == nil {
		return nil, nil
	}
	return t.Of(e, tool), edits
}

// lane keeps the tools of a replayed history apart from those that ran: they may have the same ids.
func lane(e *schema.Event, id string) string {
	if e.Has(schema.FlagReplayed) {
		return string(schema.FlagReplayed) + "\x00" + id
	}
	return id
}

// ToolID is the tool that a tool's event is about; ok is false if it is another event.
func ToolID(e *schema.Event) (id string, ok bool) {
	switch k := e.Kind.(type) {
	case *schema.ToolCall:
		return k.CallID, true
	case *schema.ToolResult:
		return k.CallID, true
	case *schema.ToolState:
		return k.ToolID, true
	}
	return "", false
}
