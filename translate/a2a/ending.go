package a2a

import (
	"slices"
	"strings"

	"github.com/steno-io/steno/schema"
	wire "github.com/steno-io/steno/schema/wire/a2a"
)

// ending is what decides how the conversation stands.
//
// Nobody ever says that a conversation of A2A has ended: its capture stays, exchanges come and go, and
// each is closed by itself. It is open while an exchange goes on or a task that an answer named has not
// stopped (one that waits for the user has not), and ended otherwise: behind the last Stop, or where
// there was no task, behind a card, a list, an error, a message alone. What comes later reopens it. It is
// abandoned where nobody is left who would end it: nothing goes on, and of all tasks that have not stopped
// the last exchange broke off (its stream ended without an end of the task, or its close says that the tap
// could not go on, or died); so does a call that sends, whose answer a dead tap never saw. A task that waits
// for somebody, or that a client asks after from time to time, keeps the conversation open. The close of a
// whole capture, which files have, stands above all that until the next frame.
//
// An exchange goes on to its close frame, though its answer may have ended it for the fold: what stands
// in between (a copy that was served, the close itself) belongs to the conversation, and whoever waits
// for its end sees it. What named no task ends with its exchange, since nothing can ever come back to it.
//
// A status travels in the record of a frame that has durable events, so a frame that changes it must have
// some. Closes and cards always have their Raw, requests too; and a frame that finds the conversation at
// rest is never a mere piece of a text (own). Broken off is not at rest: a push that goes on with such a
// task may be a piece, and what comes behind it in its exchange, its close at the latest, tells of it.
type ending struct {
	over       schema.Status // by the close of the capture; empty before, and after the next frame
	begun      bool          // there was an exchange, or a card
	died       bool          // the tap, with something unfinished and nothing else going on
	lost       bool          // what a call that sends was answered with: its tap died
	unfinished int           // tasks that an answer named and that have not stopped
	broken     int           // those of them that nobody goes on with
}

// status is how the conversation stands.
func (x *fold) status() schema.Status {
	switch {
	case x.over != "":
		return x.over
	case x.lost:
		return schema.StatusAbandoned
	case !x.begun || len(x.going) > 0 || x.unfinished > x.broken:
		return schema.StatusOpen
	case x.unfinished > 0:
		return schema.StatusAbandoned
	}
	return schema.StatusEnded
}

// atRest reports whether a frame that comes next begins something new.
func (x *fold) atRest() bool {
	return x.over != "" || x.died || x.begun && len(x.going) == 0 && x.unfinished == 0
}

// breakOff notes whether the last exchange of a task broke off.
func (x *fold) breakOff(t *task, broke bool) {
	broke = broke && t.seen && !t.stopped && t.state.Class() != wire.Interrupted
	if broke == t.broken {
		return
	}
	t.broken = broke
	if broke {
		x.broken++
	} else {
		x.broken--
	}
}

// begin notes that an exchange goes on.
func (x *fold) begin(e *exchange) {
	x.begun, x.died, x.lost = true, false, false
	e.closed = false
	x.going = append(x.going, e)
}

// closeExchange takes the close of an exchange.
func (x *fold) closeExchange(e *exchange, info schema.CloseInfo) {
	died := info.Reason == schema.ReasonWriterDied
	x.endExchange(e, died || info.Error != "", info.Error)
	if info.Error != "" && !e.answered {
		x.entitleFailed(e, info.Error[strings.LastIndex(info.Error, ": ")+1:])
	}
	if info.Error != "" && e.call.Sends() && !e.answered {
		x.blame(e, info.Error)
	}
	if (died || info.Error != "") && !e.answered && e.asked != nil && e.asked.uses == 0 {
		x.breakOff(e.asked, true)
	}
	if e.closed {
		return
	}
	e.closed = true
	x.going = slices.DeleteFunc(x.going, func(other *exchange) bool { return other == e })
	if died && len(x.going) == 0 {
		x.lost = e.call.Sends() && !e.answered
		x.died = x.lost || x.unfinished > 0
	}
}
