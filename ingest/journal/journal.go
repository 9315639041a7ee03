// Package journal keeps what a tap reads on the local disk until it is stored elsewhere, one file a
// connection, or one after the other for a proxy: an append is a write to the page cache, a reader
// follows while the writer lives.
package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/steno-io/steno/schema"
)

// Bounds, in bytes.
const (
	MaxData    = 1 << 20 // data of one entry; Append cuts longer chunks
	MaxHead    = 4 << 20 // the JSON head
	DefaultMax = 4 << 30 // all journals of a directory
)

// Sentinels for callers that decide.
var (
	// ErrDamaged: the file is not what a writer wrote, and not merely cut short.
	ErrDamaged = errors.New("journal is damaged")
	// ErrFull: the directory holds as much as it may.
	ErrFull = errors.New("journals are at their bound")
	// ErrDiskFull: the disk, or the user's part of it, has no room for the journal.
	ErrDiskFull = errors.New("the journals' disk is full")
	// ErrEntry: what was to be appended cannot be an entry; the journal takes the next one all the same.
	ErrEntry = errors.New("cannot be a journal entry")
	// ErrClosed: the writer or reader was closed.
	ErrClosed = errors.New("journal is closed")
	// ErrRemoved: somebody deleted the file under its writer; nobody would read what is written now.
	ErrRemoved = errors.New("journal was removed under its writer")
)

// Head says what a journal holds and where it goes. It stands at the file's beginning and never changes.
type Head struct {
	ID          string          // a token; the file's name, and the writer id of its frames
	Identity    schema.Identity // the one asked for
	Open        schema.OpenInfo // payload of the capture's open frame
	Destination string          // empty: whoever holds the data directory; else a NATS URL
	CreatedAt   time.Time       // time of the open frame, UTC
}

type wireHead struct {
	ID          string          `json:"id"`
	Identity    string          `json:"identity"`
	Open        schema.OpenInfo `json:"open"`
	Destination string          `json:"destination,omitempty"`
	CreatedAt   time.Time       `json:"created_at"`
}

// MarshalJSON writes the identity as its one string.
func (h Head) MarshalJSON() ([]byte, error) {
	return json.Marshal(wireHead{h.ID, h.Identity.String(), h.Open, h.Destination, h.CreatedAt})
}

// UnmarshalJSON reads and validates a head.
func (h *Head) UnmarshalJSON(data []byte) error {
	var w wireHead
	if err := json.Unmarshal(data, &w); err != nil {
		return fmt.Errorf("decode journal head: %w", err)
	}
	id, err := schema.ParseIdentity(w.Identity)
	if err != nil {
		return fmt.Errorf("decode journal head: %w", err)
	}
	*h = Head{w.ID, id, w.Open, w.Destination, w.CreatedAt}
	return h.Validate()
}

// Validate reports the first part that cannot stand in a head.
func (h Head) Validate() error {
	if !schema.IsToken(h.ID) {
		return fmt.Errorf("check journal head: id %q is not a token", h.ID)
	}
	return h.Identity.Validate()
}

// Entry is one chunk of bytes as read, or one control payload. Times never run back within a
// journal. Data byte i stands at Offset + i in the file, which names it for ever: offsets of data
// rise from entry to entry, and each is greater than the end of the head.
type Entry struct {
	Lane
	From   schema.From
	Type   schema.FrameType
	At     time.Time // UTC
	Data   []byte
	Offset uint64 // of Data's first byte in the file; with Lost, of the first damaged byte
	// Lost is how many damaged bytes of the file the entry stands for; 0 for an entry as written. It
	// is a gap then, and its Data, a schema.GapInfo, are the reader's word and stand in no file.
	Lost uint64
}

// Start is the offset of the entry's first byte in the file. The bytes from there up to Offset are its
// head, at least 24 of them; damage has none.
func (e Entry) Start() uint64 {
	if e.Lost > 0 {
		return e.Offset
	}
	return e.Offset - entryHead - uint64(len(e.prefix()))
}

// End is the offset just behind the entry's data, or behind the damage.
func (e Entry) End() uint64 {
	if e.Lost > 0 {
		return e.Offset + e.Lost
	}
	return e.Offset + uint64(len(e.Data))
}

// WhenFull says what happens to a conversation when it cannot be kept.
type WhenFull string

// Policies.
const (
	Block WhenFull = "block" // hold the conversation until there is room, on the disk too; fail it when a write fails otherwise
	Pass  WhenFull = "pass"  // let it go on, and record how much was not kept
)

// ParseWhenFull reads block or pass; empty is block.
func ParseWhenFull(s string) (WhenFull, error) {
	switch w := WhenFull(s); w {
	case "":
		return Block, nil
	case Block, Pass:
		return w, nil
	}
	return "", fmt.Errorf("parse policy for a full journal %q: want block or pass", s)
}
