package a2a

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/steno-io/steno/schema"
	wire "github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// maxFaultBody is the longest body that a text error is quoted from, in bytes; its Raw has all of it.
const maxFaultBody = 1 << 10

// object folds one answer: its error, and all arms of its result.
func (x *fold) object(e *exchange, v jsontree.Value) {
	envelope := wire.ReadEnvelope(v)
	if e.binding == "" {
		e.binding = bindingREST
		if envelope.RPC {
			e.binding = bindingRPC
		}
	}
	x.dialect = ""
	x.arms = wire.AppendArms(x.arms[:0], envelope.Result)
	arms := x.arms
	if x.failing && len(arms) == 0 && !envelope.Error.Present() {
		envelope.Error = envelope.Result
	}
	e.answered = true
	fault := envelope.Error.Present() || e.status >= 400 && len(arms) == 0
	text := ""
	switch {
	case fault:
		text = wire.FaultText(envelope.Error)
		if !envelope.Error.Present() {
			text = statusText(e.status, wire.FaultText(envelope.Result))
		}
		x.entitleFault(e, envelope.Error)
		x.label = labelError
		x.show(e.task, 0)
	case len(arms) > 1:
		x.label = labelAmbiguous
		x.show(e.task, 0)
	case len(arms) == 1:
		x.label = string(arms[0].Kind)
	default:
		x.other(e, envelope.Result)
	}
	if !fault && (e.status == 0 || e.status/100 == 2) && envelope.Result.Kind() == jsontree.Object {
		x.taken(e.id, e.asked)
	}
	stopped := false
	for _, a := range arms {
		x.dialect = dialectOf(e, a)
		stopped = x.arm(e, a, text) || stopped
	}
	if fault && !stopped {
		x.failed(e, text)
	}
}

// dialectOf is the dialect of an object that does not tell: REST of 0.3 looks like 1.0, and its
// exchange knows.
func dialectOf(e *exchange, a wire.Arm) wire.Dialect {
	switch {
	case a.Dialect != "":
		return a.Dialect
	case e.dialect == wire.V01, e.dialect == wire.V03 && e.binding == bindingREST:
		return e.dialect
	}
	return wire.V10
}

// arm folds one object; fault is the error that came with it. It reports whether its task stopped.
func (x *fold) arm(e *exchange, a wire.Arm, fault string) (stopped bool) {
	switch a.Kind {
	case wire.Message:
		x.message(e, a)
		return false
	case wire.ArtifactUpdate:
		x.artifactUpdate(e, a)
		return false
	case wire.StatusUpdate:
		return x.statusUpdate(e, a, fault)
	}
	return x.taskSnapshot(e, a, fault)
}

// other folds an answer that is no object of a conversation. Of a list only tasks of this
// conversation count.
func (x *fold) other(e *exchange, v jsontree.Value) {
	list := wire.Field(v, "tasks")
	if list.Kind() != jsontree.Array {
		x.label = labelResult
		if e.call == "" && v.Given() {
			x.label = labelUnrecognised
			x.flags |= translate.Of(schema.FlagUnrecognised)
		}
		return
	}
	x.label = labelTasks
	x.shared = true
	for item := range list.Children() {
		for _, a := range wire.AppendArms(nil, item) {
			if a.Kind == wire.Task && (x.tasks[string(wire.TaskID(a))] != nil || x.contexts[string(wire.ContextID(a.Value))]) {
				x.dialect = dialectOf(e, a)
				x.taskSnapshot(e, a, "")
			}
		}
	}
}

// failed folds an error: it ends an exchange that has no task, never a task.
func (x *fold) failed(e *exchange, text string) {
	x.label = labelError
	e.answered = true
	x.show(e.task, 0)
	switch {
	case x.isOurs(e): // what becomes of an intervention is told as that
		delete(x.injected, e.id)
	case e.call.Sends():
		x.blame(e, text)
	}
}

// blame says that a call which sends has failed.
func (x *fold) blame(e *exchange, text string) {
	t := e.task
	if t == nil && e.asked != nil && e.asked.seen && !e.asked.stopped {
		t = e.asked
	}
	switch {
	case t == nil:
		t = x.anonymous(e)
		x.flush(t, schema.BoundaryEnd, translate.Of(schema.FlagPartial))
		if !t.stopped {
			x.stop(t, wire.Failed, &schema.Stop{Reason: schema.StopError, Detail: text}, 0)
		}
	case !t.stopped:
		x.noteNow(t, strings.TrimSpace("stream error "+text), 0)
	}
}

// statusText is an HTTP error in one line.
func statusText(status int, message string) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + message)
}

// statusFault is an HTTP error whose body is no JSON.
func statusFault(status int, body []byte) string {
	if len(body) > maxFaultBody || !utf8.Valid(body) {
		body = nil
	}
	return statusText(status, strings.TrimSpace(string(body)))
}
