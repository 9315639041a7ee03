package publish

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
)

// sides are the directions that are cut apart, in the order in which their last unfinished lines
// become frames.
var sides = []schema.From{schema.FromClient, schema.FromAgent, schema.FromStderr}

// Cutter makes frames of a journal's entries. A line is a frame of its direction, without its LF; a
// CR stays, and an empty line is an empty frame. A control entry is a control frame. It is pure: the
// same entries give the same frames, so a publisher that begins anew recognises each by its offset.
//
// A frame's Writer.Offset is the journal offset behind its last byte. Offsets rise strictly from
// frame to frame. A frame's time is that of the chunk that completed it.
type Cutter struct {
	journal string
	rests   map[schema.From]*rest
	offset  uint64 // of the last frame
	at      time.Time
	closed  bool // a close frame of the whole capture was cut
}

// rest is the beginning of a line.
type rest struct {
	data []byte
	at   time.Time // of its last chunk
}

// NewCutter makes the cutter of the journal with that head; no frame is earlier than the head.
func NewCutter(h journal.Head) *Cutter {
	c := &Cutter{journal: h.ID, at: h.CreatedAt, rests: map[schema.From]*rest{}}
	for _, side := range sides {
		c.rests[side] = &rest{}
	}
	return c
}

// Closed reports whether a frame that closes the capture was cut.
func (c *Cutter) Closed() bool { return c.closed }

// Cut appends the frames that an entry completes. It keeps nothing of e.Data.
func (c *Cutter) Cut(dst []schema.Frame, e journal.Entry) ([]schema.Frame, error) {
	if e.Type != schema.TypeData {
		return c.control(dst, e)
	}
	r := c.rests[e.From]
	if r == nil {
		return dst, fmt.Errorf("cut entry at %d of journal %s: data from %q", e.Offset, c.journal, e.From)
	}
	chunk := bytes.Clone(e.Data) // one copy for all lines in it
	for start := 0; start < len(chunk); {
		n := bytes.IndexByte(chunk[start:], '\n')
		if n < 0 {
			// Only what is new is searched and copied, so a line of many chunks costs its length.
			r.data, r.at = append(r.data, chunk[start:]...), e.At
			break
		}
		line := chunk[start : start+n : start+n]
		if len(r.data) > 0 {
			line = append(r.data, line...)
			r.data = nil // the frame has it now
		}
		start += n + 1
		var err error
		if dst, err = c.add(dst, schema.Frame{
			At: e.At, From: e.From, Type: schema.TypeData, End: schema.EndLF, Data: line,
		}, e.Offset+uint64(start)); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// control makes a control frame. Behind a close no line goes on, and no line goes over a gap or over
// damage, which may have been of any side: what was begun there is a frame of its own.
func (c *Cutter) control(dst []schema.Frame, e journal.Entry) ([]schema.Frame, error) {
	var cut []schema.From
	switch e.Type {
	case schema.TypeClose:
		var info schema.CloseInfo
		if err := json.Unmarshal(e.Data, &info); err != nil {
			return dst, fmt.Errorf("cut close entry at %d of journal %s: %w", e.Offset, c.journal, err)
		}
		if info.Exchange == "" {
			c.closed, cut = true, sides
		}
	case schema.TypeGap:
		var info schema.GapInfo
		if err := json.Unmarshal(e.Data, &info); err != nil {
			return dst, fmt.Errorf("cut gap entry at %d of journal %s: %w", e.Offset, c.journal, err)
		}
		for _, side := range sides {
			if info.From[side] > 0 {
				cut = append(cut, side)
			}
		}
		if e.Lost > 0 {
			cut = sides
		}
	}
	// Every offset from the entry's first byte on is free up to the control frame's own, which is the
	// entry's end: the payload is a JSON object of more bytes than there are sides.
	first, last := e.Offset, e.End()
	if e.Lost > 0 {
		// Damage begins where the frame before it may end, and may be a single byte. Behind it an
		// entry's head is free.
		first, last = first+1, last+uint64(len(sides))
	}
	dst, err := c.finish(dst, cut, first)
	if err != nil {
		return dst, err
	}
	return c.add(dst, schema.Frame{
		At: e.At, From: schema.FromControl, Type: e.Type, End: schema.EndNone, Data: bytes.Clone(e.Data),
	}, last)
}

// End appends what is left at the journal's end, as frames at end+1, end+2 …
func (c *Cutter) End(dst []schema.Frame, end uint64) ([]schema.Frame, error) {
	return c.finish(dst, sides, end+1)
}

// Died appends the close frame of a capture whose writer left none, behind everything else.
func (c *Cutter) Died(dst []schema.Frame, end uint64) ([]schema.Frame, error) {
	payload, err := json.Marshal(schema.CloseInfo{Reason: schema.ReasonWriterDied})
	if err != nil {
		return dst, fmt.Errorf("write close frame of journal %s: %w", c.journal, err)
	}
	return c.add(dst, schema.Frame{
		At: c.at, From: schema.FromControl, Type: schema.TypeClose, End: schema.EndNone, Data: payload,
	}, max(end, c.offset)+1)
}

// finish makes frames of unfinished lines, at offset, offset+1 …
func (c *Cutter) finish(dst []schema.Frame, which []schema.From, offset uint64) ([]schema.Frame, error) {
	for _, side := range sides {
		r := c.rests[side]
		if len(r.data) == 0 || !slices.Contains(which, side) {
			continue
		}
		var err error
		if dst, err = c.add(dst, schema.Frame{
			At: r.at, From: side, Type: schema.TypeData, End: schema.EndNone, Data: r.data,
		}, offset); err != nil {
			return dst, err
		}
		r.data = nil
		offset++
	}
	return dst, nil
}

// add gives a frame its place and its time, which is never before the one before.
func (c *Cutter) add(dst []schema.Frame, f schema.Frame, offset uint64) ([]schema.Frame, error) {
	if offset <= c.offset {
		return dst, fmt.Errorf("cut journal %s: a frame ends at %d, behind one that ends at %d", c.journal, offset, c.offset)
	}
	if f.At.Before(c.at) {
		f.At = c.at
	}
	c.offset, c.at = offset, f.At
	f.Writer = schema.Writer{Journal: c.journal, Offset: offset}
	return append(dst, f), nil
}
