package acp

import (
	"bytes"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

var bom = []byte("\uFEFF")

// line folds a line of stdin or stdout. Text that is no JSON joins to noise; frames that share their
// line with other text, or with each other, are found.
func (x *fold) line() {
	data := x.frame.Data
	if rest, ok := bytes.CutPrefix(data, bom); ok {
		data = rest
		x.base |= translate.Of(schema.FlagRecovered)
	}
	if end, err := x.reader.Read(data); err == nil && translate.Blank(data[end:]) {
		x.endRun()
		x.message(x.reader.Root())
		return
	}
	pieces := x.pieces(data)
	if len(pieces) == 0 {
		x.join(sourceNoise)
		return
	}
	x.endRun()
	x.base |= translate.Of(schema.FlagRecovered)
	x.share()
	for _, p := range pieces {
		if !p.object {
			x.flags = x.base
			x.rawHere(x.sessions[0], sourceNoise, translate.Base64(p.data), 0)
		} else if _, err := x.reader.Read(p.data); err == nil { // it was read before
			x.message(x.reader.Root())
		}
	}
}

// piece is a part of a line: a JSON-RPC object, or what stands between.
type piece struct {
	data   []byte
	object bool
}

// pieces cuts a line that is not one JSON value into its JSON-RPC objects and what stands before,
// between and behind them; nil if it has none.
func (x *fold) pieces(data []byte) (pieces []piece) {
	objects := acp.Objects(&x.reader, data)
	if objects == nil {
		return nil
	}
	noise := 0 // start of what is no object
	for _, o := range objects {
		if text := data[noise:o[0]]; !translate.Blank(text) {
			pieces = append(pieces, piece{data: text})
		}
		pieces = append(pieces, piece{data: data[o[0]:o[1]], object: true})
		noise = o[1]
	}
	if text := data[noise:]; !translate.Blank(text) {
		pieces = append(pieces, piece{data: text})
	}
	return pieces
}

// message folds a JSON value: an object, or a batch of nothing but JSON-RPC objects.
func (x *fold) message(v jsontree.Value) {
	x.flags = x.base | x.textFlags()
	if !isBatch(v) {
		x.object(v)
		return
	}
	x.base |= translate.Of(schema.FlagBatch)
	x.flags |= x.base
	x.share()
	for element := range v.Children() {
		x.object(element)
	}
}

func isBatch(v jsontree.Value) bool {
	if v.Kind() != jsontree.Array {
		return false
	}
	batch := false
	for element := range v.Children() {
		if batch = acp.IsRPC(element); !batch {
			break
		}
	}
	return batch
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
	case !acp.IsRPC(v):
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
