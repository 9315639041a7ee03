package a2a

import (
	"net/url"
	"strings"

	"github.com/steno-io/steno/schema/wire/jsontree"
)

// Names are the task and the conversation that something names; empty where it names none.
type Names struct {
	Task    string
	Context string
}

// None reports whether nothing is named.
func (n Names) None() bool { return n == Names{} }

// RequestNames reads what a request names: in its body (an absent value for none), else in its path
// and query. Of a batch the first request that names anything counts.
func RequestNames(e Evidence, body jsontree.Value) Names {
	named := pathNames(e.Path)
	for _, request := range each(body) {
		n := asked(e, request)
		if n.Task == "" {
			n.Task = named.Task
		}
		if n.Context == "" {
			n.Context = named.Context
		}
		if !n.None() {
			return n
		}
	}
	return named
}

func asked(e Evidence, v jsontree.Value) Names {
	envelope := ReadEnvelope(v)
	params, call, dialect := v, Call(""), ReadVersion(e.Version)
	if envelope.RPC {
		params = envelope.Params
		var says Dialect
		if call, says = ReadMethod(envelope.Method); dialect == "" {
			dialect = says
		}
	}
	task, context := AskedNames(call, dialect, params)
	return Names{string(task), string(context)}
}

// AskedNames is what a request's params name. The bytes are the reader's.
func AskedNames(call Call, dialect Dialect, params jsontree.Value) (task, context []byte) {
	message := Field(params, "message")
	task, context = ID(message, "taskId"), ContextID(message)
	if len(task) == 0 {
		task = ID(params, "taskId")
	}
	// What 0.1 sends, and what every call about a task calls it, but for two of 1.0: they are about a push
	// configuration, whose id it is. Before 1.0 they call the task so, too.
	sent := dialect == V03 && message.Kind() == jsontree.Object
	configs := dialect == V10 && (call == GetPush || call == DeletePush)
	if len(task) == 0 && !sent && !configs {
		task = ID(params, "id")
	}
	if len(context) == 0 {
		context = ContextID(params)
	}
	return task, context
}

// pathNames reads …/tasks/{id}, …/tasks/{id}:cancel, …/tasks/{id}/pushNotificationConfigs, and the
// contextId of a list.
func pathNames(path string) (n Names) {
	path, query, _ := strings.Cut(path, "?")
	segments := strings.Split(path, "/")
	for i, s := range segments[:len(segments)-1] {
		if s == "tasks" {
			task, _, _ := strings.Cut(segments[i+1], ":")
			if plain, err := url.PathUnescape(task); err == nil { // else it is a name as it stands
				task = plain
			}
			n.Task = task
		}
	}
	if values, err := url.ParseQuery(query); err == nil { // a query that cannot be read names nothing
		n.Context = values.Get("contextId")
	}
	return n
}

// AnswerNames reads what an answer, an item of a stream or a push names.
func AnswerNames(body jsontree.Value) (n Names) {
	for _, answer := range each(body) {
		for _, arm := range AppendArms(nil, ReadEnvelope(answer).Result) {
			if n.Task == "" {
				n.Task = string(TaskID(arm))
			}
			if n.Context == "" {
				n.Context = string(ContextID(arm.Value))
			}
			if n.Task != "" && n.Context != "" {
				return n
			}
		}
	}
	return n
}

// each gives the members of a batch, or the value itself.
func each(v jsontree.Value) []jsontree.Value {
	if v.Kind() != jsontree.Array {
		return []jsontree.Value{v}
	}
	var all []jsontree.Value
	for element := range v.Children() {
		all = append(all, element)
	}
	return all
}
