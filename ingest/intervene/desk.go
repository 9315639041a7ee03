package intervene

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/steno-io/steno/schema"
)

// hearWithin is how long a server may take to hear that somebody listens.
const hearWithin = 10 * time.Second

// Desk takes interventions for one target, each once: it remembers their outcomes, over all connections
// that it is served on. Those of a lane are carried out one after the other; one that would have to wait longer
// than MaxWait is stale: what it was meant for may be over by then.
//
//	subject ──▶ receive: when it came ──▶ a lane's queue ──▶ deliver ──▶ Target
type Desk struct {
	target Target
	now    func() time.Time
	under  [lanes]sync.Mutex // held while one of the lane is carried out

	mu       sync.Mutex
	answered map[string]*answered // by intervention id
	order    []string             // of answered, oldest first
}

// Lanes: what is in one does not wait for what is in another. A cancel is meant for what goes on now, which may be
// what another intervention has begun and waits for.
const (
	laneOthers = iota
	laneCancels
	lanes // how many there are
)

func laneOf(i schema.Intervention) int {
	if i.Kind.Kind == schema.PrimitiveCancel {
		return laneCancels
	}
	return laneOthers
}

// answered is what became of an intervention.
type answered struct {
	command [sha256.Size]byte
	known   chan struct{} // closed when answer is
	answer  []byte
}

// NewDesk makes the desk of a target.
func NewDesk(target Target) *Desk {
	return &Desk{target: target, now: time.Now, answered: map[string]*answered{}}
}

// arrival is an intervention with how and when it came.
type arrival struct {
	*nats.Msg
	schema.Intervention
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
	var queues [lanes]chan arrival
	var under sync.WaitGroup
	for lane := range queues {
		queue := make(chan arrival, maxQueue)
		queues[lane] = queue
		under.Go(func() {
			for a := range queue {
				_ = a.Respond(d.deliver(ctx, a.Intervention, a.at)) // a sender that hears nothing asks again, and gets the first outcome
			}
		})
	}
	failed := d.receive(ctx, sub, queues)
	for _, queue := range queues {
		close(queue)
	}
	under.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("listen for interventions: %w", failed)
}

// receive queues what comes, with when it came, until ctx ends or the connection is closed.
func (d *Desk) receive(ctx context.Context, sub *nats.Subscription, queues [lanes]chan arrival) error {
	for {
		m, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			return err
		}
		if !schema.IsInbox(m.Reply) {
			continue // nobody would hear what became of it
		}
		i, answer := d.read(m)
		if answer == nil {
			select {
			case queues[laneOf(i)] <- arrival{m, i, d.now()}:
			default:
				answer = busy()
			}
		}
		if answer != nil {
			_ = m.Respond(answer) // a sender that hears nothing asks again
		}
	}
}

// read gives the intervention that a message is, or the answer to one that is none.
func (d *Desk) read(msg *nats.Msg) (i schema.Intervention, answer []byte) {
	m, err := read(msg.Subject, msg.Data)
	switch {
	case err != nil:
		return i, encode(refusal{Error: err.Error()})
	case m.Capabilities:
		return i, encode(schema.NewCapabilities(d.target.Supported()))
	}
	return m.Intervention, nil
}

// busy answers what finds no place. The same one may wait already: so it does not say that nothing was done.
func busy() []byte {
	return encode(refusal{Error: "too many interventions wait for their turn: this one was not taken", Busy: true})
}

// deliver carries an intervention out that came at a time, and gives its outcome. Another one under the id of
// an earlier one is refused: its sender would take the first one's outcome for its own. When it was issued
// makes no other.
func (d *Desk) deliver(ctx context.Context, i schema.Intervention, at time.Time) []byte {
	first, again := d.first(i)
	switch {
	case first == nil:
		return encode(refusal{Error: fmt.Sprintf("read intervention: id %q was another one's: every intervention has its own", i.ID)})
	case again:
		<-first.known
		return first.answer
	}
	defer close(first.known)
	under := &d.under[laneOf(i)]
	under.Lock()
	defer under.Unlock()
	if ctx.Err() != nil { // nobody is there for whom
		d.forgetUndone(i.ID)
		first.answer = encode(schema.Stale("nobody takes interventions for it any more"))
		return first.answer
	}
	first.answer = encode(d.inTime(ctx, i, at))
	return first.answer
}

// forgetUndone forgets an intervention that is not carried out since its connection has gone: whoever hears nothing
// sends it again over the next one, and means it still.
func (d *Desk) forgetUndone(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.answered, id)
	d.order = slices.DeleteFunc(d.order, func(other string) bool { return other == id })
}

// first gives what is remembered under an intervention's id: nil if that is of another one. If nothing is, it is
// remembered from now on.
func (d *Desk) first(i schema.Intervention) (first *answered, again bool) {
	same := i
	same.IssuedAt = time.Time{}
	digest := sha256.Sum256(encode(same))
	d.mu.Lock()
	defer d.mu.Unlock()
	first, again = d.answered[i.ID]
	if again && first.command != digest {
		return nil, true
	}
	if !again {
		d.forget()
		first = &answered{command: digest, known: make(chan struct{})}
		d.answered[i.ID] = first
		d.order = append(d.order, i.ID)
	}
	return first, again
}

// forget makes room for one more, in the place of the oldest whose outcome is known: there are some, since fewer
// may wait. d.mu is held.
func (d *Desk) forget() {
	if len(d.order) < maxAnswered {
		return
	}
	for at, id := range d.order {
		select {
		case <-d.answered[id].known:
			delete(d.answered, id)
			d.order = slices.Delete(d.order, at, at+1)
			return
		default: // what came again would be done again
		}
	}
}

// inTime carries out what has not waited too long.
func (d *Desk) inTime(ctx context.Context, i schema.Intervention, at time.Time) schema.Outcome {
	if waited := d.now().Sub(at); waited > MaxWait {
		return schema.Stale("it would have been carried out %s after it came: others came before it", waited.Round(time.Millisecond))
	}
	return d.target.Deliver(ctx, i)
}
