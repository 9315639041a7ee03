package translate

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/steno-io/steno/schema"
)

// ErrFrame marks a frame that no fold can take: the capture is damaged, and folding it again gives
// the same error.
var ErrFrame = errors.New("frame does not continue the capture")

// Capture folds a capture from its first frame, counts each session's ordinals and checks that the
// frames are numbered 1, 2, 3 …
type Capture struct {
	id        schema.Identity
	catalogue *Catalogue
	version   string // wanted; empty: the protocol's current one
	quiet     bool   // ephemeral events are not wanted
	fold      Fold
	used      string
	frame     uint64
	last      schema.Origin
	ordinals  map[uint32]uint64
}

// NewCapture starts a capture. version is the one in its first record; empty for a new capture.
func NewCapture(id schema.Identity, catalogue *Catalogue, version string) *Capture {
	return &Capture{id: id, catalogue: catalogue, version: version, ordinals: map[uint32]uint64{}}
}

// Quiet says, before the first frame, that ephemeral events are not wanted: a translator that can leaves them out.
func (c *Capture) Quiet() { c.quiet = true }

// Step folds the next frame, appending its events to dst. An error wraps ErrFrame or says which
// translator is missing; it is deterministic.
func (c *Capture) Step(dst []schema.Event, f *schema.Frame) ([]schema.Event, error) {
	if f.Seq != c.frame+1 {
		return dst, fmt.Errorf("fold frame %d of %s: want frame %d: %w", f.Seq, c.id, c.frame+1, ErrFrame)
	}
	if c.fold == nil {
		if err := c.start(f); err != nil {
			return dst, err
		}
	}
	start := len(dst)
	dst = c.fold.Step(dst, f)
	c.frame = f.Seq
	c.count(dst[start:])
	return dst, nil
}

// start chooses the translator by the first frame, which must say its protocol.
func (c *Capture) start(f *schema.Frame) error {
	var info schema.OpenInfo
	if f.Type == schema.TypeOpen {
		if err := json.Unmarshal(f.Data, &info); err != nil {
			return fmt.Errorf("read open frame of %s: %w: %w", c.id, err, ErrFrame)
		}
	} else {
		info.Protocol = f.Protocol
	}
	if info.Protocol == "" {
		return fmt.Errorf("fold frame %d of %s: a capture begins with an open frame that names its protocol: %w", f.Seq, c.id, ErrFrame)
	}
	t, err := c.catalogue.ByProtocol(info.Protocol)
	if c.version != "" {
		t, err = c.catalogue.ByVersion(c.version)
	}
	if err != nil {
		return fmt.Errorf("fold %s: %w", c.id, err)
	}
	c.fold, c.used = t.Fold(c.id), t.Version()
	if q, ok := c.fold.(Quieter); ok && c.quiet {
		q.Quiet()
	}
	return nil
}

// End folds the end of a capture that has no close frame.
func (c *Capture) End(dst []schema.Event) []schema.Event {
	if c.fold == nil {
		return dst
	}
	start := len(dst)
	dst = c.fold.End(dst)
	c.count(dst[start:])
	return dst
}

func (c *Capture) count(events []schema.Event) {
	for i := range events {
		if !events[i].Ephemeral {
			c.ordinals[events[i].Session]++
			c.last = events[i].Origin()
		}
	}
}

// Frame is the number of the last frame folded; 0 before the first.
func (c *Capture) Frame() uint64 { return c.frame }

// Last is the origin of the last durable event given; zero before the first.
func (c *Capture) Last() schema.Origin { return c.last }

// Ordinal is the number of durable events given for a session so far.
func (c *Capture) Ordinal(session uint32) uint64 { return c.ordinals[session] }

// Version is the translator version in use; empty before the first frame.
func (c *Capture) Version() string { return c.used }

// Open tells what is not finished.
func (c *Capture) Open() Open {
	if c.fold == nil {
		return Open{}
	}
	return c.fold.Open()
}

// About tells what a list shows of a session.
func (c *Capture) About(session uint32) schema.About {
	if c.fold == nil {
		return schema.About{}
	}
	return c.fold.About(session)
}
