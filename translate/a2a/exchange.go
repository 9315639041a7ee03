package a2a

import (
	"net/url"
	"slices"
	"strings"

	"github.com/steno-io/steno/schema"
	wire "github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/translate"
)

// exchange is one HTTP request with what answers it, or one push.
type exchange struct {
	id      string
	call    wire.Call
	method  string // in source labels
	binding string
	dialect wire.Dialect // that its request spoke; objects may differ
	status  int          // HTTP status of the answer, 0 if not known
	turn    uint64       // frame of the request that brought the user's words; 0 if there was none
	streams bool         // items of a stream came
	ended   bool
	asked   *task   // that its request named
	task    *task   // that an answer named last
	tasks   []*task // that answers named
	loose   *task   // for what names no task
	users   []userKey
	counts  map[digest]uint32 // occurrences in this exchange
	tail    []byte            // the beginning of an event whose rest has not come
}

// Bindings in source labels.
const (
	bindingRPC  = "jsonrpc"
	bindingREST = "rest"
	bindingPush = "push"
)

// methodPush stands for the method of a push, which has none.
const methodPush = "PushNotification"

// exchange finds an exchange by its id; what comes behind its end reopens it.
func (x *fold) exchange(id string) *exchange {
	e := x.exchanges[id]
	if e == nil {
		e = &exchange{id: id, ended: true}
		x.exchanges[id] = e
	}
	if e.ended {
		e.ended = false
		x.going = append(x.going, e)
	}
	return e
}

// witness takes what HTTP said.
func (x *fold) witness(e *exchange, evidence wire.Evidence) {
	if evidence.Status != 0 {
		e.status = evidence.Status
	}
	if call, dialect := wire.ReadPath(evidence.Method, evidence.Path); call != "" && e.call == "" {
		e.call, e.method, e.binding, e.dialect = call, string(call), bindingREST, dialect
	}
	if _, query, _ := strings.Cut(evidence.Path, "?"); evidence.Version == "" && query != "" {
		if values, err := url.ParseQuery(query); err == nil { // a version that cannot be read says nothing
			evidence.Version = values.Get("A2A-Version")
		}
	}
	if v := wire.ReadVersion(evidence.Version); v != "" {
		e.dialect = v
	}
}

// touch notes that an answer of the exchange named the task.
func (e *exchange) touch(t *task) {
	if e.task == t {
		return
	}
	e.task = t
	t.seen = true
	if slices.Contains(e.tasks, t) {
		return
	}
	e.tasks = append(e.tasks, t)
	t.uses++
	if e.streams {
		t.streams++
	}
}

// anonymous is the task of what names none.
func (x *fold) anonymous(e *exchange) *task {
	if e.loose == nil {
		e.loose = x.newTask("", "")
	}
	return e.loose
}

// endExchange folds the end of an exchange. The end of a stream ends no task: what was open is made
// durable as it stands. With cut, the exchange's own end was not seen.
func (x *fold) endExchange(e *exchange, cut bool) {
	if e.ended {
		return
	}
	e.ended = true
	x.going = slices.DeleteFunc(x.going, func(other *exchange) bool { return other == e })
	if e.loose != nil {
		x.endLoose(e, e.loose, cut)
	}
	for _, t := range e.tasks {
		t.uses--
		if e.streams {
			t.streams--
		}
		x.leave(e, t)
	}
	e.tasks, e.task, e.counts, e.tail, e.streams = nil, nil, nil, nil, false
}

// leave ends the exchange's part in a task.
func (x *fold) leave(e *exchange, t *task) {
	class := t.state.Class()
	switch {
	case t.stopped:
		x.flush(t, schema.BoundaryEnd, 0)
		if t.uses == 0 {
			t.forget()
		}
	case !e.streams || t.streams > 0: // a poll ends nothing, and another stream goes on
	case class == wire.Interrupted:
		x.flush(t, schema.BoundaryEnd, 0)
	default:
		x.flush(t, schema.BoundaryEnd, translate.Of(schema.FlagPartial))
		x.noteNow(t, "stream ended without a terminal state", 0)
	}
}

// endLoose ends what named no task: a Message alone is the whole answer, if its end was seen.
func (x *fold) endLoose(e *exchange, t *task, cut bool) {
	answered := t.messages > 0 && !cut
	flags := translate.FlagSet(0)
	if !answered {
		flags = translate.Of(schema.FlagPartial)
	}
	x.flush(t, schema.BoundaryEnd, flags)
	t.message = nil
	if answered && len(e.tasks) == 0 && !t.stopped {
		x.stop(t, wire.Completed, &schema.Stop{Reason: schema.StopEndTurn}, translate.Of(schema.FlagInferred))
	}
}
