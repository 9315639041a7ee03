// Package intervene carries interventions to the process that owns a connection, over NATS: a message on
// the capture's subject, an answer with one of three outcomes. It goes to whoever is there now; nothing is
// kept for later, when it would hit something else than was meant.
//
//	command, console ──steno.intervene.<capture>.<who>──▶ Desk ──▶ Target ──▶ the peer
//	                 ◀───────────────outcome────────────
package intervene

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/steno-io/steno/schema"
)

// Bounds of a connection.
const (
	maxMessage  = 64 << 10 // bytes of a message
	maxAnswered = 1024     // outcomes that are remembered
	maxQueue    = 64       // messages of a lane that wait
)

// MaxWait is how long an intervention waits for others at most, until it is carried out. Who sends one waits
// longer for its answer: as long as the one before it and it itself may take, besides.
const MaxWait = 5 * time.Second

// Target is a connection, or what of one an intervention can reach.
type Target interface {
	// Supported are the primitives that it can deliver now.
	Supported() []schema.Primitive
	// Deliver carries an intervention out and returns when its outcome is known. It is NotSupported for
	// every kind that the target has no way to deliver, ever; whatever else keeps it from being delivered,
	// ctx's end included, makes it Stale. It is called once for an id, and for a cancel while another one is
	// being delivered.
	Deliver(ctx context.Context, i schema.Intervention) schema.Outcome
}

// Targets are several that are one: each kind goes to the first that has a way to deliver it.
type Targets []Target

// Supported implements Target.
func (t Targets) Supported() (list []schema.Primitive) {
	for _, one := range t {
		list = append(list, one.Supported()...)
	}
	return list
}

// Deliver implements Target.
func (t Targets) Deliver(ctx context.Context, i schema.Intervention) schema.Outcome {
	for _, one := range t {
		if o := one.Deliver(ctx, i); o.Outcome != schema.OutcomeNotSupported {
			return o
		}
	}
	return schema.NotSupported(i.Kind.Kind)
}

// message is what goes to the subject: an intervention, or the question what would be supported.
type message struct {
	Capabilities bool `json:"capabilities,omitempty"`
	schema.Intervention
}

// refusal answers what is no message, or one that is not taken now.
type refusal struct {
	Error string `json:"error"`
	Busy  bool   `json:"busy,omitempty"` // it may be sent again, under its id
}

// read reads a message that came on a subject; what it refuses was not sent as one. Who sent it is what the
// subject says: whatever else is claimed is dropped.
func read(subject string, data []byte) (m message, err error) {
	if len(data) > maxMessage {
		return m, fmt.Errorf("read intervention: %d bytes, at most %d", len(data), maxMessage)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("read intervention: %w", err)
	}
	if m.IssuedBy, err = schema.ParseIntervener(subject); err != nil {
		return m, fmt.Errorf("read intervention: %w", err)
	}
	if m.Capabilities && m.ID != "" {
		return m, errors.New("read intervention: an intervention, or the question for capabilities, not both")
	}
	if !m.Capabilities {
		err = m.Validate()
	}
	return m, err
}

// encode writes an answer, which has nothing that JSON cannot say.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode answer: %v", err))
	}
	return b
}
