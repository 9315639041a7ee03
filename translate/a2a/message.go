package a2a

import (
	"strings"

	"github.com/steno-io/steno/schema"
	wire "github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// message folds a Message of its own: the whole answer of an exchange without a task, which may come
// in pieces under one id; or words in a task that is known.
func (x *fold) message(e *exchange, a wire.Arm) {
	v := a.Value
	id := string(wire.ID(v, "messageId"))
	t := e.task
	if known := x.tasks[string(wire.TaskID(a))]; known != nil && known.seen {
		t = known
		x.touch(e, t)
	}
	x.speaksIn(wire.ContextID(v))
	loose := t == nil
	if loose {
		t = x.anonymous(e)
	}
	if loose {
		t.messages++
	}
	if role, ok := wire.ReadRole(v); ok && role == schema.User {
		x.echo(e, t, v, id, schema.FlagEcho)
		return
	}
	if loose {
		x.messagePiece(t, v, id)
		return
	}
	x.interject(t, v, id)
}

// interject gives a Message inside a task.
func (x *fold) interject(t *task, v jsontree.Value, id string) {
	w := x.words(t, v, "\n", wire.Metadata(v))
	if t.know(id, w.text) && w.text != "" && id != "" {
		return
	}
	flags := t.flags
	if t.stopped {
		flags |= translate.Of(schema.FlagLate)
	}
	if w.thought != "" && x.extend(t, &t.thought, w.thought, more, flags) {
		x.own(t.thought.open, false)
	}
	x.endStrand(t, &t.thought, schema.BoundaryWhole, flags, 0)
	x.sayOnce(t, w.text, id, byMessage, flags)
	x.pieces(t, w.pieces, flags)
}

// messagePiece adds to the message that is open, or ends it and begins another. The frame that begins
// one has a Raw; those that bring more of it are pieces of it.
func (x *fold) messagePiece(t *task, v jsontree.Value, id string) {
	begun := t.message != nil && (t.message.id == id || id == "")
	if t.message != nil && !begun {
		x.endMessage(t, schema.BoundaryMessageID, 0)
	}
	if !begun {
		t.message = &strand{id: id, channel: schema.Answer}
	}
	w := x.words(t, v, "\n", wire.Metadata(v))
	piece := begun && w.pure && x.label == string(wire.Message)
	if w.thought != "" && x.extend(t, &t.thought, w.thought, more, 0) {
		x.own(t.thought.open, piece && w.text == "")
	}
	how := more
	if begun && strings.HasPrefix(w.text, t.message.current()) {
		how = anew
	}
	if w.text != "" || w.pure && w.thought == "" {
		if x.extend(t, t.message, w.text, how, 0) {
			x.own(t.message.open, piece)
		}
	}
	t.pieces = append(t.pieces, w.pieces...)
}

// endMessage gives the open message, then its parts that are not text.
func (x *fold) endMessage(t *task, boundary schema.Boundary, flags translate.FlagSet) {
	x.endStrand(t, &t.thought, boundary, flags, 0)
	if t.message.open != nil && !t.message.open.Empty() {
		t.answered = true
	}
	x.endStrand(t, t.message, boundary, flags, 0)
	pieces := t.pieces
	t.pieces = nil
	x.pieces(t, pieces, flags)
}

// sayOnce gives an agent's text as a Message, unless the task has already said it by another carrier.
func (x *fold) sayOnce(t *task, text, id string, by carrier, flags translate.FlagSet) {
	key := sum([]byte(text))
	if text == "" || t.repeats(key, by) {
		return
	}
	t.say(key, by)
	x.emitHere(t, &schema.Message{
		Role: schema.Assistant, Text: text, MessageID: x.messageID(id), Channel: schema.Answer, Boundary: schema.BoundaryWhole,
	}, flags)
}
