// Package reach has what interventions reach: a connection of ACP, and the tasks of an A2A peer.
package reach

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/steno-io/steno/ingest/headless"
	"github.com/steno-io/steno/ingest/intervene"
	"github.com/steno-io/steno/schema"
)

// Approvals lets interventions decide what an agent is allowed. The zero value is ready.
type Approvals struct {
	mu      sync.Mutex
	waiting []*question // oldest first
}

type question struct {
	headless.Question
	decided chan headless.Decision // of one, which is never waited for
	settled chan error             // of one: what became of it
}

var (
	_ headless.Approver = (*Approvals)(nil)
	_ intervene.Target  = (*Approvals)(nil)
)

// Ask implements headless.Approver. A decision that was answered Applied is never lost to the deadline.
func (a *Approvals) Ask(ctx context.Context, q headless.Question) (headless.Decision, error) {
	mine := &question{q, make(chan headless.Decision, 1), make(chan error, 1)}
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

// Supported implements intervene.Target: it takes approvals while a question waits.
func (a *Approvals) Supported() []schema.Primitive {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.waiting) == 0 {
		return nil
	}
	return []schema.Primitive{schema.PrimitiveRespond}
}

// Deliver implements intervene.Target. It is Applied once the decision is recorded and the agent answered,
// which is told within seconds of it.
func (a *Approvals) Deliver(_ context.Context, i schema.Intervention) schema.Outcome {
	if i.Kind.Kind != schema.PrimitiveRespond {
		return schema.NotSupported(i.Kind.Kind)
	}
	q, err := a.decide(i)
	if err == nil {
		err = <-q.settled
	}
	if err != nil {
		return schema.Stale("%v", err)
	}
	return schema.Applied()
}

// decide gives a decision to the question that it is meant for, which then waits no more.
func (a *Approvals) decide(i schema.Intervention) (*question, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	approve := i.Kind.Decision.Decision == schema.DecisionApprove
	asked := a.meant(i)
	switch {
	case len(asked) == 0:
		return nil, fmt.Errorf("no tool call %s waits for an approval", schema.Quoted(cmp.Or(i.Kind.CallID, i.Kind.Request)))
	case len(asked) > 1:
		return nil, errors.New("several wait: name the request")
	case approve && !asked[0].Once:
		return nil, errors.New("the agent does not offer to allow this once")
	}
	q := asked[0]
	a.drop(q)
	q.decided <- headless.Decision{
		Approved: approve, By: i.IssuedBy, Note: i.Kind.Note, Intervention: i.ID, Settled: func(err error) { q.settled <- err },
	}
	return q, nil
}

// meant are the questions that an intervention may mean, oldest first. A call id is the agent's own, or the
// request's, which a transcript shows as the tool's approvalId; only the latter is one of a kind. One that
// names neither means nothing: nobody approves by mistake.
func (a *Approvals) meant(i schema.Intervention) (asked []*question) {
	k := i.Kind
	if k.CallID == "" && k.Request == "" {
		return nil
	}
	for _, q := range a.waiting {
		call := k.CallID == "" || k.CallID == q.CallID || k.CallID == q.Request
		if call && (i.Session == "" || i.Session == q.Session) && (k.Request == "" || k.Request == q.Request) {
			asked = append(asked, q)
		}
	}
	return asked
}
