package sink

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"

	"github.com/steno-io/steno/schema"
)

// Dropped is a piece of a transcript whose events an archive has and the ledger has no more. The dropped pieces
// of a transcript follow one another from number 1 on.
type Dropped struct {
	Transcript  schema.Transcript
	First, Last uint64
	Archive     string // its name
	Seal        uint64 // last frame of the seal that covers them
	// Digests are the SHA-256 of the events as they were stored, 32 bytes each, in their order. By them an event
	// that comes again is told from another one, and what is read in an archive from what was dropped.
	Digests []byte
}

// MaxDropped is the most events in a piece. It bounds a transaction, and what is read to find one digest.
const MaxDropped = 4096

// ErrOther: an event is not the one that it should be.
var ErrOther = errors.New("another event has the number")

// Check checks that the piece says what it must.
func (d *Dropped) Check() error {
	switch n := d.Last - d.First + 1; {
	case d.First == 0 || d.Last < d.First || n > MaxDropped:
		return fmt.Errorf("a piece of events %d to %d: want 1 to %d of them", d.First, d.Last, MaxDropped)
	case uint64(len(d.Digests)) != n*sha256.Size:
		return fmt.Errorf("%d bytes of digests for %d events", len(d.Digests), n)
	case d.Archive == "":
		return errors.New("no archive is named")
	}
	return nil
}

// Add adds the event that comes next.
func (d *Dropped) Add(event []byte) {
	sum := sha256.Sum256(event)
	d.Digests = append(d.Digests, sum[:]...)
}

// Digest is the SHA-256 of the event of a number; nil if the piece has none of it.
func (d *Dropped) Digest(seq uint64) []byte {
	if seq < d.First || seq > d.Last || uint64(len(d.Digests)) < (seq-d.First+1)*sha256.Size {
		return nil
	}
	at := (seq - d.First) * sha256.Size
	return d.Digests[at : at+sha256.Size]
}

// Is reports whether bytes are those of the event of a number.
func (d *Dropped) Is(seq uint64, event []byte) bool {
	sum := sha256.Sum256(event)
	return bytes.Equal(d.Digest(seq), sum[:])
}

// DroppedError says that events are asked for which are in an archive, and not in the ledger any more.
type DroppedError struct{ Dropped }

// Error implements error.
func (e *DroppedError) Error() string {
	return fmt.Sprintf("events %d to %d of %s are in archive %s, and not in the ledger any more", e.First, e.Last, e.Transcript, e.Archive)
}

// Sealed gives the events of a dropped piece from a number on, all of them, out of the archive that has them. Bytes
// are the caller's.
type Sealed func(ctx context.Context, d Dropped, from uint64) iter.Seq2[Event, error]

// again holds an event that came again against the digest of the one that was dropped: what the two are, where
// they differ.
func again(digest, event []byte) (have []byte, same bool) {
	sum := sha256.Sum256(event)
	return []byte("sha256:" + hex.EncodeToString(digest)), bytes.Equal(digest, sum[:])
}
