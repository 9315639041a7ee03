package a2a

import (
	"bytes"

	"github.com/steno-io/steno/schema"
	wire "github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

var bom = []byte("\uFEFF")

// data folds a frame of the conversation by its place in the exchange.
func (x *fold) data() {
	f := x.frame
	e := x.known(f.Exchange)
	if served := x.served(e); served != "" {
		x.copied(e, served)
		return
	}
	if f.Chan == schema.ChanCard {
		x.card(e)
		return
	}
	x.reopen(e)
	x.from = e
	x.evidence(e)
	switch {
	case f.Chan == schema.ChanRequest, f.Chan == "" && f.From == schema.FromClient:
		x.request(e)
	case f.Chan == schema.ChanStream, f.Chan == "":
		e.streams = true
		x.stream(e, f.Data)
	case f.Chan == schema.ChanPush:
		if e.method == "" {
			e.method, e.binding = methodPush, bindingPush
		}
		x.answer(e, f.Data)
	case isEvents(f.Data): // a stream that was kept as one body
		x.stream(e, f.Data)
	case e.method == methodPush && f.From == schema.FromClient:
		x.received(e)
	case e.status > 0 && e.status < 400 && translate.Blank(f.Data):
		x.label = labelResult // a push config was deleted, perhaps
	default:
		x.answer(e, f.Data)
	}
	x.entitle(e)
	t := e.task
	if f.Chan == schema.ChanRequest {
		t = e.asked
	}
	if f.Chan == schema.ChanPush || f.Chan == schema.ChanResponse {
		x.endExchange(e, false, "")
	}
	x.show(t, 0)
	e.text, e.spoke = x.joined, t
}

// received folds what a push was answered with: it is HTTP's, not the agent's.
func (x *fold) received(e *exchange) {
	x.label = labelResult
	if e.status >= 400 {
		x.label = labelError
	}
	data := x.frame.Data
	if end, err := x.reader.Read(data); err == nil && translate.Blank(data[end:]) {
		x.body = data[:end]
	}
}

// evidence reads what HTTP said. On items of a stream it is read only while something is not known:
// it is the same for all of them but for the events' own ids.
func (x *fold) evidence(e *exchange) {
	if len(x.frame.HTTP) == 0 || x.frame.Chan == schema.ChanStream && e.status != 0 {
		return
	}
	if _, err := x.aside.Read(x.frame.HTTP); err == nil { // it is JSON, or the frame was not stored
		x.witness(e, wire.ReadEvidence(x.aside.Root()))
	}
}

func (x *fold) card(e *exchange) {
	x.entitleCard(e)
	x.begun = true
	value := x.controlValue()
	if x.reader.DuplicateKey() {
		x.flags |= translate.Of(schema.FlagDuplicateKey)
	}
	x.emitHere(nil, &schema.Raw{Source: sourceCard, Value: value}, 0)
}

// isEvents reports whether a body is server-sent events, by its first line.
func isEvents(data []byte) bool {
	data = bytes.TrimPrefix(data, bom)
	for _, field := range []string{"data:", "event:", "id:", "retry:", ":"} {
		if bytes.HasPrefix(data, []byte(field)) {
			return true
		}
	}
	return false
}

// stream folds an item of a stream: a bare object, or server-sent events as read. The beginning of an
// event whose JSON is not whole is kept: a read may have ended there.
func (x *fold) stream(e *exchange, data []byte) {
	if head := bytes.TrimLeft(data, " \t\r\n"); len(e.tail) == 0 && len(head) > 0 && (head[0] == '{' || head[0] == '[') {
		x.answer(e, data)
		return
	}
	if len(e.tail) > 0 {
		data = append(e.tail, data...)
		e.tail = nil
		x.flags |= translate.Of(schema.FlagRecovered)
		x.shared = true
	}
	var rest []byte
	x.events, rest = wire.AppendEvents(x.events[:0], data)
	events := x.events
	if n := len(events); n > 0 && !events[n-1].Ended && !x.isWhole(events[n-1].Data) {
		rest, events = events[n-1].Raw, events[:n-1]
	}
	switch {
	case len(events) == 0 && len(rest) > 0 && isUnfinished(rest):
		e.tail = bytes.Clone(rest)
		x.label = labelUndecodable
	case len(events) == 0:
		x.shown = true
		x.emitHere(nil, &schema.Raw{Source: sourceNoise, Value: translate.Bounded(x.frame, translate.Base64(x.frame.Data))}, 0)
	case len(events) == 1:
		x.failing = string(events[0].Name) == labelError
		x.answer(e, events[0].Data)
		e.keep(rest)
	default:
		x.shared = true
		for _, event := range events {
			x.failing = string(event.Name) == labelError
			x.answer(e, event.Data)
		}
		x.body, x.label = nil, labelSeveral
		e.keep(rest)
	}
}

func (e *exchange) keep(rest []byte) {
	if isUnfinished(rest) {
		e.tail = bytes.Clone(rest)
	}
}

// isUnfinished reports whether bytes behind an event are the beginning of another, and not comments or
// heartbeats.
func isUnfinished(rest []byte) bool {
	for line := range bytes.Lines(rest) {
		line = bytes.TrimRight(line, "\r\n")
		if len(line) > 0 && line[0] != ':' && !bytes.HasPrefix(line, []byte("event:")) && !bytes.Equal(line, []byte("data:")) {
			return true
		}
	}
	return false
}

func (x *fold) isWhole(data []byte) bool {
	end, err := x.reader.Read(data)
	return err == nil && translate.Blank(data[end:])
}

// answer folds a body: one JSON text, or several behind each other.
func (x *fold) answer(e *exchange, data []byte) {
	data = bytes.TrimPrefix(data, bom)
	end, err := x.reader.Read(data)
	if err != nil {
		x.undecodable(e)
		return
	}
	x.body = data[:end]
	if translate.Blank(data[end:]) {
		x.value(e, x.reader.Root())
		return
	}
	x.shared = true
	for {
		x.value(e, x.reader.Root())
		data = data[end:]
		if translate.Blank(data) {
			break
		}
		if end, err = x.reader.Read(data); err != nil {
			x.body = nil
			x.undecodable(e)
			return
		}
	}
	x.body, x.label = nil, labelSeveral
}

// value folds a JSON value; the members of an array one by one.
func (x *fold) value(e *exchange, v jsontree.Value) {
	if x.reader.DuplicateKey() {
		x.flags |= translate.Of(schema.FlagDuplicateKey)
	}
	if x.reader.Lossy() {
		x.flags |= translate.Of(schema.FlagLossyUTF8)
	}
	if v.Kind() != jsontree.Array {
		x.object(e, v)
		return
	}
	if !x.shared { // else events of the frame may stand without the flag
		x.flags |= translate.Of(schema.FlagBatch)
		x.shared = true
	}
	for element := range v.Children() {
		x.object(e, element)
	}
	if x.label == "" {
		x.label = labelUnrecognised
	}
}

// undecodable folds a body that is no JSON. An HTTP error is an error whatever its body is.
func (x *fold) undecodable(e *exchange) {
	x.label = labelUndecodable
	if e.status >= 400 {
		x.entitleFault(e, jsontree.Value{})
		x.failed(e, statusFault(e.status, x.frame.Data))
	}
}
