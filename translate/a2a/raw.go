package a2a

import (
	"bytes"
	"encoding/base64"
	"unicode/utf8"

	"github.com/steno-io/steno/schema"
	wire "github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// Last elements of source labels that are not an object's kind.
const (
	labelRequest      = "request"
	labelResult       = "result" // an answer that is no object of a conversation, such as a push config
	labelTasks        = "tasks"
	labelError        = "error"
	labelAmbiguous    = "ambiguous"    // two arms of a one-of at once
	labelSeveral      = "several"      // several texts in one frame
	labelUnrecognised = "unrecognised" // JSON that is none of the protocol's objects
	labelUndecodable  = "undecodable"  // no JSON
	sourceCard        = "a2a/card"
	sourceNoise       = "a2a/noise" // heartbeats and comments without an event
)

// sourceLabel is a2a/<version>/<binding>/<method>/<last element>.
func (x *fold) sourceLabel(last string) string {
	binding, method := "unknown", "unknown"
	if e := x.from; e != nil {
		if e.binding != "" {
			binding = e.binding
		}
		if e.method != "" {
			method = e.method
		}
	}
	return "a2a/" + string(x.version()) + "/" + binding + "/" + method + "/" + last
}

func (x *fold) partLabel(kind wire.PartKind) string {
	return "a2a/" + string(x.version()) + "/part/" + string(kind)
}

// show gives the frame's verbatim Raw, once.
func (x *fold) show(t *task, flags translate.FlagSet) {
	if x.owner != nil && !x.named {
		x.settle(x.owner)
	}
	if x.shown || x.owned {
		return
	}
	x.shown = true
	x.emitHere(t, &schema.Raw{Source: x.sourceLabel(x.label), Value: x.payload()}, flags)
}

// payload is the frame's content for a Raw: its JSON as sent, or its bytes.
func (x *fold) payload() schema.JSON {
	if x.body != nil && len(x.body) <= len(x.frame.Data) {
		return x.bounded(verbatim(x.body))
	}
	return x.bounded(quoteBytes(x.frame.Data))
}

// bounded puts the frame's reference in the place of a value that is too large.
func (x *fold) bounded(value schema.JSON) schema.JSON {
	if len(value) > translate.MaxInlineValue {
		return translate.Reference(x.frame)
	}
	return value
}

// verbatim is JSON as sent, without insignificant white space; what is not valid UTF-8 goes in as
// base64, since an event is a JSON text.
func verbatim(raw []byte) schema.JSON {
	compact := schema.AppendCompact(make([]byte, 0, len(raw)), raw)
	if utf8.Valid(compact) {
		return compact
	}
	return quoteBytes(compact)
}

// whole is JSON for the kinds that keep their values whole: as sent, with U+FFFD for invalid bytes,
// which can stand only inside its strings. Empty where v is absent or null.
func whole(v jsontree.Value) schema.JSON {
	if !v.Given() {
		return nil
	}
	compact := schema.AppendCompact(nil, v.Raw())
	if utf8.Valid(compact) {
		return compact
	}
	valid := make([]byte, 0, len(compact)+8)
	for len(compact) > 0 {
		r, size := utf8.DecodeRune(compact)
		valid = utf8.AppendRune(valid, r)
		compact = compact[size:]
	}
	return valid
}

// quoteBytes is the value of a payload that is not JSON.
func quoteBytes(data []byte) schema.JSON {
	dst := append([]byte(nil), `{"base64":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, data)
	return append(dst, `"}`...)
}

func blank(data []byte) bool { return len(bytes.TrimLeft(data, " \t\r\n")) == 0 }
