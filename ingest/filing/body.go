package filing

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
	wire "github.com/steno-io/steno/schema/wire/a2a"
)

// exchange is what is open of an HTTP exchange.
type exchange struct {
	id     uuid.UUID
	name   string
	no     uint64 // of the next data frame
	bodies []*body
	damage []damage
}

// damage is a gap that was not given yet.
type damage struct {
	at      time.Time
	payload []byte
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

// begin makes a body; until a byte says whose it is, it is the usual side's.
func (x *exchange) begin(lane journal.Lane) *body {
	b := &body{lane: lane}
	pushed := slices.ContainsFunc(x.bodies, func(b *body) bool { return b.lane.Chan == schema.ChanPush })
	b.from = schema.FromAgent
	if lane.Chan == schema.ChanRequest || pushed && lane.Chan == schema.ChanResponse {
		b.from = schema.FromClient
	}
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
				c.item(b, &events[i], c.next())
			}
			b.data = rest
		}
		if len(b.data) > 0 || b.frames == 0 && (b.evidence != nil || b.asks()) {
			c.whole(b, c.next())
		}
		b.sized = false
	}
}

// whole gives the body's bytes as one frame.
func (c *cutting) whole(b *body, offset uint64) {
	http := c.http(b, nil)
	data := b.data
	b.data, b.sized = nil, false
	c.frame(b, data, http, offset)
}

// item gives one event of a stream.
func (c *cutting) item(b *body, event *wire.Event, offset uint64) {
	c.frame(b, event.Raw, c.http(b, event), offset)
}

func (c *cutting) frame(b *body, data, http []byte, offset uint64) {
	f := schema.Frame{
		At: b.at, From: b.from, Type: schema.TypeData, End: schema.EndNone, No: c.x.no, Chan: b.lane.Chan, HTTP: http, Data: data,
	}
	b.frames++
	c.x.no++
	c.add(f, offset)
}

// http is the evidence that stands with a frame: that of its body with the first one, the event's own
// fields, and what marks a copy. What is too large for a header is a control frame before it.
func (c *cutting) http(b *body, event *wire.Event) []byte {
	first, evidence := b.evidence != nil, b.evidence
	says := b.says
	if !first {
		says = wire.Evidence{}
	}
	b.evidence = nil
	if event != nil {
		says.SSEEvent, says.SSEID = string(event.Name), string(event.ID)
	}
	if b.lane.Served {
		says.Served = served(b)
	}
	if !first && says.SSEEvent == "" && says.SSEID == "" && says.Served == "" {
		return nil
	}
	if event != nil || evidence == nil {
		var err error
		if evidence, err = json.Marshal(says); err != nil {
			c.fail(fmt.Errorf("write HTTP evidence: %w", err))
			return nil
		}
	}
	if len(evidence) <= schema.MaxHTTP {
		return evidence
	}
	c.control(schema.TypeHTTP, b.at, evidence, c.next())
	if says.Served == "" {
		return nil
	}
	return []byte(`{"served":"` + says.Served + `"}`)
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
