package acp

import (
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// toolUpsert folds what is new about a tool call in version 2, which has no other way to begin one: the
// first upsert of an id is the call. ok is false if it has no id.
func (x *fold) toolUpsert(s *session, l *lane, update jsontree.Value, flags translate.FlagSet) (ok bool) {
	id, ok := toolID(update)
	if !ok {
		return false
	}
	t, status := x.tool(s, l, id, false), upsertStatus(update)
	if !t.called {
		x.closeNameless(s, l, schema.BoundaryToolCall)
	}
	if update.Get("content").Present() || acp.ToolEnded(status) {
		x.endPieces(s, l, acp.ToolCallContentChunk, update.Get("toolCallId"))
	}
	t.patch(update)
	if !t.called {
		t.called = true
		x.emitHere(s, &schema.ToolCall{Tool: t.label(), CallID: t.id, Input: t.input}, flags|t.flags)
	}
	x.toolMoves(s, t, status, flags)
	if status != "" && !acp.KnownToolStatus(status) {
		flags |= translate.Of(schema.FlagUnrecognised)
	}
	x.rawHere(s, updateSource(acp.ToolCallUpdate), x.payload(update), flags)
	return true
}

// upsertStatus is the status that an upsert gives: null is the one that a call begins with, and empty
// means that it stays.
func upsertStatus(update jsontree.Value) string {
	v := update.Get("status")
	if v.Present() && !v.Given() {
		return acp.ToolPending
	}
	status, _ := v.Text()
	return status
}

// patch takes over what an upsert says: absent leaves a field as it is, null clears it, a value replaces
// it.
func (t *tool) patch(update jsontree.Value) {
	patch(&t.title, update.Get("title"))
	patch(&t.name, update.Get("name"))
	if input := update.Get("rawInput"); input.Present() {
		t.input = translate.Whole(input.Raw())
	}
	if t.resulted {
		return
	}
	if output := update.Get("rawOutput"); output.Present() {
		t.output = translate.Whole(output.Raw())
	}
	if content := update.Get("content"); content.Present() {
		t.content = nil
		for element := range content.Children() {
			t.content = append(t.content, translate.Whole(element.Raw()))
		}
	}
}

// toolContent folds a piece of a tool's content; ok is false if it does not say of which tool, or what.
func (x *fold) toolContent(s *session, l *lane, update jsontree.Value, flags translate.FlagSet) (ok bool) {
	id, ok := toolID(update)
	if !ok || !x.piece(s, l, acp.ToolCallContentChunk, update, flags) {
		return false
	}
	if t := x.tool(s, l, id, false); !t.resulted {
		t.content = append(t.content, translate.Whole(update.Get("content").Raw()))
	}
	return true
}

// toolMoves moves the tool to the status: the result, then the state. A status that is not known is that
// of a tool at work.
func (x *fold) toolMoves(s *session, t *tool, status string, flags translate.FlagSet) {
	switch status {
	case "":
	case acp.ToolCompleted, acp.ToolFailed:
		if t.resulted {
			break
		}
		output, failed := t.result(), status == acp.ToolFailed
		t.resulted, t.output, t.content = true, nil, nil
		x.emitHere(s, &schema.ToolResult{CallID: t.id, Output: output, IsError: failed}, flags|t.flags)
		t.move(x.frame.At, schema.ToolPhase{Phase: schema.Completed, Success: !failed, Output: translate.OutputText(output), ConfirmedBy: t.confirmed})
	case acp.ToolCancelled:
		t.move(x.frame.At, schema.ToolPhase{Phase: schema.Cancelled, Reason: schema.Interrupted})
	case acp.ToolPaused:
		t.move(x.frame.At, schema.ToolPhase{Phase: schema.Executing, Progress: acp.ToolPaused})
	case acp.ToolPending:
		if t.phase.Phase != schema.WaitingConfirmation { // it still waits
			t.move(x.frame.At, schema.ToolPhase{Phase: schema.Streaming})
		}
	default:
		t.move(x.frame.At, schema.ToolPhase{Phase: schema.Executing})
	}
	x.showTool(s, t, flags)
}

// result is the tool's own value, else the content that came, else null.
func (t *tool) result() schema.JSON {
	if t.output != nil || len(t.content) == 0 {
		return t.output
	}
	dst := schema.JSON{'['}
	for i, element := range t.content {
		if i > 0 {
			dst = append(dst, ',')
		}
		if element == nil {
			element = schema.JSON("null")
		}
		dst = append(dst, element...)
	}
	return append(dst, ']')
}
