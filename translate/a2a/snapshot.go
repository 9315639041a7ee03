package a2a

import (
	"github.com/steno-io/steno/schema"
	wire "github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// taskSnapshot reconciles a whole Task with what is known: only what is new in it is said. It reports
// whether the task stopped with it.
func (x *fold) taskSnapshot(e *exchange, a wire.Arm, fault string) bool {
	v := a.Value
	t := x.taskOf(e, wire.TaskID(a), wire.ContextID(v))
	status := wire.StatusOf(v)
	x.history(e, t, v, wire.Field(status, "message"))
	for art := range wire.Field(v, "artifacts").Children() {
		if art.Kind() == jsontree.Object {
			x.wholeArtifact(t, art)
		}
	}
	if t.stopped {
		x.flush(t, schema.BoundaryTurnEnd, 0)
	}
	return x.turn(e, t, status, wire.Metadata(v), fault)
}

func (x *fold) wholeArtifact(t *task, v jsontree.Value) {
	art, _ := x.artifact(t, wire.ID(v, "artifactId"), wire.ID(v, "index"), false)
	x.lane(art, v)
	x.grow(t, art, x.words(t, v, "", wire.Metadata(v)), snapshot, 0)
}

// history takes up what was not seen as it happened: the user's words as messages, the agent's as
// progress. The status's own message stands there too, and is said by the status.
func (x *fold) history(e *exchange, t *task, v, status jsontree.Value) {
	for message := range wire.Field(v, "history").Children() {
		if message.Kind() != jsontree.Object {
			continue
		}
		id := string(wire.ID(message, "messageId"))
		if role, ok := wire.ReadRole(message); ok && role == schema.User {
			x.pastTurn(e, t, message, id)
			continue
		}
		if statusID := wire.ID(status, "messageId"); id != "" && id == string(statusID) {
			continue
		}
		x.pastWords(t, message, status, id)
	}
}

// pastTurn gives a turn of the user's that was not heard, behind the progress before it.
func (x *fold) pastTurn(e *exchange, t *task, message jsontree.Value, id string) {
	w := x.words(t, message, "\n", jsontree.Value{})
	x.echoed(id, t)
	if x.heard(e, id, w.text) {
		return
	}
	if !t.stopped {
		x.endNotes(t)
	}
	x.tells(e, t, message, w, schema.FlagFromHistory)
}

func (x *fold) pastWords(t *task, message, status jsontree.Value, id string) {
	if t.knownIDs[id] || t.stopped {
		return
	}
	w := x.words(t, message, "\n", jsontree.Value{})
	if t.know(id, w.text) || w.text != "" && (t.said[sum([]byte(w.text))] != 0 || id == "" && x.sameText(status, w.text)) {
		return
	}
	if w.thought != "" && x.extend(t, &t.thought, w.thought, more, translate.Of(schema.FlagFromHistory)) {
		x.own(t.thought.open, false)
	}
	if w.text != "" && x.note(t, id, w.text, translate.Of(schema.FlagFromHistory)) {
		x.own(t.notes.open, false)
	}
}

// sameText reports whether a message says exactly that.
func (x *fold) sameText(message jsontree.Value, text string) bool {
	said, n := "", 0
	for _, part := range x.parts(message) {
		if kind, value := wire.ReadPart(part); kind == wire.TextPart {
			next, _ := value.Text()
			said = join(said, next, "\n", &n)
		}
	}
	return n > 0 && said == text
}
