package intervene

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
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
	waiting  []*question         // oldest first
	answered map[string]answered // by intervention id
	order    []string            // of answered, oldest first
}

type question struct {
	headless.Question
	decided chan headless.Decision // of one, which is never waited for
}

// answered is what became of a command.
type answered struct {
	command [sha256.Size]byte
	outcome []byte
}

var _ headless.Approver = (*Approvals)(nil)

// Listen subscribes to the capture's subject, until Close. It returns when the server has heard of it.
func Listen(conn *nats.Conn, id schema.Identity) (*Approvals, error) {
	a := &Approvals{answered: map[string]answered{}}
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
	mine := &question{q, make(chan headless.Decision, 1)}
	a.mu.Lock()
	a.waiting = append(a.waiting, mine)
	a.mu.Unlock()
	select {
	case d := <-mine.decided:
		return d, nil
	case <-ctx.Done():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.drop(mine) {
		return headless.Decision{}, ctx.Err()
	}
	return <-mine.decided, nil
}

// drop takes a question off the list, and reports whether it was there; a.mu is held.
func (a *Approvals) drop(q *question) bool {
	i := slices.Index(a.waiting, q)
	if i < 0 {
		return false
	}
	a.waiting = slices.Delete(a.waiting, i, i+1)
	return true
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

// apply carries a command out, once, and gives its outcome. Another command under the id of an earlier one
// is refused: its sender would take the first one's outcome for its own.
func (a *Approvals) apply(c command) []byte {
	digest := sha256.Sum256(encode(c))
	a.mu.Lock()
	defer a.mu.Unlock()
	if first, ok := a.answered[c.ID]; ok && first.command != digest {
		return encode(refusal{fmt.Sprintf("read intervention: id %q was another one's: every intervention has its own", c.ID)})
	} else if ok {
		return first.outcome
	}
	result := encode(a.decide(c))
	if len(a.order) == maxAnswered {
		delete(a.answered, a.order[0])
		a.order = a.order[1:]
	}
	a.answered[c.ID] = answered{digest, result}
	a.order = append(a.order, c.ID)
	return result
}

func (a *Approvals) decide(c command) outcome {
	if c.Kind.Kind != respond {
		return outcome{Outcome: "CapabilityNotSupported", Primitive: &primitive{c.Kind.Kind}}
	}
	approve := c.Kind.Decision.Decision == "Approve"
	asked := a.meant(c)
	switch {
	case len(asked) == 0:
		return stale("no tool call %q waits for an approval", cmp.Or(c.Kind.CallID, c.Kind.Request))
	case len(asked) > 1:
		return stale("several wait: name the request")
	case approve && !asked[0].Once:
		return stale("the agent does not offer to allow this once")
	}
	a.drop(asked[0])
	asked[0].decided <- headless.Decision{Approved: approve, By: c.IssuedBy, Note: c.Kind.Note, Intervention: c.ID}
	return applied
}

// meant are the questions that a command may mean, oldest first. A call id is the agent's own, or the
// request's, which a transcript shows as the tool's approvalId; only the latter is one of a kind.
func (a *Approvals) meant(c command) (asked []*question) {
	k := c.Kind
	if k.CallID == "" && k.Request == "" {
		return nil
	}
	for _, q := range a.waiting {
		call := k.CallID == "" || k.CallID == q.CallID || k.CallID == q.Request
		if call && (k.Session == "" || k.Session == q.Session) && (k.Request == "" || k.Request == q.Request) {
			asked = append(asked, q)
		}
	}
	return asked
}

// encode writes an answer, which has nothing that JSON cannot say.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode outcome: %v", err))
	}
	return b
}
