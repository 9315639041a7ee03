package intervene

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/steno-io/steno/schema"
)

var (
	// ErrNobody: nobody takes interventions for the capture, so that nothing was done.
	ErrNobody = errors.New("nobody takes interventions for it")
	// ErrUnanswered: it was sent, and what became of it is not known. Sent again under its id, it is
	// answered with the first outcome.
	ErrUnanswered = errors.New("no answer came")
	// ErrRefused: it was not taken for an intervention, so that nothing was done.
	ErrRefused = errors.New("refused")
	// ErrBusy: it was not taken, since too many wait. Nothing was done by this try; one before it, under the same
	// id, may be among those that wait. Sent again under its id it is done once.
	ErrBusy = errors.New("busy")
)

// Send sends an intervention to whoever owns the capture's connection now, in the name of by, a token, and
// gives what became of it. The error wraps ErrNobody, ErrUnanswered, where ctx ends before the answer,
// ErrRefused or ErrBusy.
func Send(ctx context.Context, conn *nats.Conn, id schema.Identity, by string, i schema.Intervention) (o schema.Outcome, err error) {
	if err := i.Validate(); err != nil {
		return o, err
	}
	i.IssuedBy = "" // the subject says it
	if err := ask(ctx, conn, id, by, message{Intervention: i}, &o); err != nil {
		return o, err
	}
	if err := o.Validate(); err != nil {
		return o, fmt.Errorf("intervene in %s: %w: %w", id, ErrUnanswered, err)
	}
	return o, nil
}

// Ask asks what could be delivered in a capture now. The errors are those of Send.
func Ask(ctx context.Context, conn *nats.Conn, id schema.Identity, by string) (c schema.Capabilities, err error) {
	return c, ask(ctx, conn, id, by, map[string]bool{"capabilities": true}, &c)
}

func ask(ctx context.Context, conn *nats.Conn, id schema.Identity, by string, question, answer any) error {
	m, err := conn.RequestWithContext(ctx, schema.InterveneSubject(id, by), encode(question))
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("intervene in %s: %w", id, ErrNobody)
	case err != nil:
		return fmt.Errorf("intervene in %s: %w: %w", id, ErrUnanswered, err)
	}
	var refused refusal
	if err := json.Unmarshal(m.Data, &refused); err == nil && refused.Error != "" {
		why := ErrRefused
		if refused.Busy {
			why = ErrBusy
		}
		return fmt.Errorf("intervene in %s: %w: %s", id, why, refused.Error)
	}
	if err := json.Unmarshal(m.Data, answer); err != nil {
		return fmt.Errorf("intervene in %s: %w: %w", id, ErrUnanswered, err)
	}
	return nil
}
