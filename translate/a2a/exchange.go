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
	id       string
	call     wire.Call
	method   string // in source labels
	line     string // HTTP's request line
	binding  string
	dialect  wire.Dialect // that its request spoke; objects may differ
	status   int          // HTTP status of the answer, 0 if not known
	turn     uint64       // frame of the request that brought the user's words; 0 if there was none
	streams  bool         // items of a stream came
	ended    bool         // there is nothing more to fold
	closed   bool         // its close has come
	answered bool         // an object or an error came
	asked    *task        // that its request named
	task     *task        // that an answer named last
	tasks    []*task      // that answers named
	loose    *task        // for what names no task
	users    []userKey
	counts   map[digest]uint32 // occurrences in this exchange
	tail     []byte            // the beginning of an event whose rest has not come

	// The last frame that was no copy, for the copy that may stand behind it.
	text     *growing // that accounts for it
	spoke    *task    // that its Raw named
	heralded string   // the evidence of a copy has come: the version it was made in
}

// Bindings in source labels.
const (
	bindingRPC  = "jsonrpc"
	bindingREST = "rest"
	bindingPush = "push"
)

// methodPush stands for the method of a push, which has none.
const methodPush = "PushNotification"

// known finds an exchange by its id, as it stands.
func (x *fold) known(id string) *exchange {
	e := x.exchanges[id]
	if e == nil {
		e = &exchange{id: id, ended: true, closed: true}
		x.exchanges[id] = e
	}
	return e
}

// forget frees what an exchange was kept with: its close has come. A frame behind it begins another of
// that id.
func (x *fold) forget(e *exchange) {
	delete(x.exchanges, e.id)
	if x.injected[e.id].id == "" { // else a repetition may still show that the peer has taken it
		delete(x.injected, e.id)
	}
	if t := e.loose; t != nil && len(t.calls) == 0 { // all that it said is durable, and nobody can name it
		x.order = slices.DeleteFunc(x.order, func(other *task) bool { return other == t })
	}
}

// exchange finds an exchange that goes on; what comes behind its end reopens it.
func (x *fold) exchange(id string) *exchange {
	e := x.known(id)
	x.reopen(e)
	return e
}

func (x *fold) reopen(e *exchange) {
	e.ended = false
	if e.closed {
		x.begin(e)
	}
}

// witness takes what HTTP said.
func (x *fold) witness(e *exchange, evidence wire.Evidence) {
	if evidence.Status != 0 {
		e.status = evidence.Status
	}
	if evidence.Path != "" && x.title.of == nil {
		e.line = requestLine(evidence)
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
func (x *fold) touch(e *exchange, t *task) {
	if e.task == t {
		return
	}
	e.task = t
	if !t.seen && !t.stopped {
		x.unfinished++
	}
	t.seen = true
	x.breakOff(t, false)
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
// durable as it stands. With cut, the exchange's own end was not seen; why is what the tap says of that.
func (x *fold) endExchange(e *exchange, cut bool, why string) {
	if e.ended {
		return
	}
	e.ended = true
	if e.loose != nil {
		x.endLoose(e, e.loose, cut)
	}
	for _, t := range e.tasks {
		t.uses--
		if e.streams {
			t.streams--
		}
		x.leave(e, t, why)
		x.breakOff(t, t.uses == 0 && (e.streams || cut))
	}
	e.tasks, e.task, e.counts, e.tail, e.streams = nil, nil, nil, nil, false
}

// leave ends the exchange's part in a task.
func (x *fold) leave(e *exchange, t *task, why string) {
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
		note := "stream ended without a terminal state"
		if why != "" {
			note += ": " + why
		}
		x.noteNow(t, note, 0)
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
