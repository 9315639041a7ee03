package filing

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
	wire "github.com/steno-io/steno/schema/wire/a2a"
)

// exchange is what the cutter has of an HTTP exchange that has not ended.
type exchange struct {
	id     uuid.UUID
	name   string
	no     uint64 // of the next data frame
	bodies []*body
	lost   *schema.GapInfo // a gap of the whole journal that was not given yet
	lostAt time.Time
}

// lose notes a gap of the whole journal; of several before the exchange's next frame it tells as one.
func (x *exchange) lose(at time.Time, gap schema.GapInfo) {
	x.lostAt = at
	if x.lost == nil {
		x.lost = &gap
		return
	}
	x.lost.Chunks += gap.Chunks
	x.lost.Bytes += gap.Bytes
}

// body is a request's or an answer's bytes, as far as they are no frames yet.
type body struct {
	lane     journal.Lane
	from     schema.From
	evidence []byte // the payload of its evidence; nil once it was given
	says     wire.Evidence
	sized    bool   // it ends when want bytes have come; else with its exchange
	want     uint64 // bytes
	data     []byte
	at       time.Time // of the last chunk
	events   wire.EventReader
	carried  int // bytes that events holds
	frames   int // that were given
}

func (x *exchange) body(lane journal.Lane) *body {
	i := slices.IndexFunc(x.bodies, func(b *body) bool { return b.lane == lane })
	if i < 0 {
		return nil
	}
	return x.bodies[i]
}

// begin makes the body of a place, in the stead of one that has ended there; until a byte says whose it
// is, it is the usual side's.
func (x *exchange) begin(lane journal.Lane) *body {
	b := &body{lane: lane, from: schema.FromAgent}
	pushed := slices.ContainsFunc(x.bodies, func(b *body) bool { return b.lane.Chan == schema.ChanPush })
	if lane.Chan == schema.ChanRequest || pushed && lane.Chan == schema.ChanResponse {
		b.from = schema.FromClient
	}
	x.bodies = slices.DeleteFunc(x.bodies, func(b *body) bool { return b.lane == lane })
	x.bodies = append(x.bodies, b)
	return b
}

// asks reports whether the body is that of a request or a push.
func (b *body) asks() bool {
	return b.lane.Chan == schema.ChanRequest || b.lane.Chan == schema.ChanPush
}

// flush gives what the chosen bodies hold, in their order; nil chooses all. What follows of a body
// flushed belongs to frames of its own.
func (c *cutting) flush(chosen func(*body) bool) {
	for _, b := range c.x.bodies {
		if chosen != nil && !chosen(b) {
			continue
		}
		if b.lane.Chan == schema.ChanStream {
			events, rest := b.events.Flush(nil)
			b.carried = 0
			for i := range events {
				c.item(b, &events[i], 0)
			}
			b.data = rest
		}
		if len(b.data) > 0 || b.frames == 0 && (b.evidence != nil || b.asks()) {
			c.whole(b, 0)
		}
		b.sized = false
	}
}

// whole gives the body's bytes as one frame. An offset of 0 is the next slot's.
func (c *cutting) whole(b *body, offset uint64) {
	data := b.data
	b.data, b.sized = nil, false
	c.frame(b, data, nil, offset)
}

// item gives one event of a stream.
func (c *cutting) item(b *body, event *wire.Event, offset uint64) {
	c.frame(b, event.Raw, event, offset)
}

// frame gives a data frame, behind its evidence where that needs a frame of its own.
func (c *cutting) frame(b *body, data []byte, event *wire.Event, offset uint64) {
	http := c.http(b, event)
	if offset == 0 {
		offset = c.next()
	}
	f := schema.Frame{
		At: b.at, From: b.from, Type: schema.TypeData, End: schema.EndNone, No: c.x.no, Chan: b.lane.Chan, HTTP: http, Data: data,
	}
	b.frames++
	c.x.no++
	c.add(f, offset)
}

// http is the evidence that stands with a frame: that of its body with the first one, the event's own
// fields, and what marks a copy. A body's evidence that is too large for a header is a control frame
// before it; an event's fields that are stand in its bytes alone.
func (c *cutting) http(b *body, event *wire.Event) []byte {
	first, evidence := b.evidence != nil, b.evidence
	says := wire.Evidence{}
	if first {
		says = b.says
	}
	b.evidence = nil
	if b.lane.Served {
		says.Served = served(b)
	}
	if event == nil && first && !b.lane.Served {
		return c.fitting(b, evidence)
	}
	if event != nil {
		own := wire.Evidence{SSEEvent: string(event.Name), SSEID: string(event.ID)}
		if len(encode(own)) <= schema.MaxHTTP/2 {
			says.SSEEvent, says.SSEID = own.SSEEvent, own.SSEID
		}
	}
	if !first && says.SSEEvent == "" && says.SSEID == "" && says.Served == "" {
		return nil
	}
	return c.fitting(b, encode(says))
}

// fitting is evidence as it fits a header; too large, it goes before, and only what marks a copy stays.
func (c *cutting) fitting(b *body, evidence []byte) []byte {
	if len(evidence) <= schema.MaxHTTP {
		return evidence
	}
	c.control(schema.TypeHTTP, b.at, evidence, c.next())
	if !b.lane.Served {
		return nil
	}
	return encode(wire.Evidence{Served: served(b)})
}

// served is the version that a copy speaks, also where its evidence is in a gap.
func served(b *body) string {
	switch {
	case b.says.Served != "":
		return b.says.Served
	case b.asks():
		return string(wire.V10)
	}
	return string(wire.V03)
}
