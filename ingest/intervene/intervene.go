// Package intervene takes interventions for a process that owns a connection: messages on the capture's
// subject, each with an answer. So far it takes one kind, the answer to what an agent wants to be allowed.
package intervene

import (
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/steno-io/steno/schema"
)

// Bounds of a connection.
const (
	maxCommand  = 64 << 10 // bytes of a command
	maxAnswered = 1024     // outcomes that are remembered
)

// command is a message on the subject. Kinds and fields are those of the neutral primitives.
type command struct {
	ID       string `json:"id"` // the sender's; a command that is repeated is answered with the first outcome
	IssuedBy string `json:"issued_by"`
	Kind     struct {
		Kind     string `json:"kind"`
		CallID   string `json:"call_id"` // the agent's id of the tool call, or Request
		Session  string `json:"session"` // the agent's id of it; empty: any
		Request  string `json:"request"` // id of the permission request, as JSON; empty: any
		Decision struct {
			Decision string `json:"decision"`
		} `json:"decision"`
		Note string `json:"note"`
	} `json:"kind"`
}

// kinds are the neutral primitives.
var kinds = map[string]bool{
	"InjectMessage": true, "Cancel": true, "PauseResume": true, "UpdateBudget": true, respond: true,
}

const respond = "RespondToApproval"

// outcome is the answer to a command.
type outcome struct {
	Outcome   string     `json:"outcome"`
	Primitive *primitive `json:"primitive,omitempty"`
	Detail    string     `json:"detail,omitempty"`
}

type primitive struct {
	Primitive string `json:"primitive"`
}

var applied = outcome{Outcome: "Applied"}

func stale(format string, args ...any) outcome {
	return outcome{Outcome: "StaleTarget", Detail: fmt.Sprintf(format, args...)}
}

// refusal answers what is no command.
type refusal struct {
	Error string `json:"error"`
}

// readCommand reads a command; what it refuses was not sent as one.
func readCommand(data []byte) (c command, err error) {
	if len(data) > maxCommand {
		return c, fmt.Errorf("read intervention: %d bytes, at most %d", len(data), maxCommand)
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return c, fmt.Errorf("read intervention: %w", err)
	}
	if !schema.IsToken(c.ID) {
		return c, fmt.Errorf("read intervention: id %q: want 1 to %d characters of [A-Za-z0-9_-], such as %s", c.ID, schema.MaxToken, uuid.Nil)
	}
	if !kinds[c.Kind.Kind] {
		return c, fmt.Errorf("read intervention: unknown kind %q", c.Kind.Kind)
	}
	if d := c.Kind.Decision.Decision; c.Kind.Kind == respond && d != "Approve" && d != "Deny" {
		return c, fmt.Errorf("read intervention: decision %q: want Approve or Deny", d)
	}
	return c, nil
}
