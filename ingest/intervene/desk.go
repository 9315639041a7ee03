package intervene

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/steno-io/steno/schema"
)

// hearWithin is how long a server may take to hear that somebody listens.
const hearWithin = 10 * time.Second

// Desk takes interventions for one target, each once: it remembers their outcomes, over all connections
// that it is served on. They are carried out one after the other; one that would have to wait longer than
// MaxWait is stale: what it was meant for may be over by then.
//
//	subject ──▶ receive: when it came ──▶ queue ──▶ answer ──▶ Target
type Desk struct {
	target Target
	now    func() time.Time

	mu       sync.Mutex          // held while one is carried out: they come one after the other
	answered map[string]answered // by intervention id
	order    []string            // of answered, oldest first
}

// answered is what became of an intervention.
type answered struct {
	command [sha256.Size]byte
	answer  []byte
}

// NewDesk makes the desk of a target.
func NewDesk(target Target) *Desk {
	return &Desk{target: target, now: time.Now, answered: map[string]answered{}}
}

// arrival is a message with when it came.
type arrival struct {
	*nats.Msg
	at time.Time
}

// Serve takes what comes on the capture's subject, until ctx ends, which is no error, or the connection is
// closed. served hears when the server knows of it; nil: nobody does.
func (d *Desk) Serve(ctx context.Context, conn *nats.Conn, id schema.Identity, served func()) error {
	sub, err := conn.SubscribeSync(schema.InterveneSubjects(id))
	if err != nil {
		return fmt.Errorf("listen for interventions: %w", err)
	}
	defer func() { _ = sub.Unsubscribe() }() // the connection may be gone
	heard, done := context.WithTimeout(ctx, hearWithin)
	err = conn.FlushWithContext(heard)
	done()
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return fmt.Errorf("listen for interventions: %w", err)
	}
	if served != nil {
		served()
	}
	queue := make(chan arrival, maxQueue)
	var failed error // once the queue is closed
	go func() {
		defer close(queue)
		failed = d.receive(ctx, sub, queue)
	}()
	for m := range queue {
		_ = m.Respond(d.answer(ctx, m.Subject, m.Data, m.at)) // a sender that hears nothing asks again, and gets the first outcome
	}
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("listen for interventions: %w", failed)
}

// receive queues what comes, with when it came, until ctx ends or the connection is closed.
func (d *Desk) receive(ctx context.Context, sub *nats.Subscription, queue chan<- arrival) error {
	for {
		m, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			return err
		}
		if !schema.IsInbox(m.Reply) {
			continue // nobody would hear what became of it
		}
		select {
		case queue <- arrival{m, d.now()}:
		default: // as if it had not come: the same one may wait already, so that nobody can say that nothing was done
		}
	}
}

// answer does what a message asks for that came at a time, once.
func (d *Desk) answer(ctx context.Context, subject string, data []byte, at time.Time) []byte {
	m, err := read(subject, data)
	switch {
	case err != nil:
		return encode(refusal{err.Error()})
	case m.Capabilities:
		return encode(schema.NewCapabilities(d.target.Supported()))
	}
	return d.deliver(ctx, m.Intervention, at)
}

// deliver carries an intervention out that came at a time, and gives its outcome. Another one under the id of
// an earlier one is refused: its sender would take the first one's outcome for its own. When it was issued
// makes no other.
func (d *Desk) deliver(ctx context.Context, i schema.Intervention, at time.Time) []byte {
	same := i
	same.IssuedAt = time.Time{}
	digest := sha256.Sum256(encode(same))
	d.mu.Lock()
	defer d.mu.Unlock()
	if first, ok := d.answered[i.ID]; ok && first.command != digest {
		return encode(refusal{fmt.Sprintf("read intervention: id %q was another one's: every intervention has its own", i.ID)})
	} else if ok {
		return first.answer
	}
	answer := encode(d.inTime(ctx, i, at))
	if len(d.order) == maxAnswered {
		delete(d.answered, d.order[0])
		d.order = d.order[1:]
	}
	d.answered[i.ID] = answered{digest, answer}
	d.order = append(d.order, i.ID)
	return answer
}

// inTime carries out what has not waited too long, while somebody is there for whom.
func (d *Desk) inTime(ctx context.Context, i schema.Intervention, at time.Time) schema.Outcome {
	switch waited := d.now().Sub(at); {
	case ctx.Err() != nil:
		return schema.Stale("nobody takes interventions for it any more")
	case waited > MaxWait:
		return schema.Stale("it would have been carried out %s after it came: others came before it", waited.Round(time.Millisecond))
	}
	return d.target.Deliver(ctx, i)
}
