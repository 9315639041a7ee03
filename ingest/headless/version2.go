package headless

import (
	"fmt"

	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// version2 is version 2 of the protocol, a preview: the answer to the prompt only says that the agent took
// it, and the turn ends when the agent says that it is idle.
//
//	prompt ──▶ running ──▶ its user message ──▶ … ──▶ idle, with the stop reason
//	      ╲──────────── answered: taken ────────────╱
//
// The answer may come before or behind any of them, but for an error, which ends the story. An idle state
// from before the agent took the prompt ends other work, such as a hook's.
type version2 struct {
	told     told
	working  bool   // the agent has said so, and not that it is idle
	inserted bool   // a user message came: the agent took the prompt, whether it has answered or not
	accepted bool   // the prompt was answered
	idle     []byte // the state that has ended the turn
}

// introduce2 says beside version 1's words who the client is; it serves nothing that version 2 has.
func introduce2(hello object, _ Options) {
	hello["info"] = hello["clientInfo"]
	hello["capabilities"] = object{}
}

func (*version2) session(cwd string) object { return object{"cwd": cwd} }

// about is the tool call, or the object that names it beside a command.
func (*version2) about(params jsontree.Value) (call jsontree.Value, title string) {
	title, _ = params.Get("title").Text()
	subject := params.Get("subject")
	if subject.Get("type").Is(acp.SubjectToolCall) {
		subject = subject.Get("toolCall")
	}
	return subject.Get("toolCallId"), title
}

func (*version2) withdrawn() (any, *failure) { return outcome("", false), nil }

func (v *version2) hear(update jsontree.Value) []byte {
	if v.idle != nil {
		return nil // only the answer to the prompt is missing
	}
	switch variant, _ := update.Get("sessionUpdate").Text(); variant {
	case acp.UserMessage, acp.UserMessageChunk:
		v.inserted = true
	case acp.AgentMessage:
		v.told.whole(update)
	case acp.AgentMessageChunk:
		v.told.chunk(update)
	case acp.StateUpdate:
		return v.state(update)
	}
	return nil
}

func (v *version2) state(update jsontree.Value) []byte {
	word, _ := update.Get("state").Text()
	switch {
	case acp.Working(word):
		v.working = true
	case word != acp.StateIdle: // not known: the agent is busy
	case v.accepted:
		v.idle = whole(update)
		return v.idle
	case v.working && v.inserted:
		v.idle = whole(update)
	default:
		v.working = false
	}
	return nil
}

// answered takes a stop reason in the answer as version 1 means it, as the translator does.
func (v *version2) answered(result jsontree.Value) []byte {
	v.accepted = true
	if result.Get("stopReason").Kind() == jsontree.String {
		v.idle = whole(result)
	}
	return v.idle
}

// stop reads a stop reason that is no string as one that is not given.
func (*version2) stop(end jsontree.Value) (word string, err error) {
	word, ok := end.Get("stopReason").Text()
	_, known := acp.Stop(word)
	e := end.Get("error")
	switch {
	case !ok:
		return "", fmt.Errorf("%w: the agent has not said why the turn ended", ErrStopReason)
	case word == acp.EndError && e.Given():
		return word, fmt.Errorf("%w: %w", ErrTurn, refusal(e))
	case word == acp.EndError:
		return word, ErrTurn
	case !known:
		return word, fmt.Errorf("%w %q", ErrStopReason, cut([]byte(word)))
	}
	return word, nil
}

func (v *version2) said() (all, final string) { return v.told.said() }
