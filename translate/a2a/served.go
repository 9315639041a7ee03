package a2a

import (
	"bytes"

	"github.com/steno-io/steno/schema"
	wire "github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/translate"
)

var servedMark = []byte(`"served"`)

// served is the version in which the proxy wrote a copy of the frame before it; empty for a frame as its
// sender wrote it. Nearly all frames are such, so the mark is looked for before anything is read.
func (x *fold) served(e *exchange) string {
	if version := e.heralded; version != "" {
		e.heralded = ""
		return version
	}
	if !bytes.Contains(x.frame.HTTP, servedMark) {
		return ""
	}
	if _, err := x.aside.Read(x.frame.HTTP); err != nil { // it is JSON, or the frame was not stored
		return ""
	}
	return wire.ReadEvidence(x.aside.Root()).Served
}

// copied folds a copy. What it says, its original has said: the copy is only accounted for, by the text
// that accounts for the original, or by its Raw. It changes nothing: neither does it open an exchange
// nor tell anything about it.
func (x *fold) copied(e *exchange, version string) {
	x.over = x.before
	x.from, x.dialect, x.label = e, wire.ReadVersion(version), labelServed
	x.copyBody()
	if e.text != nil && !e.text.ended {
		x.owner = e.text
		x.settle(e.text)
		return
	}
	if x.frame.Chan == schema.ChanCard {
		x.emitHere(nil, &schema.Raw{Source: sourceCard + "/" + labelServed, Value: x.payload()}, 0)
		return
	}
	x.show(e.spoke, 0)
}

// copyBody finds the copy's JSON text.
func (x *fold) copyBody() {
	data := bytes.TrimPrefix(x.frame.Data, bom)
	if isEvents(data) {
		x.events, _ = wire.AppendEvents(x.events[:0], data)
		if len(x.events) != 1 {
			return
		}
		data = x.events[0].Data
	}
	end, err := x.reader.Read(data)
	if err != nil || !translate.Blank(data[end:]) {
		return
	}
	x.body = data[:end]
	if x.reader.DuplicateKey() {
		x.flags |= translate.Of(schema.FlagDuplicateKey)
	}
	if x.reader.Lossy() {
		x.flags |= translate.Of(schema.FlagLossyUTF8)
	}
}
