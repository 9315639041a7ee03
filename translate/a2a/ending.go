package a2a

import (
	"slices"

	"github.com/steno-io/steno/schema"
)

// ending is what decides how the conversation stands.
//
// Nobody ever says that a conversation of A2A has ended: its capture stays, exchanges come and go, and
// each is closed by itself. It is open while an exchange goes on or a task that an answer named has not
// stopped (one that waits for the user has not), and ended otherwise: behind the last Stop, or where
// there was no task, behind a card, a list, an error, a message alone. What comes later reopens it. It is
// abandoned where the tap died with something unfinished and nothing else going on: nobody will record
// the rest. The close of a whole capture, which files have, stands above all that until the next frame.
//
// An exchange goes on to its close frame, though its answer may have ended it for the fold: what stands
// in between (a copy that was served, the close itself) belongs to the conversation, and whoever waits
// for its end sees it. What named no task ends with its exchange, since nothing can ever come back to it.
//
// A status travels in the record of a frame that has durable events, so a frame that changes it must have
// some. Closes and cards always have their Raw, requests too; and a frame that finds the conversation at
// rest is never a mere piece of a text (own).
type ending struct {
	over       schema.Status // by the close of the capture; empty before, and after the next frame
	begun      bool          // there was an exchange, or a card
	abandoned  bool
	unfinished int // tasks that an answer named and that have not stopped
}

// status is how the conversation stands.
func (x *fold) status() schema.Status {
	switch {
	case x.over != "":
		return x.over
	case x.abandoned:
		return schema.StatusAbandoned
	case !x.begun || len(x.going) > 0 || x.unfinished > 0:
		return schema.StatusOpen
	}
	return schema.StatusEnded
}

// begin notes that an exchange goes on.
func (x *fold) begin(e *exchange) {
	x.begun, x.abandoned = true, false
	e.closed = false
	x.going = append(x.going, e)
}

// closeExchange takes the close of an exchange.
func (x *fold) closeExchange(e *exchange, info schema.CloseInfo) {
	died := info.Reason == schema.ReasonWriterDied
	x.endExchange(e, died || info.Error != "", info.Error)
	if info.Error != "" && e.call.Sends() && !e.answered {
		x.blame(e, info.Error)
	}
	if e.closed {
		return
	}
	e.closed = true
	x.going = slices.DeleteFunc(x.going, func(other *exchange) bool { return other == e })
	left := x.unfinished > 0 || e.call.Sends() && !e.answered
	x.abandoned = died && left && len(x.going) == 0
}
