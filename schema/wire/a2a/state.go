package a2a

import (
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// State is a task's state as 0.3 JSON-RPC spells it. One that no version defines is kept, in the same
// spelling.
type State string

// States.
const (
	Submitted     State = "submitted"
	Working       State = "working"
	Completed     State = "completed"
	Failed        State = "failed"
	Canceled      State = "canceled"
	InputRequired State = "input-required"
	Rejected      State = "rejected"
	AuthRequired  State = "auth-required"
	Unspecified   State = "unknown"
)

// Class says what a state means for its task.
type Class int

// Classes. An interrupted task waits for somebody and has not ended. Unsaid is the state that says
// nothing, Unheard one that no version defines.
const (
	Unsaid Class = iota
	Running
	Interrupted
	Terminal
	Unheard
)

var classes = map[State]Class{
	Submitted: Running, Working: Running,
	Completed: Terminal, Failed: Terminal, Canceled: Terminal, Rejected: Terminal,
	InputRequired: Interrupted, AuthRequired: Interrupted,
	Unspecified: Unsaid, "": Unsaid,
}

// Class is the state's class.
func (s State) Class() Class {
	if c, ok := classes[s]; ok {
		return c
	}
	return Unheard
}

// numbers are the states as the proto numbers them.
var numbers = [...]State{Unspecified, Submitted, Working, Completed, Failed, Canceled, InputRequired, Rejected, AuthRequired}

// ReadState reads the state of a status object, or a state by itself: any spelling, or the number.
func ReadState(status jsontree.Value) State {
	v := status
	if status.Kind() == jsontree.Object {
		v = Field(status, "state")
	}
	switch v.Kind() {
	case jsontree.Number:
		raw := string(v.Raw())
		if len(raw) == 1 && int(raw[0]-'0') < len(numbers) {
			return numbers[raw[0]-'0']
		}
		return State(raw)
	case jsontree.String:
		text, _ := v.Bytes()
		if _, ok := classes[State(text)]; ok {
			return State(text)
		}
		return spell(string(text))
	}
	return ""
}

func spell(word string) State {
	word = strings.ToLower(strings.ReplaceAll(word, "_", "-"))
	word = strings.TrimPrefix(word, "task-state-")
	word = strings.TrimPrefix(word, "taskstate.") // an enum's name in Python
	switch word {
	case "cancelled":
		return Canceled
	case "unspecified":
		return Unspecified
	}
	return State(word)
}

// ReadRole reads a message's role: any spelling, or the number. ok is false where it names neither the
// user nor the agent.
func ReadRole(message jsontree.Value) (role schema.Role, ok bool) {
	v := Field(message, "role")
	word, _ := v.Bytes()
	if v.Kind() == jsontree.Number {
		word = v.Raw()
	}
	switch string(word) {
	case "user", "ROLE_USER", "1":
		return schema.User, true
	case "agent", "ROLE_AGENT", "2":
		return schema.Assistant, true
	}
	switch strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(string(word)), "role_"), "role.") {
	case "user":
		return schema.User, true
	case "agent", "assistant":
		return schema.Assistant, true
	}
	return "", false
}
