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
	frame uint64            // of the last event of a tool
	last  *Card             // and the tool
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
	t.frame, t.last = e.WorkerSeq, c
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
func (t *Tools) Again() {
	clear(t.uses)
	t.frame, t.last = 0, nil
}

// moved is the card of the tool that the events of e's frame, before e, tell of; nil if there is none. A record
// that is too large to stand in its event does not name it.
func (t *Tools) moved(e *schema.Event) *Card {
	if t.frame != e.WorkerSeq {
		return nil
	}
	return t.last
}

// AskOf reads a permission that is asked for.
func (t *Tools) AskOf(e *schema.Event, k *schema.Raw) Ask {
	a := askOf(k.Value)
	if c := t.moved(e); c != nil && a.Tool == "" && isTooLarge(a.Offered) {
		a.Tool, _, _ = strings.Cut(c.ID, "#")
	}
	return a
}

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
		a := t.AskOf(e, k)
		if c := t.Of(e, a.Tool); c != nil {
			c.Asks = append(c.Asks, a)
		}
	case acp.MethodRequestPermission + "/decision":
		a := DecisionOf(k.Value)
		if c := t.Of(e, a.Tool); c != nil {
			c.Decide(a)
		}
	default:
		c, edits, content := t.Told(e, k)
		if edits != nil {
			c.Edits = edits
		}
		if content != nil {
			c.Content = content
		}
	}
}

// Told gives the edits in a tool's frame, and what else is told there as a list of contents, or as a
// reference to the frame; and the tool's card: nil if the record is of no known tool. Where the record is too
// large to stand in its event, the edits are those of the tool's output.
func (t *Tools) Told(e *schema.Event, k *schema.Raw) (c *Card, edits []Edit, content schema.JSON) {
	if !isTool(k) {
		return nil, nil, nil
	}
	v := Parse(k.Value)
	if _, ok := tooLarge(v); ok {
		if c = t.moved(e); c == nil {
			return nil, nil, nil
		}
		if c.Output == nil && c.Content == nil {
			content = k.Value
		}
		return c, editsIn(Parse(c.Output)), content
	}
	tool, _ := v.Get("toolCallId").Text()
	if c = t.Of(e, tool); c == nil {
		return nil, nil, nil
	}
	return c, editsIn(v.Get("content")), toldBeside(v.Get("content"))
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
