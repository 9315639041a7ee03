package render

import (
	"github.com/steno-io/steno/console/reading"
	"github.com/steno-io/steno/schema"
)

// tool writes an event of a tool. In a page that is written as things happen, a card grows by a line
// whenever its phase changes; in a whole page each card stands complete where the tool was first seen.
func (r *Renderer) tool(e *schema.Event) {
	c := r.card(e, toolID(e))
	if r.whole {
		if !c.drawn {
			r.drawWhole(c, e)
		}
		return
	}
	if _, ok := e.Kind.(*schema.ToolState); !ok { // its state follows, from the same frame
		r.held = e
		return
	}
	r.drawState(c, e, c.Update(e))
}

// joins writes a held call or result together with its state.
func (r *Renderer) joins(e *schema.Event) bool {
	state, ok := e.Kind.(*schema.ToolState)
	if !ok || e.WorkerSeq != r.held.WorkerSeq || state.ToolID != toolID(r.held) {
		return false
	}
	held := r.held
	r.held = nil
	c := r.card(e, state.ToolID)
	_, isResult := held.Kind.(*schema.ToolResult)
	newInput := c.Update(held)
	newInput = c.Update(e) || newInput
	r.drawState(c, e, newInput)
	if isResult && !c.Phase.Phase.Ended() {
		r.cardOutput(c)
	}
	return true
}

// alone writes a call or a result that no state follows.
func (r *Renderer) alone(e *schema.Event) {
	c := r.card(e, toolID(e))
	_, isResult := e.Kind.(*schema.ToolResult)
	newInput := c.Update(e)
	if isResult && c.Output == nil {
		return
	}
	r.cardHead(c, e)
	if newInput {
		r.cardInput(c)
	}
	if isResult {
		r.cardOutput(c)
	}
}

func (r *Renderer) drawState(c *card, e *schema.Event, newInput bool) {
	_, mark, words := c.phaseWords()
	if c.lastLine == mark+words && !newInput {
		return // its name or title is new, and the next line shows them
	}
	r.cardHead(c, e)
	if newInput {
		r.cardInput(c)
	}
	if c.Phase.Phase.Ended() {
		r.cardOutput(c)
	}
}

// drawWhole writes a card that has everything in it already.
func (r *Renderer) drawWhole(c *card, e *schema.Event) {
	c.drawn = true
	r.cardHead(c, e)
	r.cardInput(c)
	for i := range c.Asks {
		r.cardAsk(&c.Asks[i])
	}
	r.cardEdits(c.Edits)
	r.cardOutput(c)
	r.current = c.Key
}

// toolID is the tool that a tool's event is about.
func toolID(e *schema.Event) string {
	id, _ := reading.ToolID(e)
	return id
}
