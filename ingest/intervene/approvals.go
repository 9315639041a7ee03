package intervene

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/steno-io/steno/ingest/headless"
	"github.com/steno-io/steno/schema"
)

// Approvals lets whoever may send to a capture's subject decide what its agent is allowed. Who decided
// is what the message says: NATS does not tell the receiver who has sent it.
type Approvals struct {
	sub *nats.Subscription

	mu       sync.Mutex
	waiting  map[string][]question // by call id, oldest first
	answered map[string][]byte     // outcomes by intervention id
	order    []string              // of answered, oldest first
}

type question struct{ decided chan headless.Decision } // of one, which is never waited for

var _ headless.Approver = (*Approvals)(nil)

// Listen subscribes to the capture's subject, until Close. It returns when the server has heard of it.
func Listen(conn *nats.Conn, id schema.Identity) (*Approvals, error) {
	a := &Approvals{waiting: map[string][]question{}, answered: map[string][]byte{}}
	var err error
	if a.sub, err = conn.Subscribe(schema.InterveneSubject(id), a.take); err != nil {
		return nil, fmt.Errorf("listen for interventions: %w", err)
	}
	if err := conn.Flush(); err != nil {
		return nil, fmt.Errorf("listen for interventions: %w", err)
	}
	return a, nil
}

// Close ends the subscription.
func (a *Approvals) Close() error {
	if err := a.sub.Unsubscribe(); err != nil {
		return fmt.Errorf("listen no more for interventions: %w", err)
	}
	return nil
}

// Ask implements headless.Approver. A decision that was answered Applied is never lost to the deadline.
func (a *Approvals) Ask(ctx context.Context, q headless.Question) (headless.Decision, error) {
	call := q.CallID
	if call == "" {
		call = q.Request
	}
	mine := question{make(chan headless.Decision, 1)}
	a.mu.Lock()
	a.waiting[call] = append(a.waiting[call], mine)
	a.mu.Unlock()
	select {
	case d := <-mine.decided:
		return d, nil
	case <-ctx.Done():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, w := range a.waiting[call] {
		if w == mine {
			a.drop(call, i)
			return headless.Decision{}, ctx.Err()
		}
	}
	return <-mine.decided, nil
}

// drop takes a question off the list; a.mu is held.
func (a *Approvals) drop(call string, i int) {
	left := append(a.waiting[call][:i:i], a.waiting[call][i+1:]...)
	if a.waiting[call] = left; len(left) == 0 {
		delete(a.waiting, call)
	}
}

// take answers a message.
func (a *Approvals) take(m *nats.Msg) {
	if !schema.IsInbox(m.Reply) {
		return // nobody would hear what became of it
	}
	c, err := readCommand(m.Data)
	if err != nil {
		_ = m.Respond(encode(refusal{err.Error()})) // a sender that hears nothing asks again
		return
	}
	_ = m.Respond(a.apply(c)) // likewise, and gets the first outcome
}

// apply carries a command out, once, and gives its outcome.
func (a *Approvals) apply(c command) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	if first, ok := a.answered[c.ID]; ok {
		return first
	}
	result := encode(a.decide(c))
	if len(a.order) == maxAnswered {
		delete(a.answered, a.order[0])
		a.order = a.order[1:]
	}
	a.answered[c.ID] = result
	a.order = append(a.order, c.ID)
	return result
}

func (a *Approvals) decide(c command) outcome {
	if c.Kind.Kind != respond {
		return outcome{Outcome: "CapabilityNotSupported", Primitive: &primitive{c.Kind.Kind}}
	}
	asked := a.waiting[c.Kind.CallID]
	if len(asked) == 0 {
		return stale("no tool call %q waits for an approval", c.Kind.CallID)
	}
	a.drop(c.Kind.CallID, 0)
	asked[0].decided <- headless.Decision{
		Approved: c.Kind.Decision.Decision == "Approve", By: c.IssuedBy, Note: c.Kind.Note, Intervention: c.ID,
	}
	return applied
}

// encode writes an answer, which has nothing that JSON cannot say.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode outcome: %v", err))
	}
	return b
}
