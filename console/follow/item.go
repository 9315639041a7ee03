// Package follow shows one transcript as it grows: its history from the ledger, what is open from
// the owner of its partition, and what is typed from the deltas, joined so that nothing is missing
// and nothing comes twice.
package follow

import "github.com/steno-io/steno/schema"

// Item is one thing that a follower tells: an *Event, *Delta, *Snapshot, *Lag or *End.
type Item interface{ item() }

// Event is a stored event. Events come in the order of their numbers, without gap and without
// repeat.
type Event struct {
	Seq   uint64 // store_seq; resuming after it gives the next one
	Bytes []byte // its encoding, as the ledger has it; shared, not to be changed
	Event schema.Event
}

// Delta is a piece of an open message, to be put behind the text that the message has so far. A
// message's pieces come in the order of their index, each once, from index 0 or from a snapshot's
// Next on. Progress is live, too, as a piece without message and index: what of it is lost comes with
// the stored note.
type Delta struct {
	MessageID string
	Channel   schema.Channel
	Index     uint64
	Text      string
	Reset     bool   // the message's text starts anew with this piece
	Bytes     []byte // its encoding, as the fold gave it; shared, not to be changed
	Event     schema.Event
}

// Snapshot is everything that is open in the transcript, as the fold of its capture stands at one
// frame. It takes the place of all text that was shown of open messages. A message that was open
// before and is not in it has ended: its Message is on the way, and what was shown of it stays until
// then.
type Snapshot struct {
	Frame    uint64 // of the capture
	Ordinal  uint64 // number of the transcript's last event up to Frame, stored or still to be stored
	Messages []schema.OpenMessage
	Tools    []schema.OpenTool
	Notes    []schema.OpenNote // progress that is not stored yet, all of it
}

// Lag says that what is shown may be behind, and why. Where text may be missing, a Snapshot follows
// as soon as an owner answers; events are never missing.
type Lag struct {
	Reason LagReason
	Events uint64 // LagBehind: by how many events; 0 = the ledger has caught up
	Detail string // LagParked: why
}

// LagReason is why what is shown is behind.
type LagReason string

// The reasons.
const (
	LagBehind       LagReason = "behind"       // the ledger has not yet stored what the fold has given
	LagMissed       LagReason = "missed"       // pieces of text were lost on the way
	LagSlow         LagReason = "slow"         // pieces were left out because the reader is slow
	LagDisconnected LagReason = "disconnected" // the connection is lost: stored events only
	LagReconnected  LagReason = "reconnected"  // it is back; pieces may have been lost
	LagNoOwner      LagReason = "no_owner"     // for a poll interval nobody who has folded what was shown answered: stored events only
	LagParked       LagReason = "parked"       // the capture is not folded, or not stored, any further
)

// End says that the capture or the session has ended and that everything stored was given. Frames
// that come later reopen it: events go on, and another End follows.
type End struct {
	Status schema.Status // ended or abandoned
	Head   uint64        // number of the last event
}

func (*Event) item()    {}
func (*Delta) item()    {}
func (*Snapshot) item() {}
func (*Lag) item()      {}
func (*End) item()      {}
