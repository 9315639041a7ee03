package a2a

import (
	"bytes"
	"time"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// call is a tool call as it stands.
type call struct {
	id        string
	name      string
	title     string
	input     schema.JSON
	phase     schema.ToolPhase
	shown     *schema.ToolState // as given last
	seen      time.Time         // first frame
	executing time.Time         // first frame in that phase; zero if never
	confirmed schema.ConfirmedBy
	called    bool
	resulted  bool
}

// tool folds a data part that follows a convention; ok is false for any other part.
func (x *fold) tool(t *task, part, data jsontree.Value) (ok bool) {
	if data.Kind() != jsontree.Object || x.profile.Tools == toolsNone {
		return false
	}
	for _, c := range conventions {
		if x.profile.Tools != "" && x.profile.Tools != c.name {
			continue
		}
		if s, ok := c.read(part, data); ok {
			x.step(t, s)
			return true
		}
	}
	return false
}

// step gives what is new about a call: the call and the result once each, the state when it changed.
func (x *fold) step(t *task, s step) {
	c := t.callIDs[s.id]
	if c == nil {
		c = &call{id: s.id, seen: x.frame.At, phase: schema.ToolPhase{Phase: schema.Streaming}}
		t.callIDs[s.id] = c
		t.calls = append(t.calls, c)
	}
	if s.name != "" {
		c.name = s.name
	}
	if s.title != "" {
		c.title = s.title
	}
	if input := translate.Whole(s.input.Raw()); input != nil {
		c.input = input
	}
	flags := t.flags
	if t.stopped {
		flags |= translate.Of(schema.FlagLate)
	}
	if s.calls && !c.called {
		c.called = true
		x.emitHere(t, &schema.ToolCall{Tool: c.name, CallID: c.id, Input: translate.Whole(s.input.Raw())}, flags)
	}
	output := translate.Whole(s.output.Raw())
	if s.results && !c.resulted {
		c.resulted = true
		x.emitHere(t, &schema.ToolResult{CallID: c.id, Output: output, IsError: s.failed}, flags)
	}
	x.enter(c, s, output)
	x.showCall(t, c, flags)
}

// enter moves the call to the phase that a part says; an ended call stays as it ended. A call that
// waited and has a result without any decision was answered by the user, who is the only one asked.
func (x *fold) enter(c *call, s step, output schema.JSON) {
	was := c.phase.Phase
	if s.phase == "" || was.Ended() || s.phase == schema.Streaming && was != schema.Streaming {
		return
	}
	if s.decided || s.results && was == schema.WaitingConfirmation && x.frame.From == schema.FromClient {
		c.confirmed = schema.ConfirmedByUser
	}
	next := schema.ToolPhase{Phase: s.phase}
	at := x.frame.At
	switch s.phase {
	case schema.WaitingConfirmation:
		next.Input, next.Description = c.input, c.label()
		next.ApprovalID = string(schema.AppendString(nil, c.id))
	case schema.Executing:
		if c.executing.IsZero() {
			c.executing = at
		} else {
			next.ElapsedMs = translate.Elapsed(c.executing, at)
		}
	case schema.Completed:
		since := c.executing
		if since.IsZero() {
			since = c.seen
		}
		next.ElapsedMs, next.Success, next.Output, next.ConfirmedBy = translate.Elapsed(since, at), !s.failed, translate.OutputText(output), c.confirmed
		if s.display != "" {
			next.Output = &s.display
		}
	case schema.Cancelled:
		next.Reason = s.reason
		if next.Reason == "" {
			next.Reason = schema.Interrupted
			if was == schema.WaitingConfirmation {
				next.Reason = schema.Denied
			}
		}
	}
	c.phase = next
}

// label is what people call the tool.
func (c *call) label() string {
	if c.title != "" {
		return c.title
	}
	return c.name
}

// state is the call's whole state now.
func (c *call) state() *schema.ToolState {
	state := &schema.ToolState{ToolID: c.id, Name: c.name, Title: c.title, Input: c.input, State: c.phase}
	if c.phase.Phase == schema.Streaming {
		state.State.PartialInput = c.input
	}
	return state
}

// showCall gives the call's state if its phase, name, title or input changed.
func (x *fold) showCall(t *task, c *call, flags translate.FlagSet) {
	next := c.state()
	if was := c.shown; was != nil && was.State.Phase == next.State.Phase && was.Name == next.Name && was.Title == next.Title &&
		bytes.Equal(was.Input, next.Input) {
		return
	}
	c.shown = next
	x.emitHere(t, next, flags)
}

// interruptTools cancels the calls of a task that have not ended.
func (x *fold) interruptTools(t *task) {
	for _, c := range t.calls {
		if c.phase.Phase.Ended() {
			continue
		}
		c.phase = schema.ToolPhase{Phase: schema.Cancelled, Reason: schema.Interrupted}
		x.showCall(t, c, t.flags)
	}
}
