package filing

import (
	"bytes"
	"encoding/json"
	"fmt"
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
const releaseSlots = 16

// Cutter makes frames of a proxy's journal. A request is a frame, an answer is one, or one for each
// server-sent event; a copy that was served in the stead of one of them is cut alike. It is pure: the
// same entries give the same frames, with offsets that rise strictly.
type Cutter struct {
	journal string
	open    map[uuid.UUID]*exchange
	order   []*exchange // those that are open, by their first entry
	offset  uint64      // of the last frame
	at      time.Time   // of the last frame
}

// NewCutter makes the cutter of the journal with that head; no frame is earlier than the head.
func NewCutter(h journal.Head) *Cutter {
	return &Cutter{journal: h.ID, at: h.CreatedAt, open: map[uuid.UUID]*exchange{}}
}

// Cut appends the frames that an entry completes. It keeps nothing of e.Data.
func (c *Cutter) Cut(dst []schema.Frame, e journal.Entry) ([]schema.Frame, error) {
	if e.Exchange == uuid.Nil {
		return c.outside(dst, e)
	}
	x := c.exchange(e.Exchange)
	slot := e.Start() + releaseSlots
	cut := &cutting{cutter: c, x: x, dst: dst, next: func() uint64 { slot++; return slot }}
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
		cut.fail(fmt.Errorf("want data, http, gap or close, got %q", e.Type))
	}
	if cut.err != nil {
		return cut.dst, fmt.Errorf("cut entry at %d of journal %s, exchange %s: %w", e.Offset, c.journal, x.name, cut.err)
	}
	return cut.dst, nil
}

// outside takes an entry of no exchange: damage may have been of any. Each open exchange says so with
// its next frame; where none is open, the gap stands alone.
func (c *Cutter) outside(dst []schema.Frame, e journal.Entry) ([]schema.Frame, error) {
	if e.Type != schema.TypeGap {
		return dst, fmt.Errorf("cut entry at %d of journal %s: %s of no exchange", e.Offset, c.journal, e.Type)
	}
	payload := bytes.Clone(e.Data)
	for _, x := range c.order {
		x.damage = append(x.damage, damage{e.At, payload})
	}
	if len(c.order) > 0 {
		return dst, nil
	}
	cut := &cutting{cutter: c, x: &exchange{}, dst: dst}
	cut.control(schema.TypeGap, e.At, payload, e.End())
	return cut.dst, cut.err
}

// End appends what is left at the journal's end, and the close of every exchange that has none: its
// writer died. The frames stand behind end.
func (c *Cutter) End(dst []schema.Frame, end uint64) ([]schema.Frame, error) {
	slot := end + releaseSlots
	for len(c.order) > 0 {
		x := c.order[0]
		cut := &cutting{cutter: c, x: x, dst: dst, next: func() uint64 { slot++; return slot }}
		cut.damage()
		cut.flush(nil)
		payload, err := json.Marshal(schema.CloseInfo{Reason: schema.ReasonWriterDied, Exchange: x.name})
		if err != nil {
			return cut.dst, fmt.Errorf("write close of exchange %s: %w", x.name, err)
		}
		cut.control(schema.TypeClose, c.at, payload, cut.next())
		c.forget(x)
		if dst = cut.dst; cut.err != nil {
			return dst, fmt.Errorf("cut the end of journal %s, exchange %s: %w", c.journal, x.name, cut.err)
		}
	}
	return dst, nil
}

func (c *Cutter) exchange(id uuid.UUID) *exchange {
	x := c.open[id]
	if x == nil {
		x = &exchange{id: id, name: id.String()}
		c.open[id] = x
		c.order = append(c.order, x)
	}
	return x
}

func (c *Cutter) forget(x *exchange) {
	delete(c.open, x.id)
	c.order = slices.DeleteFunc(c.order, func(other *exchange) bool { return other == x })
}

// cutting is the cutting of one entry.
type cutting struct {
	cutter *Cutter
	x      *exchange
	dst    []schema.Frame
	next   func() uint64 // the next offset for a frame that ends with no byte of its own
	err    error
}

func (c *cutting) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// damage gives what was begun before the journal was damaged, and the gap.
func (c *cutting) damage() {
	if len(c.x.damage) == 0 {
		return
	}
	c.flush(nil)
	for _, d := range c.x.damage {
		c.control(schema.TypeGap, d.at, d.payload, c.next())
	}
	c.x.damage = nil
}

// evidence begins a body; one that was open at its place has ended.
func (c *cutting) evidence(e journal.Entry) {
	c.flush(func(b *body) bool { return b.lane == e.Lane })
	b := c.x.begin(e.Lane)
	b.at = e.At
	b.evidence = bytes.Clone(e.Data)
	var says wire.Evidence
	if err := json.Unmarshal(b.evidence, &says); err != nil {
		c.fail(fmt.Errorf("read HTTP evidence: %w", err))
		return
	}
	b.says = says
	if !b.asks() {
		return
	}
	b.sized, b.want = true, says.Bytes
	if b.want == 0 {
		c.whole(b, e.End())
	}
}

// data adds a chunk to its body.
func (c *cutting) data(e journal.Entry) {
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
	if b.sized && uint64(len(b.data)) >= b.want {
		c.whole(b, e.End())
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

// gap ends what was begun on the sides of which something is missing.
func (c *cutting) gap(e journal.Entry) {
	var info schema.GapInfo
	if err := json.Unmarshal(e.Data, &info); err != nil {
		c.fail(fmt.Errorf("read gap: %w", err))
		return
	}
	c.flush(func(b *body) bool { return info.From[b.from] > 0 || info.From[schema.FromControl] > 0 })
	c.control(schema.TypeGap, e.At, bytes.Clone(e.Data), e.End())
}

// control gives a control frame.
func (c *cutting) control(typ schema.FrameType, at time.Time, payload []byte, offset uint64) {
	c.add(schema.Frame{At: at, From: schema.FromControl, Type: typ, End: schema.EndNone, Data: payload}, offset)
}

// add gives a frame its place and its time, which is never before the one before.
func (c *cutting) add(f schema.Frame, offset uint64) {
	k := c.cutter
	if offset <= k.offset {
		c.fail(fmt.Errorf("a frame ends at %d, behind one that ends at %d", offset, k.offset))
		return
	}
	if f.At.Before(k.at) {
		f.At = k.at
	}
	k.offset, k.at = offset, f.At
	f.Exchange = c.x.name
	f.Writer = schema.Writer{Journal: k.journal, Offset: offset}
	c.dst = append(c.dst, f)
}
