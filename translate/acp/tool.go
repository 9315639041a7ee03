package acp

import (
	"bytes"
	"strconv"
	"time"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// tool is a tool call as it stands.
type tool struct {
	id        string // call id of its events
	peerID    string // as the peer says it
	called    bool   // a ToolCall was given
	name      string
	title     string
	input     schema.JSON
	phase     schema.ToolPhase
	shown     *schema.ToolState // as given last
	shownAt   time.Time
	seen      time.Time // first frame
	executing time.Time // first frame in that phase; zero if never
	confirmed schema.ConfirmedBy
	flags     translate.FlagSet

	// Of version 2 only, where each update patches what the ones before said.
	asked    string // title of the permission request that it waits for
	output   schema.JSON
	content  []schema.JSON
	resulted bool // a ToolResult was given
}

// tool finds the tool of an id. With again, a call that has ended gives place to a new one under the
// same id: it is never reopened.
func (x *fold) tool(s *session, l *lane, id string, again bool) *tool {
	t := l.tools[id]
	if t != nil && !(again && t.called && t.phase.Phase.Ended()) {
		return t
	}
	next := &tool{id: id, peerID: id, seen: x.frame.At, flags: l.flags, phase: schema.ToolPhase{Phase: schema.Streaming}}
	if s.tools[id]++; s.tools[id] > 1 {
		next.id = id + "#" + strconv.Itoa(s.tools[id])
		next.flags |= translate.Of(schema.FlagIDReused)
	}
	l.tools[id] = next
	l.keep(next)
	return next
}

// toolCall folds the start of a tool call; ok is false if it has no id.
func (x *fold) toolCall(s *session, l *lane, update jsontree.Value, flags translate.FlagSet) (ok bool) {
	id, ok := toolID(update)
	if !ok {
		return false
	}
	x.closeNameless(s, l, schema.BoundaryToolCall)
	t := x.tool(s, l, id, true)
	t.called = true
	t.describe(update)
	x.emitHere(s, &schema.ToolCall{Tool: t.label(), CallID: t.id, Input: translate.Whole(update.Get("rawInput").Raw())}, flags|t.flags)
	x.toolStatus(s, t, update, flags)
	x.rawHere(s, updateSource(acp.ToolCall), x.payload(update), flags)
	return true
}

// toolUpdate folds what is new about a tool call. An id never seen opens the tool's state only: no
// call is made up.
func (x *fold) toolUpdate(s *session, l *lane, update jsontree.Value, flags translate.FlagSet) (ok bool) {
	id, ok := toolID(update)
	if !ok {
		return false
	}
	t := x.tool(s, l, id, false)
	t.describe(update)
	x.toolStatus(s, t, update, flags)
	x.rawHere(s, updateSource(acp.ToolCallUpdate), x.payload(update), flags)
	return true
}

// toolID is the peer's id of the tool: a string, or a number by its text.
func toolID(update jsontree.Value) (id string, ok bool) {
	v := update.Get("toolCallId")
	if v.Kind() != jsontree.String && v.Kind() != jsontree.Number {
		return "", false
	}
	return string(idText(v)), true
}

// describe takes over what the update gives; null means not given in version 1.
func (t *tool) describe(update jsontree.Value) {
	if title, ok := update.Get("title").Text(); ok {
		t.title = title
	}
	if name, ok := update.Get("name").Text(); ok {
		t.name = name
	}
	if input := translate.Whole(update.Get("rawInput").Raw()); input != nil {
		t.input = input
	}
}

// label is the tool's name; its title where it has none.
func (t *tool) label() string {
	if t.name != "" {
		return t.name
	}
	return t.title
}

// toolStatus moves the tool to the update's status: the result, then the state.
func (x *fold) toolStatus(s *session, t *tool, update jsontree.Value, flags translate.FlagSet) {
	status, _ := update.Get("status").Text()
	switch status {
	case acp.ToolCompleted, acp.ToolFailed:
		output := toolOutput(update)
		failed := status == acp.ToolFailed
		x.emitHere(s, &schema.ToolResult{CallID: t.id, Output: output, IsError: failed}, flags|t.flags)
		t.move(x.frame.At, schema.ToolPhase{Phase: schema.Completed, Success: !failed, Output: translate.OutputText(output), ConfirmedBy: t.confirmed})
	case acp.ToolInProgress:
		t.move(x.frame.At, schema.ToolPhase{Phase: schema.Executing})
	case acp.ToolPending:
		if t.phase.Phase != schema.WaitingConfirmation { // it still waits
			t.move(x.frame.At, schema.ToolPhase{Phase: schema.Streaming})
		}
	}
	x.showTool(s, t, flags)
}

// toolOutput is the tool's own value, else the content that the agent reported, else null.
func toolOutput(update jsontree.Value) schema.JSON {
	if output := translate.Whole(update.Get("rawOutput").Raw()); output != nil {
		return output
	}
	content := update.Get("content")
	for range content.Children() {
		return translate.Whole(content.Raw())
	}
	return nil
}

// move enters a phase; an ended tool stays as it ended.
func (t *tool) move(at time.Time, next schema.ToolPhase) {
	if t.phase.Phase.Ended() {
		return
	}
	switch next.Phase {
	case schema.Executing:
		if t.executing.IsZero() {
			t.executing = at
		}
	case schema.Completed:
		since := t.executing
		if since.IsZero() {
			since = t.seen
		}
		next.ElapsedMs = translate.Elapsed(since, at)
	}
	t.phase = next
}

// state is the tool's whole state at a time.
func (t *tool) state(at time.Time) *schema.ToolState {
	state := &schema.ToolState{ToolID: t.id, Name: t.label(), Title: t.title, Input: t.input, State: t.phase}
	switch t.phase.Phase {
	case schema.Streaming:
		state.State.PartialInput = t.input
	case schema.WaitingConfirmation:
		state.State.Input, state.State.Description = t.input, t.title
		if t.asked != "" {
			state.State.Description = t.asked
		}
	case schema.Executing:
		if at.After(t.executing) {
			state.State.ElapsedMs = translate.Elapsed(t.executing, at)
		}
	}
	return state
}

// showTool gives the tool's state if its phase, name, title, input or approval changed.
func (x *fold) showTool(s *session, t *tool, flags translate.FlagSet) {
	next := t.state(x.at)
	if was := t.shown; was != nil && was.State.Phase == next.State.Phase && was.State.ApprovalID == next.State.ApprovalID &&
		was.State.Progress == next.State.Progress &&
		was.Name == next.Name && was.Title == next.Title && bytes.Equal(was.Input, next.Input) {
		return
	}
	t.shown, t.shownAt = next, x.at
	x.emitHere(s, next, flags|t.flags)
}

// interruptTools cancels the lane's tools that have not ended, but those that go on.
func (x *fold) interruptTools(s *session, l *lane, goOn map[string]bool) {
	for _, t := range l.order {
		if t.phase.Phase.Ended() || goOn[t.peerID] {
			continue
		}
		t.phase = schema.ToolPhase{Phase: schema.Cancelled, Reason: schema.Interrupted}
		x.showTool(s, t, 0)
	}
}
