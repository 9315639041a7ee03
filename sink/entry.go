package sink

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/steno-io/steno/schema"
)

// Entry is one record as it came from STENO_EVENTS, checked and ready to be numbered.
type Entry struct {
	Capture schema.Identity
	Seq     uint64    // stream sequence
	At      time.Time // when it was put on the stream, in UTC
	Digest  string    // of the message
	Record  schema.Record
	Refused error // set: nobody can store this record, so its capture is to be parked

	facts []facts // of Record.Events, one each
	bytes int     // of Record.Events
}

// NewEntry checks a record. One that says something impossible of itself gives an entry with
// Refused set, which parks its capture when it is stored.
func NewEntry(id schema.Identity, seq uint64, at time.Time, digest string, r schema.Record) Entry {
	e := Entry{Capture: id, Seq: seq, At: at, Digest: digest, Record: r}
	if err := e.read(); err != nil {
		e.Refused = fmt.Errorf("read record %d of %s: %w", seq, id, err)
	}
	return e
}

// added is when what the entry begins came to be here. What a tap records belongs to the time of its
// frames, also when its journal waited for days; its run is a UUID of version 7. Everything else, and
// an import of old frames first of all, is as old as its record.
func (e *Entry) added() time.Time {
	if run, err := uuid.Parse(e.Capture.Run); err == nil && run.Version() == 7 && len(e.facts) > 0 {
		return e.facts[0].at
	}
	return e.At
}

// RefusedEntry is the entry of a message that does not decode as a record.
func RefusedEntry(id schema.Identity, seq uint64, at time.Time, digest string, err error) Entry {
	return Entry{Capture: id, Seq: seq, At: at, Digest: digest, Refused: err}
}

// Digest is SHA-256, in hex, of what tells a record's message from another one at the same sequence.
func Digest(subject string, header map[string][]string, data []byte) string {
	h := sha256.New()
	h.Write([]byte(subject))
	for _, name := range []string{schema.HeaderOrigin, schema.HeaderOrdinals, schema.HeaderChain, schema.HeaderBlob} {
		h.Write([]byte{'\n'})
		for _, value := range header[name] {
			h.Write([]byte(value))
		}
	}
	h.Write([]byte{'\n'})
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

var errNoEvents = errors.New("it has no events")

// read scans the events and holds them against the record's own statements.
func (e *Entry) read() error {
	r := &e.Record
	if len(r.Events) == 0 {
		return errNoEvents
	}
	e.facts = make([]facts, len(r.Events))
	scan := newScanner(e.Capture)
	var before schema.Origin
	for i, event := range r.Events {
		f := &e.facts[i]
		if err := scan.event(event, f); err != nil {
			return fmt.Errorf("read event %d of %d: %w", i+1, len(r.Events), err)
		}
		if before.Compare(f.origin) >= 0 {
			return fmt.Errorf("read event %d of %d: origin %s does not follow %s", i+1, len(r.Events), f.origin, before)
		}
		before = f.origin
		if r.First[f.session] == 0 {
			return fmt.Errorf("read event %s: no ordinal for session %d", f.origin, f.session)
		}
		e.bytes += len(event)
	}
	if before != r.Last {
		return fmt.Errorf("last event is %s, the header says %s", before, r.Last)
	}
	return nil
}
