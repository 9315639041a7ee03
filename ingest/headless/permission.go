package headless

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// Policy decides what an agent asks permission for. There is no default: nobody sits in front of the run.
type Policy string

// Policies, as they are recorded.
const (
	Deny        Policy = "deny"
	AllowOnce   Policy = "allow_once"
	AllowAlways Policy = "allow_always"
	Ask         Policy = schema.PolicyAsk // somebody decides each time, or a fallback at a deadline
)

// ParsePolicy reads a policy, with hyphens or underscores.
func ParsePolicy(s string) (Policy, error) {
	switch p := Policy(strings.ReplaceAll(s, "-", "_")); p {
	case Deny, AllowOnce, AllowAlways, Ask:
		return p, nil
	}
	return "", fmt.Errorf("parse policy %q: want deny, allow-once, allow-always or ask", s)
}

// Permissions say how permission requests are answered. The last three belong to Ask.
type Permissions struct {
	Policy   Policy
	Approver Approver
	Deadline time.Duration // for an answer
	Fallback Policy        // what decides then; not Ask
}

// Approver is who is asked. Ask returns when somebody has decided, or ctx ends, or with the reason why
// nobody can be asked. A decision approves only what may be allowed once, and its Settled is called. Ask is
// called by several goroutines.
type Approver interface {
	Ask(ctx context.Context, q Question) (Decision, error)
}

// Question is what an agent wants to be allowed.
type Question struct {
	Request string // id of the permission request, as JSON
	Session string // the agent's id of it
	CallID  string // of the tool call, a number by its text; empty if the agent names none
	Title   string // of the tool call
	Once    bool   // the agent offers to allow it once: without that nobody can approve
}

// Decision is what somebody has decided.
type Decision struct {
	Approved bool
	By       string // who did
	Note     string // in their words
	// Intervention is the id of the intervention that brought it; empty if none did.
	Intervention string
	// Settled hears once what becomes of the decision: nil when it is recorded and the agent has its answer,
	// or will, whatever is cancelled meanwhile; else why it does not count. nil: nobody does.
	Settled func(error)
}

func (d Decision) settle(err error) {
	if d.Settled != nil {
		d.Settled(err)
	}
}

// recordWithin bounds how long a decision waits for its place in the record.
const recordWithin = 5 * time.Second

// option is one of the answers that an agent offers.
type option struct{ id, kind string }

// preference lists the kinds of option that a policy takes, the best first. None grants more than the
// policy says; where nothing that grants is offered, the tool call is denied.
var preference = map[Policy][]string{
	Deny:        {acp.RejectOnce, acp.RejectAlways},
	AllowOnce:   {acp.AllowOnce, acp.RejectOnce, acp.RejectAlways},
	AllowAlways: {acp.AllowAlways, acp.AllowOnce, acp.RejectOnce, acp.RejectAlways},
}

// choose gives the id of the option that the policy takes; ok is false where there is none.
func (p Policy) choose(options []option) (id string, ok bool) {
	for _, kind := range preference[p] {
		for _, o := range options {
			if o.kind == kind {
				return o.id, true
			}
		}
	}
	return "", false
}

// permission answers a permission request by the policy, or has somebody asked.
func (c *client) permission(id []byte, params jsontree.Value) {
	var options []option
	for o := range params.Get("options").Children() {
		if name, ok := o.Get("optionId").Text(); ok {
			kind, _ := o.Get("kind").Text()
			options = append(options, option{name, kind})
		}
	}
	c.mu.Lock()
	hushed := c.hushed
	c.mu.Unlock()
	policy := c.options.Permissions.Policy
	switch {
	case hushed:
		c.reply(id)(outcome("", false), nil)
	case policy != Ask:
		c.reply(id)(outcome(policy.choose(options)), nil)
	default:
		q := Question{Request: string(id)}
		q.Session, _ = params.Get("sessionId").Text()
		call, title := c.speech.about(params)
		q.CallID, q.Title = callID(call), title
		q.Once = slices.ContainsFunc(options, func(o option) bool { return o.kind == acp.AllowOnce })
		withdrawn := c.speech.withdrawn // of the version as it is now
		c.later(c.turn, id, func(ctx context.Context, reply replier) { c.consult(ctx, q, options, withdrawn, reply) })
	}
}

// callID is the id of a tool call or a message as a transcript has it: a string, or a number by its text.
func callID(v jsontree.Value) string {
	if v.Kind() == jsontree.Number {
		return string(v.Raw())
	}
	id, _ := v.Text()
	return id
}

// consult asks, and records who decided before the agent is told. What was decided before it was cancelled
// counts.
func (c *client) consult(ctx context.Context, q Question, options []option, withdrawn func() (any, *failure), reply replier) {
	p := c.options.Permissions
	limited, cancel := context.WithTimeout(ctx, p.Deadline)
	defer cancel()
	d, err := p.Approver.Ask(limited, q)
	switch {
	case err != nil && errors.Is(context.Cause(ctx), errWithdrawn):
		reply(withdrawn())
		return
	case err != nil && ctx.Err() != nil: // cancelled: nobody has decided
		reply(outcome("", false), nil)
		return
	}
	policy := Deny
	info := schema.DecisionInfo{Request: []byte(q.Request), Approved: d.Approved, By: d.By, Note: d.Note, Intervention: d.Intervention}
	switch {
	case err != nil:
		policy = p.Fallback
		info = schema.DecisionInfo{Request: info.Request, Fallback: string(policy)}
		if !errors.Is(err, context.DeadlineExceeded) {
			info.Error = err.Error()
		}
	case d.Approved:
		policy = AllowOnce
	}
	if err = c.recordDecision(ctx, info); err == nil {
		if !reply(outcome(policy.choose(options)), nil) {
			err = errors.New("the agent takes no answer any more")
		}
	} else if ctx.Err() != nil { // cancelled while the decision waited for its place in the record
		reply(outcome("", false), nil)
	} else {
		reply(nil, refuse(acp.CodeInternal, "%v", err))
	}
	d.settle(err)
}

// recordDecision waits for room no longer than recordWithin; that its turn is cancelled is no reason to leave
// it out.
func (c *client) recordDecision(ctx context.Context, info schema.DecisionInfo) error {
	if c.options.Journal == nil {
		return nil
	}
	kept, done := context.WithTimeout(context.WithoutCancel(ctx), recordWithin)
	defer done()
	if err := c.options.Journal.Control(kept, schema.TypeDecision, time.Now(), info); err != nil {
		return fmt.Errorf("the decision cannot be recorded: %w", err)
	}
	return nil
}
