package reach

import (
	"context"
	"errors"
	"time"

	"github.com/steno-io/steno/ingest/intervene"
	"github.com/steno-io/steno/ingest/tap"
	"github.com/steno-io/steno/ingest/turns"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
)

// Patience is how long a line may wait for its place in the agent's input.
const Patience = 5 * time.Second

var cancels = []schema.Primitive{schema.PrimitiveCancel}

// Tapped cancels turns of an agent that has a client of its own: it says so to the agent, as the client
// would. Both versions of the protocol have the same notification for it.
//
// The protocol wants a client that cancels to answer the agent's open permission requests with cancelled.
// A tap does not: these questions are the client's, which shows them to somebody and answers them once; a
// second answer would be one to nothing, or to a later request of the same id. The client's own answer
// passes as ever, and says what its user has decided. An agent that waits for it ends its turn then.
//
// Where a journal lets pass what it cannot keep, it counts a line of ours with what it did not keep.
//
// Nothing else is delivered. What a user says begins a turn, as a request whose answer goes to who asked:
// the client would get an answer that it did not ask for.
type Tapped struct {
	Turns   *turns.Turns
	Inlet   *tap.Inlet
	Journal tap.Journal // the tap's
}

var _ intervene.Target = Tapped{}

// Supported implements intervene.Target.
func (t Tapped) Supported() []schema.Primitive {
	if !t.Inlet.Open() {
		return nil
	}
	return cancels
}

// Deliver implements intervene.Target.
func (t Tapped) Deliver(ctx context.Context, i schema.Intervention) schema.Outcome {
	if i.Kind.Kind != schema.PrimitiveCancel {
		return schema.NotSupported(i.Kind.Kind)
	}
	ctx, done := context.WithTimeout(ctx, Patience)
	defer done()
	var info schema.InterventionInfo
	err := t.Inlet.Say(ctx, func() ([]byte, any, error) {
		session, err := t.Turns.Find(i.Session)
		if err != nil {
			return nil, nil, err
		}
		info = schema.InterventionInfo{Intervention: i, Line: cancelLine(session.Raw)}
		info.Session = session.ID
		return []byte(info.Line + "\n"), info, nil
	})
	if err == nil {
		return schema.Applied()
	}
	outcome := schema.Stale("%v", err)
	if errors.Is(err, tap.ErrUnwritten) {
		return recordOutcome(ctx, t.Journal, info, outcome)
	}
	return outcome
}

func cancelLine(session []byte) string {
	return `{"jsonrpc":"2.0","method":"` + acp.MethodSessionCancel + `","params":{"sessionId":` + string(session) + `}}`
}

// recordOutcome says in the record that what stands there was not delivered. Where that cannot be recorded
// the record ends, too: its journal has failed.
func recordOutcome(ctx context.Context, journal tap.Journal, info schema.InterventionInfo, outcome schema.Outcome) schema.Outcome {
	info.Line, info.Outcome = "", &outcome
	kept, done := context.WithTimeout(context.WithoutCancel(ctx), Patience)
	defer done()
	if err := journal.Control(kept, schema.TypeIntervention, time.Now(), info); err != nil {
		return schema.Stale("%s; the record does not say so: %v", outcome.Detail, err)
	}
	return outcome
}

// Own cancels the turn of a client of ours, which says so to its agent by itself, and answers what the
// agent asks meanwhile.
type Own struct {
	Turns   *turns.Turns
	Journal tap.Journal
	Cancel  func() // cancels the turn; again: does nothing
}

var _ intervene.Target = Own{}

// Supported implements intervene.Target.
func (o Own) Supported() []schema.Primitive { return cancels }

// Deliver implements intervene.Target.
func (o Own) Deliver(ctx context.Context, i schema.Intervention) schema.Outcome {
	if i.Kind.Kind != schema.PrimitiveCancel {
		return schema.NotSupported(i.Kind.Kind)
	}
	session, err := o.Turns.Find(i.Session)
	if err != nil {
		return schema.Stale("%v", err)
	}
	i.Session = session.ID
	info := schema.InterventionInfo{Intervention: i}
	kept, done := context.WithTimeout(ctx, Patience)
	defer done()
	if err := o.Journal.Control(kept, schema.TypeIntervention, time.Now(), info); err != nil {
		return schema.Stale("it cannot be recorded: %v", err)
	}
	if _, err := o.Turns.Find(session.ID); err != nil { // it has ended while this waited for its place in the record
		return recordOutcome(ctx, o.Journal, info, schema.Stale("%v", err))
	}
	o.Cancel()
	return schema.Applied()
}
