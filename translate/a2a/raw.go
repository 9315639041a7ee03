package a2a

import (
	"github.com/steno-io/steno/schema"
	wire "github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/translate"
)

// Last elements of source labels that are not an object's kind.
const (
	labelRequest       = "request"
	labelResult        = "result" // an answer that is no object of a conversation, such as a push config
	labelTasks         = "tasks"
	labelError         = "error"
	labelAmbiguous     = "ambiguous"    // two arms of a one-of at once
	labelSeveral       = "several"      // several texts in one frame
	labelUnrecognised  = "unrecognised" // JSON that is none of the protocol's objects
	labelUndecodable   = "undecodable"  // no JSON
	labelServed        = "served"       // a copy that the proxy wrote
	sourceCard         = "a2a/card"
	sourceIntervention = "a2a/" + string(schema.TypeIntervention)
	sourceNoise        = "a2a/noise" // heartbeats and comments without an event
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
		return translate.Bounded(x.frame, translate.Verbatim(x.body))
	}
	return translate.Bounded(x.frame, translate.Base64(x.frame.Data))
}
