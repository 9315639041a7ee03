package sink

import (
	"time"

	"github.com/steno-io/steno/schema"
)

// Capture is what a ledger keeps of a capture.
type Capture struct {
	ID         int64 // the ledger's own
	Capture    schema.Identity
	Partition  uint32
	Last       schema.Origin // of the last event stored: frames up to Last.Frame are covered
	Chain      string        // of that frame
	Translator string
	Status     schema.Status     // of session 0
	Open       map[uint32]uint64 // frames in open messages at Last, by session
	Accounted  uint64            // frames accounted for by the events of all sessions
	// LastCounted is the last frame that counted as the one that produced an event.
	LastCounted uint64
	// Shared are the frames named by events of frames that hold more than one object: several events
	// may name such a frame, and it counts once.
	Shared RangeSet
	Parked *Parked
}

// Transcript is what a ledger keeps of a transcript.
type Transcript struct {
	ID       int64 // the ledger's own
	Session  uint32
	Head     uint64 // last number given
	Dropped  uint64 // events up to this one are in an archive, and not in the ledger; see Dropped
	Frames   uint64 // accounted for by its events
	Messages uint64
	About    schema.About
	Prompt   string // first line of the first user message
	Source   schema.Source
	Stop     schema.StopReason
	FirstAt  time.Time
	LastAt   time.Time
	AddedAt  time.Time // as Entry.added of the record that first named it
}

// covers takes over what a record says of the capture. A record read again changes nothing.
func (c *Capture) covers(r *schema.Record) bool {
	if r.Last.Compare(c.Last) <= 0 {
		return false
	}
	c.Last, c.Chain, c.Translator, c.Open = r.Last, r.Chain, r.Translator, r.Open
	if about, ok := r.About[0]; ok && about.Status != "" {
		c.Status = about.Status
	}
	return true
}

// count tells how many frames a new event accounts for that no earlier event of the capture did.
// Frames other than the event's own belong to no other event, unless they are shared; its own may
// have produced several.
func (c *Capture) count(f *facts) uint64 {
	frames := f.others
	if f.own && f.origin.Frame > c.LastCounted {
		c.LastCounted = f.origin.Frame
		frames++
	}
	if f.shared != nil {
		frames = 0
		for _, r := range f.shared {
			frames += c.Shared.add(r)
		}
	}
	c.Accounted += frames
	return frames
}

// take takes a new event, which accounts for so many frames, into the lists.
func (t *Transcript) take(f *facts, frames uint64) {
	t.Head++
	t.Frames += frames
	if f.message {
		t.Messages++
	}
	if t.Prompt == "" {
		t.Prompt = f.firstLine
	}
	if f.stop != "" {
		t.Stop = f.stop
	}
	if f.source.Protocol != "" {
		t.Source.Protocol, t.Source.Dialect = f.source.Protocol, f.source.Dialect
	}
	if t.Source.SessionID == "" {
		t.Source.SessionID = f.source.SessionID
	}
	if t.FirstAt.IsZero() {
		t.FirstAt = f.at
	}
	t.LastAt = f.at
}

// merge takes over what changed about the transcript; what is empty did not change.
func (t *Transcript) merge(a schema.About) {
	if a.Agent != "" {
		t.About.Agent = a.Agent
	}
	if a.Title != "" {
		t.About.Title = a.Title
	}
	if a.Cwd != "" {
		t.About.Cwd = a.Cwd
	}
	if len(a.Labels) > 0 {
		t.About.Labels = a.Labels
	}
	if a.Status != "" {
		t.About.Status = a.Status
	}
}
