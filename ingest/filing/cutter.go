package filing

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
	wire "github.com/steno-io/steno/schema/wire/a2a"
)

// Places behind an entry's first byte, in its head, where no data stand. Frames are told apart by the
// offset behind their last byte; a frame that ends with no byte of its own gets one of these.
//
//	entry  0                16                          40
//	       ┌────────────────┬───────────────────────────┬────────┐
//	       │ held frames    │ bodies that end here      │ data … │
//	       └────────────────┴───────────────────────────┴────────┘
//
// An entry ends at most four bodies (a request, an answer, and a copy of each), each with evidence and,
// of a stream, with what stands behind its last event, and tells of one gap: thirteen frames. Behind the
// journal's last entry each exchange that has no end gets such a head.
const (
	releaseSlots = 16
	endSlots     = 64
)

// maxFrame is from how many bytes on a body goes on in another frame. No message is so large; a download
// may be.
const maxFrame = 64 << 20

// cutter makes frames of a proxy's journal. A request is a frame, an answer is one, or one for each
// server-sent event; a copy that was served in the stead of one of them is cut alike. It is pure: the
// same entries give the same frames, with offsets that rise strictly.
type cutter struct {
	journal string
	open    map[uuid.UUID]*exchange
	order   []*exchange // those that are open, by their first entry
	at      time.Time   // of the last frame
}

// newCutter makes the cutter of the journal with that head; no frame is earlier than the head.
func newCutter(h journal.Head) *cutter {
	return &cutter{journal: h.ID, at: h.CreatedAt, open: map[uuid.UUID]*exchange{}}
}

// cut appends the frames that an entry completes. It keeps nothing of e.Data. What no proxy writes is
// given as it is: nothing in one entry keeps those behind it from being stored.
func (c *cutter) cut(dst []schema.Frame, e journal.Entry) []schema.Frame {
	if e.Exchange == uuid.Nil {
		return c.outside(dst, e)
	}
	x := c.exchange(e.Exchange)
	cut := &cutting{cutter: c, x: x, dst: dst, slot: e.Start() + releaseSlots}
	cut.damage()
	switch e.Type {
	case schema.TypeData:
		cut.data(e)
	case schema.TypeHTTP:
		cut.evidence(e)
	case schema.TypeGap:
		cut.gap(e)
	case schema.TypeClose:
		cut.flush(nil)
		cut.control(schema.TypeClose, e.At, bytes.Clone(e.Data), e.End())
		c.forget(x)
	default:
		cut.control(e.Type, e.At, bytes.Clone(e.Data), e.End())
	}
	return cut.dst
}

// outside takes an entry of no exchange. A gap may have been of any: each that is open says so with its
// next frame; where none is open, it stands alone.
func (c *cutter) outside(dst []schema.Frame, e journal.Entry) []schema.Frame {
	cut := &cutting{cutter: c, x: &exchange{}, dst: dst}
	switch {
	case e.Type == schema.TypeData:
		cut.add(schema.Frame{At: e.At, From: e.From, Type: e.Type, End: schema.EndNone, Data: bytes.Clone(e.Data)}, e.End())
	case e.Type == schema.TypeGap && len(c.order) > 0:
		var info schema.GapInfo
		if err := json.Unmarshal(e.Data, &info); err != nil {
			info.Reason = string(e.Data) // the gap is what counts
		}
		for _, x := range c.order {
			x.lose(e.At, info)
		}
	default:
		cut.control(e.Type, e.At, bytes.Clone(e.Data), e.End())
	}
	return cut.dst
}

// end cuts what is left of one exchange that has no end at the journal's end, and its close: the writer
// died. The frames stand in a head at place. ok is false if every exchange has ended.
func (c *cutter) end(dst []schema.Frame, place uint64) (frames []schema.Frame, ok bool) {
	if len(c.order) == 0 {
		return dst, false
	}
	x := c.order[0]
	cut := &cutting{cutter: c, x: x, dst: dst, slot: place + releaseSlots}
	cut.damage()
	cut.flush(nil)
	cut.control(schema.TypeClose, c.at, encode(schema.CloseInfo{Reason: schema.ReasonWriterDied, Exchange: x.name}), cut.next())
	c.forget(x)
	return cut.dst, true
}

func (c *cutter) exchange(id uuid.UUID) *exchange {
	x := c.open[id]
	if x == nil {
		x = &exchange{id: id, name: id.String()}
		c.open[id] = x
		c.order = append(c.order, x)
	}
	return x
}

func (c *cutter) forget(x *exchange) {
	delete(c.open, x.id)
	c.order = slices.DeleteFunc(c.order, func(other *exchange) bool { return other == x })
}

// cutting is the cutting of one entry.
type cutting struct {
	cutter *cutter
	x      *exchange
	dst    []schema.Frame
	slot   uint64 // the last one that was used
}

// next is the next offset for a frame that ends with no byte of its own.
func (c *cutting) next() uint64 {
	c.slot++
	return c.slot
}

// damage gives what was begun before a gap that may have been of any exchange, and the gap.
func (c *cutting) damage() {
	if c.x.lost == nil {
		return
	}
	c.flush(nil)
	c.control(schema.TypeGap, c.x.lostAt, encode(c.x.lost), c.next())
	c.x.lost = nil
}

// evidence begins a body; one that was open at its place has ended.
func (c *cutting) evidence(e journal.Entry) {
	c.answered(e.Lane)
	c.flush(func(b *body) bool { return b.lane == e.Lane })
	b := c.x.begin(e.Lane)
	b.at = e.At
	b.evidence = bytes.Clone(e.Data)
	if err := json.Unmarshal(b.evidence, &b.says); err != nil {
		c.control(schema.TypeHTTP, e.At, b.evidence, c.next())
		b.says, b.evidence = wire.Evidence{}, nil
	}
	if !b.asks() {
		return
	}
	b.sized, b.want = true, b.says.Bytes
	if b.want == 0 {
		c.whole(b, e.End())
	}
}

// data adds a chunk to its body.
func (c *cutting) data(e journal.Entry) {
	c.answered(e.Lane)
	b := c.x.body(e.Lane)
	if b == nil { // its evidence is in a gap
		b = c.x.begin(e.Lane)
	}
	b.from, b.at = e.From, e.At
	if b.lane.Chan == schema.ChanStream {
		c.events(b, e)
		return
	}
	b.data = append(b.data, e.Data...)
	switch {
	case b.sized && uint64(len(b.data)) >= b.want:
		c.whole(b, e.End())
	case len(b.data) >= maxFrame:
		c.whole(b, e.End())
	}
}

// answered ends what was asked when an answer comes: a request whose length is in a gap goes before its
// answer all the same.
func (c *cutting) answered(l journal.Lane) {
	if l.Chan != schema.ChanRequest && l.Chan != schema.ChanPush {
		c.flush(func(b *body) bool { return b.asks() })
	}
}

// events cuts the server-sent events that a chunk completes.
func (c *cutting) events(b *body, e journal.Entry) {
	carried := b.carried
	at := 0
	for _, event := range b.events.Feed(nil, e.Data) {
		at += len(event.Raw)
		// An event that a CR ended is complete with the byte behind it: then it ends before this chunk.
		c.item(b, &event, e.Offset+uint64(max(at-carried, 0)))
	}
	b.carried = carried + len(e.Data) - at
}

// gap ends what was begun on the sides of which something is missing; of a gap that cannot be read, on
// all.
func (c *cutting) gap(e journal.Entry) {
	var info schema.GapInfo
	err := json.Unmarshal(e.Data, &info)
	c.flush(func(b *body) bool { return err != nil || info.From[b.from] > 0 || info.From[schema.FromControl] > 0 })
	c.control(schema.TypeGap, e.At, bytes.Clone(e.Data), e.End())
}

// control gives a control frame.
func (c *cutting) control(typ schema.FrameType, at time.Time, payload []byte, offset uint64) {
	c.add(schema.Frame{At: at, From: schema.FromControl, Type: typ, End: schema.EndNone, Data: payload}, offset)
}

// add gives a frame its place and its time, which is never before the one before.
func (c *cutting) add(f schema.Frame, offset uint64) {
	if f.At.Before(c.cutter.at) {
		f.At = c.cutter.at
	}
	c.cutter.at = f.At
	f.Exchange = c.x.name
	f.Writer = schema.Writer{Journal: c.cutter.journal, Offset: offset}
	c.dst = append(c.dst, f)
}

// encode writes what is made of strings and numbers alone, which cannot fail.
func encode(v any) []byte {
	payload, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return payload
}
