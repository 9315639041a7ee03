// Package sink numbers the events of the committed records and keeps them in a ledger: store_seq 1,
// 2, 3 … per transcript, each equal to the ordinal that its record states.
package sink

import (
	"context"
	"errors"
	"time"

	"github.com/steno-io/steno/schema"
)

// Ledger is the writer's side of a store. A partition has one owner, who is told from earlier ones
// by an epoch that the ledger itself raises; nothing else makes storing safe.
type Ledger interface {
	// Claim takes a partition: it raises the epoch, so that no earlier owner's batch is stored any
	// more, and tells the position that was stored last. Claiming twice is harmless.
	Claim(ctx context.Context, partition uint32) (Claim, error)
	// Store stores a batch in one transaction, or nothing of it. Before all else the position and
	// the epoch are updated under the claim's epoch: ErrFenced when another owns the partition.
	// ErrRefused means that the database will never take this content. After any other error the
	// batch may or may not be stored, and storing it again is right.
	Store(ctx context.Context, b Batch) (Stored, error)
	// Redrive takes a capture out of the park, in one transaction under the claim's epoch, as Store:
	// the epoch is raised and the position is taken away, so that whoever claims the partition next
	// reads from the first message what was passed over. false, and nothing is changed: it is not
	// parked.
	Redrive(ctx context.Context, c Claim, id schema.Identity) (bool, error)
	// Drop takes the events that d names, which an archive has, out of the ledger, in one transaction under the
	// claim's epoch, as Store. They begin behind those that are dropped already, and end before the transcript's
	// last one, which is never dropped. Each must have the SHA-256 that d says: else ErrOther, and nothing is
	// changed. All else that is kept of the transcript stays, and so does what a search finds: while the index
	// does not have all of them yet, the answer is false, and nothing is changed. Dropping again what is dropped
	// is harmless.
	Drop(ctx context.Context, c Claim, d Dropped) (bool, error)
}

// Errors of Store that a caller decides on.
var (
	// ErrFenced: another owner has claimed the partition.
	ErrFenced = errors.New("partition has another owner")
	// ErrDenied: the database does not let this role do it, or does not let it in. Another try cannot help;
	// whoever looks after the database can.
	ErrDenied = errors.New("a right is missing")
	// ErrRefused: the database does not take what is in the batch, and would not take it later.
	ErrRefused = errors.New("database refuses the content")
)

// Claim is what the owner of a partition holds.
type Claim struct {
	Partition uint32
	Epoch     uint64 // counts the claims of the partition, from 1
	Position  Position
}

// Position is how far a partition of STENO_EVENTS is stored. It is a hint: reading again from the
// first message is always right. The zero value means that nothing is stored.
type Position struct {
	Created time.Time // of the stream, in UTC
	Seq     uint64    // stream sequence of the last message that was stored
	Digest  string    // of that message; see Digest
}

// Batch is what one transaction stores: consecutive messages of one partition.
type Batch struct {
	Claim    Claim
	Position Position // of the last entry
	Entries  []Entry
}

// Stored is what a transaction did.
type Stored struct {
	Heads  []Head   // of every transcript that the batch names, in the order of their first event in it
	Parked []Parked // the captures that this batch parked
	Events int      // given a number by this batch
}

// Head is a transcript's last number; 0 = nothing stored.
type Head struct {
	Transcript schema.Transcript
	Seq        uint64
}

// Parked says why nothing more of a capture is stored. Have and Got are the two values that do not
// agree: the bytes stored (of an event that was dropped "sha256:" and its SHA-256 in hex) and the bytes read, or
// the number that is next and the ordinal stated.
type Parked struct {
	Capture schema.Identity
	Reason  ParkReason
	Session uint32
	Ordinal uint64    // that the record states for the event
	Have    []byte    // what the ledger has or expects; empty for ReasonRefused
	Got     []byte    // what the record says; for ReasonRefused, why it was refused
	Seq     uint64    // of the record on STENO_EVENTS
	At      time.Time // when the record was put on STENO_EVENTS
}

// ParkReason is why a capture is parked.
type ParkReason string

// The reasons.
const (
	ReasonChanged ParkReason = "changed" // an event that is stored came again with other bytes
	ReasonGap     ParkReason = "gap"     // the record's ordinal is higher than the number that is next
	ReasonOrigin  ParkReason = "origin"  // a new event's origin is not beyond what is stored
	ReasonRefused ParkReason = "refused" // the decoder or the database does not take the record
)
