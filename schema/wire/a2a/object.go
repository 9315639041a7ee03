package a2a

import "github.com/steno-io/steno/schema/wire/jsontree"

// Kind says what an object is.
type Kind string

// Kinds of objects, as the arms of a 1.0 answer are called.
const (
	Task           Kind = "task"
	Message        Kind = "message"
	StatusUpdate   Kind = "statusUpdate"
	ArtifactUpdate Kind = "artifactUpdate"
)

// Dialect is how an object is written.
type Dialect string

// Dialects. REST of 0.3 is ProtoJSON: its updates look like those of 1.0.
const (
	V01 Dialect = "0.1"
	V03 Dialect = "0.3"
	V10 Dialect = "1.0"
)

// Arm is one object found.
type Arm struct {
	Kind    Kind
	Value   jsontree.Value
	Dialect Dialect // empty where the object does not tell
}

// arms in the order in which they are taken.
var arms = [...]Kind{Task, Message, StatusUpdate, ArtifactUpdate}

// kinds are the discriminators of 0.3.
var kinds = map[string]Kind{
	"task": Task, "message": Message, "status-update": StatusUpdate, "artifact-update": ArtifactUpdate,
}

// AppendArms appends what an answer holds: all arms of a wrapper, in the order task, message, status
// update, artifact update; else the object itself, by its kind or its fields. Nothing is appended for
// anything else.
func AppendArms(dst []Arm, v jsontree.Value) []Arm {
	if v.Kind() != jsontree.Object {
		return dst
	}
	if kind, ok := Field(v, "kind").Bytes(); ok {
		if k, known := kinds[string(kind)]; known {
			return append(dst, Arm{Kind: k, Value: v, Dialect: V03})
		}
	}
	if v.Get("role").Kind() != jsontree.String { // a Message has no arms, whatever it is called inside
		before := len(dst)
		for _, k := range arms {
			if inner := Field(v, string(k)); inner.Kind() == jsontree.Object {
				dst = append(dst, Arm{Kind: k, Value: inner, Dialect: wrapped(k, inner)})
			}
		}
		if len(dst) > before {
			return dst
		}
	}
	if k := byFields(v); k != "" {
		return append(dst, Arm{Kind: k, Value: v, Dialect: flat(k, v)})
	}
	return appendLeaked(dst, v)
}

// appendLeaked looks into what generated code puts around an object when it leaks to the wire:
// {"root":{…}} and {"payload":{"$case":"task","value":{…}}}.
func appendLeaked(dst []Arm, v jsontree.Value) []Arm {
	if root := v.Get("root"); root.Kind() == jsontree.Object && !root.Get("root").Present() {
		return AppendArms(dst, root)
	}
	payload := v.Get("payload")
	for _, k := range arms {
		if payload.Get("$case").Is(string(k)) {
			inner := payload.Get("value")
			if !inner.Present() {
				inner = payload.Get(string(k))
			}
			if inner.Kind() == jsontree.Object {
				dst = append(dst, Arm{Kind: k, Value: inner, Dialect: wrapped(k, inner)})
			}
		}
	}
	return dst
}

func byFields(v jsontree.Value) Kind {
	hasID := Field(v, "id").Given() || Field(v, "taskId").Given()
	status := Field(v, "status")
	switch {
	case Field(v, "artifact").Kind() == jsontree.Object && (hasID || Field(v, "contextId").Given()):
		return ArtifactUpdate
	case status.Given() && Field(v, "taskId").Given():
		return StatusUpdate
	case Field(v, "id").Given() && (status.Given() || Field(v, "state").Given()):
		return Task
	case Field(v, "role").Given() || Field(v, "parts").Kind() == jsontree.Array:
		return Message
	}
	return ""
}

// wrapped is the dialect of an arm: only 0.3 has kind inside, content in the place of parts, or final.
func wrapped(kind Kind, v jsontree.Value) Dialect {
	if Field(v, "kind").Kind() == jsontree.String || isContent(v) || kind == StatusUpdate && Field(v, "final").Present() {
		return V03
	}
	return ""
}

// flat is the dialect of an object without kind and wrapper.
func flat(kind Kind, v jsontree.Value) Dialect {
	if Field(v, "sessionId").Present() || Field(Field(v, "artifact"), "index").Present() {
		return V01
	}
	for _, part := range AppendParts(nil, v) {
		if part.Get("type").Kind() == jsontree.String {
			return V01
		}
	}
	return wrapped(kind, v)
}

// isContent reports whether a message has its parts under content, as the REST binding of 0.3 does.
func isContent(v jsontree.Value) bool {
	return Field(v, "content").Kind() == jsontree.Array
}

// TaskID is the task that an object names: a Task's own id, and an update's in 0.1.
func TaskID(a Arm) []byte {
	if id := ID(a.Value, "taskId"); len(id) > 0 || a.Kind == Message {
		return id
	}
	return ID(a.Value, "id")
}

// ContextID is the conversation that an object names; sessionId in 0.1.
func ContextID(v jsontree.Value) []byte {
	if id := ID(v, "contextId"); len(id) > 0 {
		return id
	}
	return ID(v, "sessionId")
}

// StatusOf is the status object of a Task or an update, or the state itself where it stands in the
// status's place.
func StatusOf(v jsontree.Value) jsontree.Value {
	if status := Field(v, "status"); status.Given() {
		return status
	}
	return Field(v, "state")
}
