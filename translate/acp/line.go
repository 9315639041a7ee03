package acp

import (
	"bytes"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// recoverTries bounds how many places of a bad line are tried as the start of a frame, so that a
// line of braces costs no more than that many readings.
const recoverTries = 64

var bom = []byte("\uFEFF")

// line folds a line of stdin or stdout. Text that is no JSON joins to noise; a frame behind other
// text, or several on one line, are found.
func (x *fold) line() {
	data := x.frame.Data
	if rest, ok := bytes.CutPrefix(data, bom); ok {
		data = rest
		x.flags |= translate.Of(schema.FlagRecovered)
	}
	if end, err := x.reader.Read(data); err == nil && blank(data[end:]) {
		x.endRun()
		x.message(x.reader.Root())
		return
	}
	start, objects := x.recover(data)
	if len(objects) == 0 {
		x.join(sourceNoise)
		return
	}
	x.endRun()
	if start > 0 {
		x.rawHere(x.sessions[0], sourceNoise, quoteBytes(data[:start]), 0)
		x.flags |= translate.Of(schema.FlagRecovered)
		x.shared = behind
	}
	if len(objects) > 1 {
		x.shared = together
	}
	for _, object := range objects {
		if _, err := x.reader.Read(object); err == nil { // it was read before
			x.message(x.reader.Root())
		}
		x.flags |= translate.Of(schema.FlagRecovered)
	}
}

// recover finds the first place from which the line is nothing but JSON-RPC objects to its end.
func (x *fold) recover(data []byte) (start int, objects [][]byte) {
	at := 0
	for range recoverTries {
		brace := bytes.IndexByte(data[at:], '{')
		if brace < 0 {
			return 0, nil
		}
		at += brace
		if objects := x.objects(data[at:]); len(objects) > 0 {
			return at, objects
		}
		at++
	}
	return 0, nil
}

func (x *fold) objects(data []byte) (objects [][]byte) {
	for !blank(data) {
		end, err := x.reader.Read(data)
		if err != nil || !isRPC(x.reader.Root()) {
			return nil
		}
		objects = append(objects, data[:end])
		data = data[end:]
	}
	return objects
}

func blank(data []byte) bool {
	return len(bytes.TrimLeft(data, " \t\r\n")) == 0
}

// isRPC reports whether a value is a JSON-RPC object. The jsonrpc member is not asked for: real
// clients leave it out.
func isRPC(v jsontree.Value) bool {
	if v.Get("method").Kind() == jsontree.String {
		return true
	}
	return !v.Get("method").Present() && v.Get("id").Present() && (v.Get("result").Present() || v.Get("error").Present())
}

// message folds a value that stands alone on its line.
func (x *fold) message(v jsontree.Value) {
	x.flags |= x.textFlags()
	if v.Kind() != jsontree.Array {
		x.object(v)
		return
	}
	empty := true
	x.shared = together
	for element := range v.Children() {
		empty = false
		x.flags |= translate.Of(schema.FlagBatch)
		x.object(element)
	}
	if empty {
		x.object(v)
	}
}

func (x *fold) textFlags() translate.FlagSet {
	var flags translate.FlagSet
	if x.reader.DuplicateKey() {
		flags |= translate.Of(schema.FlagDuplicateKey)
	}
	if x.reader.Lossy() {
		flags |= translate.Of(schema.FlagLossyUTF8)
	}
	return flags
}

func (x *fold) object(v jsontree.Value) {
	method, isMethod := v.Get("method").Bytes()
	switch {
	case !isRPC(v):
		x.rawHere(x.sessions[0], sourceNotRPC, x.value(v), 0)
	case !isMethod:
		x.answer(v)
	case v.Get("id").Given(): // an id of null makes a notification, as in aion
		x.request(v, string(method))
	case string(method) == acp.MethodSessionUpdate && x.frame.From == schema.FromAgent:
		x.update(v, v.Get("params"))
	default:
		x.notification(v, string(method))
	}
}
