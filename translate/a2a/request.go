package a2a

import (
	"bytes"

	"github.com/steno-io/steno/schema"
	wire "github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// userKey is a message by its id and its text: peers reuse ids.
type userKey struct {
	id   string
	text digest
}

// request folds what the client asks; a message in it is the user's turn.
func (x *fold) request(e *exchange) {
	x.label = labelRequest
	data := bytes.TrimPrefix(x.frame.Data, bom)
	end, err := x.reader.Read(data)
	if err != nil || !translate.Blank(data[end:]) {
		if len(data) > 0 { // a GET has no body
			x.label = labelUndecodable
		}
		x.show(nil, 0)
		return
	}
	x.body = data[:end]
	root := x.reader.Root()
	if root.Kind() == jsontree.Array {
		x.shared = true
		x.flags |= translate.Of(schema.FlagBatch)
		for element := range root.Children() {
			x.asking(e, element)
		}
	} else {
		x.asking(e, root)
	}
	if x.reader.DuplicateKey() {
		x.flags |= translate.Of(schema.FlagDuplicateKey)
	}
	x.show(e.asked, 0)
}

func (x *fold) asking(e *exchange, v jsontree.Value) {
	envelope := wire.ReadEnvelope(v)
	params := v
	if envelope.RPC {
		params = envelope.Params
		call, dialect := wire.ReadMethod(envelope.Method)
		e.call, e.method, e.binding = call, envelope.Method, bindingRPC
		if e.dialect == "" { // the version header goes before the method's name
			e.dialect = dialect
		}
	}
	message := wire.Field(params, "message")
	if e.binding == "" {
		e.binding = bindingREST
		if message.Kind() == jsontree.Object {
			e.call, e.method = wire.SendMessage, string(wire.SendMessage)
		}
	}
	x.ask(e, params)
	if message.Kind() != jsontree.Object {
		return
	}
	x.dialect = requestDialect(e, message)
	e.turn = x.seq
	w := x.words(e.asked, message, "\n", jsontree.Value{})
	key := keyOf(message, w)
	if x.isOurs(e) || x.told[key] { // or an answer, or a push, overtook the request
		delete(x.told, key)
		x.users[key] = true
		e.users = append(e.users, key)
		return
	}
	x.userSays(e, e.asked, message, w, 0)
}

func keyOf(message jsontree.Value, w words) userKey {
	return userKey{string(wire.ID(message, "messageId")), sum([]byte(w.text))}
}

// tells gives the user's words as the agent repeats them.
func (x *fold) tells(e *exchange, t *task, message jsontree.Value, w words, flag schema.Flag) {
	if key := keyOf(message, w); key.id != "" {
		x.told[key] = true
	}
	x.userSays(e, t, message, w, translate.Of(flag)|t.flags)
}

// ask takes the task and the conversation that a request names.
func (x *fold) ask(e *exchange, params jsontree.Value) {
	id, context := wire.AskedNames(e.call, e.dialect, params)
	if len(id) > 0 {
		e.asked = x.byName(e, id, context)
	} else {
		x.speaksIn(context)
	}
}

func requestDialect(e *exchange, message jsontree.Value) wire.Dialect {
	for _, a := range wire.AppendArms(nil, message) {
		if a.Dialect != "" {
			return a.Dialect
		}
	}
	if e.dialect != "" {
		return e.dialect
	}
	return wire.V10
}

// userSays gives the user's Message and what else a message of the user's holds.
func (x *fold) userSays(e *exchange, t *task, message jsontree.Value, w words, flags translate.FlagSet) {
	key := keyOf(message, w)
	id := key.id
	if id != "" && x.users[key] {
		flags |= translate.Of(schema.FlagRetry)
	}
	x.users[key] = true
	e.users = append(e.users, key)
	if w.text != "" {
		name := x.messageID(id)
		if id != "" && name != id && flags&translate.Of(schema.FlagRetry) == 0 {
			flags |= translate.Of(schema.FlagIDReused)
		}
		x.emitHere(t, &schema.Message{
			Role: schema.User, Text: w.text, MessageID: name, Channel: schema.Answer, Boundary: schema.BoundaryPrompt,
		}, flags)
	}
	x.pieces(t, w.pieces, flags)
}

// heard reports whether words of the user's were heard before: under that id, or in this exchange.
func (x *fold) heard(e *exchange, id string, text string) bool {
	key := userKey{id, sum([]byte(text))}
	if x.users[key] {
		return true
	}
	for _, u := range e.users {
		if id != "" && u.id == id || u.text == key.text {
			return true
		}
	}
	return false
}
