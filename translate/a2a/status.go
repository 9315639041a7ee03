package a2a

import (
	"github.com/steno-io/steno/schema"
	wire "github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// statusUpdate folds a new status; fault is the error that came with it. It reports whether the task
// stopped with it.
func (x *fold) statusUpdate(e *exchange, a wire.Arm, fault string) bool {
	t := x.taskOf(e, wire.TaskID(a), wire.ContextID(a.Value))
	status := wire.StatusOf(a.Value)
	message := wire.Field(status, "message")
	if x.repeated(e, t, x.statusKey(wire.ReadState(status), status, message)) {
		if g := t.notes.open; g != nil && message.Kind() == jsontree.Object {
			x.own(g, x.onlyText(message) && x.label == string(wire.StatusUpdate))
		}
		return false
	}
	return x.turn(e, t, status, wire.Metadata(a.Value), fault)
}

// turn brings the task into the state of a status, from an update or a snapshot.
func (x *fold) turn(e *exchange, t *task, status, meta jsontree.Value, fault string) (stopped bool) {
	state := wire.ReadState(status)
	message := wire.Field(status, "message")
	class := state.Class()
	same := state == t.state
	if t.stopped {
		x.afterStop(e, t, state, message, meta)
		return false
	}
	if class == wire.Running && t.state.Class() == wire.Interrupted {
		x.noteNow(t, "resumed: "+string(state), 0)
	}
	w, id := x.spoken(e, t, message, meta)
	if class == wire.Terminal {
		x.end(t, state, w, id, fault)
		return true
	}
	if class == wire.Interrupted {
		x.interrupt(t, state, w, id, same)
		return false
	}
	if class == wire.Unheard && !t.unheard[state] {
		if t.unheard == nil {
			t.unheard = map[wire.State]bool{}
		}
		t.unheard[state] = true
		x.noteNow(t, "state: "+string(state), 0)
	}
	if state != "" && state != wire.Unspecified {
		t.state = state
	}
	x.progress(t, w, id, same)
	return false
}

// spoken reads a status message. What it says in the user's role is the user's own words come back.
func (x *fold) spoken(e *exchange, t *task, message, meta jsontree.Value) (words, string) {
	if message.Kind() != jsontree.Object {
		return words{pure: true}, ""
	}
	id := string(wire.ID(message, "messageId"))
	if role, ok := wire.ReadRole(message); ok && role == schema.User {
		x.echo(e, t, message, id, schema.FlagEcho)
		return words{}, ""
	}
	w := x.words(t, message, "\n", meta)
	if t.know(id, w.text) && w.text != "" && id != "" {
		w.text, w.thought, w.pieces = "", "", nil // said before
	}
	return w, id
}

// echo gives the user's words where they were not heard before.
func (x *fold) echo(e *exchange, t *task, message jsontree.Value, id string, flag schema.Flag) {
	w := x.words(t, message, "\n", jsontree.Value{})
	x.echoed(id, t)
	if x.heard(e, id, w.text) {
		return
	}
	x.tells(e, t, message, w, flag)
}

// progress folds what is said while the task goes on. A frame that repeats the state and brings text
// alone is a piece of that text.
func (x *fold) progress(t *task, w words, id string, same bool) {
	piece := w.pure && same && x.label == string(wire.StatusUpdate)
	if w.thought != "" && x.extend(t, &t.thought, w.thought, more, 0) {
		x.own(t.thought.open, piece && w.text == "")
	}
	if w.text != "" {
		if x.profile.StatusText == statusAnswer {
			x.answerOf(t, w.text, piece)
		} else if x.note(t, id, w.text, 0) {
			x.own(t.notes.open, piece)
		} else if t.notes.open != nil {
			x.own(t.notes.open, piece)
		}
	}
	x.pieces(t, w.pieces, t.flags)
}

// statusArtifact is where progress goes that is the answer; no index is spelt like it.
var statusArtifact = []byte("status")

// answerOf takes progress for the answer, as the profile says: it grows to the task's next boundary.
func (x *fold) answerOf(t *task, text string, piece bool) {
	art, _ := x.artifact(t, nil, statusArtifact, true)
	if x.extend(t, &art.answer, text, more, 0) {
		x.own(art.answer.open, piece)
	}
}

// interrupt folds a state that waits for somebody. It ends nothing.
func (x *fold) interrupt(t *task, state wire.State, w words, id string, same bool) {
	x.flush(t, schema.BoundaryTurnEnd, 0)
	t.state = state
	if !same || id != "" {
		x.statusSays(t, w, id, 0)
	}
	if !same {
		x.noteNow(t, "interrupted: "+string(state), 0)
	}
}

// end folds a terminal state: what is open, what its message says, the Stop.
func (x *fold) end(t *task, state wire.State, w words, id, fault string) {
	if state == wire.Completed && t.notes.open != nil && !t.answered && w.text == "" && !t.answering() {
		x.promote(t)
	}
	x.flush(t, schema.BoundaryTurnEnd, 0)
	x.statusSays(t, w, id, 0)
	detail := w.text
	if detail == "" {
		detail = fault
	}
	stop := &schema.Stop{Reason: schema.StopEndTurn}
	switch state {
	case wire.Failed:
		stop = &schema.Stop{Reason: schema.StopError, Detail: detail}
	case wire.Canceled:
		stop.Reason = schema.StopCancelled
	case wire.Rejected:
		stop = &schema.Stop{Reason: schema.StopOther, Detail: string(state)}
	}
	x.interruptTools(t)
	x.stop(t, state, stop, 0)
}

// answering reports whether an artifact that is still open says something.
func (t *task) answering() bool {
	for _, a := range t.order {
		if g := a.answer.open; g != nil && !g.Empty() && a.answer.channel == schema.Answer {
			return true
		}
	}
	return false
}

// stop gives the task's one Stop.
func (x *fold) stop(t *task, state wire.State, stop *schema.Stop, flags translate.FlagSet) {
	if t.seen && !t.stopped {
		x.unfinished--
	}
	x.breakOff(t, false)
	t.stopped, t.state, t.last = true, state, state
	x.emitHere(t, stop, flags|t.flags)
}

// statusSays gives the Message of a status that ends or interrupts.
func (x *fold) statusSays(t *task, w words, id string, flags translate.FlagSet) {
	if w.thought != "" && x.extend(t, &t.thought, w.thought, more, flags) {
		x.own(t.thought.open, false)
		x.endStrand(t, &t.thought, schema.BoundaryWhole, flags, 0)
	}
	x.sayOnce(t, w.text, id, byStatus, flags|t.flags)
	x.pieces(t, w.pieces, flags|t.flags)
}

// afterStop folds a status that comes behind the Stop: what it says anew is kept, another end is
// noted, and nothing stops or starts again.
func (x *fold) afterStop(e *exchange, t *task, state wire.State, message, meta jsontree.Value) {
	class := state.Class()
	if class == wire.Terminal || class == wire.Interrupted {
		w, id := x.spoken(e, t, message, meta)
		if id == "" && t.said[sum([]byte(w.text))] != 0 {
			w.text = ""
		}
		x.statusSays(t, w, id, translate.Of(schema.FlagLate))
	}
	if class == wire.Terminal && state != t.last {
		t.last = state
		x.noteNow(t, "conflicting terminal state: "+string(state), 0)
	}
}
