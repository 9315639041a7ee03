package a2a

import (
	"strconv"
	"strings"

	"github.com/steno-io/steno/schema"
	wire "github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// title is what a conversation in which nobody says anything is called in lists: after its first exchange,
// such as "agent card", "GET /tasks → 404", "SendMessage → -32602".
type title struct {
	title  string
	of     *exchange // that it is made of
	ended  bool      // it says how that failed
	spoken bool      // somebody said something, which says more
}

// titleOfCard is that of a card which was given.
const titleOfCard = "agent card"

// entitle names the conversation after its first exchange: by the request line where the binding is
// HTTP's own, else by the method.
func (x *fold) entitle(e *exchange) {
	if x.title.of != nil {
		return
	}
	name := e.method
	if e.line != "" && e.binding != bindingRPC && e.binding != bindingPush {
		name = e.line
	}
	if name != "" {
		x.title.title, x.title.of = name, e
	}
}

func (x *fold) entitleCard(e *exchange) {
	if of := x.title.of; of == nil || of == e {
		x.title.title, x.title.of = titleOfCard, e
	}
}

// entitleFault says how the exchange failed: by HTTP's status, else by the error's code.
func (x *fold) entitleFault(e *exchange, fault jsontree.Value) {
	if e.status >= 400 {
		x.entitleFailed(e, strconv.Itoa(e.status))
	} else if code := string(wire.ID(fault, "code")); code != "" {
		x.entitleFailed(e, code)
	}
}

func (x *fold) entitleFailed(e *exchange, how string) {
	if x.title.of == e && !x.title.ended {
		x.title.ended = true
		x.title.title += " → " + strings.TrimSpace(how)
	}
}

// heading is the title as lists have it.
func (t *title) heading() string {
	if t.spoken {
		return ""
	}
	return translate.CutAbout(t.title)
}

// hears notes what somebody says.
func (t *title) hears(kind schema.Kind) {
	if _, ok := kind.(*schema.Message); ok {
		t.spoken = true
	}
}

// requestLine is what HTTP's request asked for, without the query.
func requestLine(evidence wire.Evidence) string {
	path, _, _ := strings.Cut(evidence.Path, "?")
	return strings.TrimSpace(evidence.Method + " " + path)
}
