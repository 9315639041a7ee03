package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Primitive is a neutral way to step into a conversation. What of them a connection can deliver is its
// own matter; that it can deliver none is nothing wrong.
type Primitive string

// The primitives.
const (
	PrimitiveInject  Primitive = "InjectMessage"
	PrimitiveCancel  Primitive = "Cancel"
	PrimitivePause   Primitive = "PauseResume"
	PrimitiveBudget  Primitive = "UpdateBudget"
	PrimitiveRespond Primitive = "RespondToApproval"
)

// primitives are all of them, each with its name for people.
var primitives = map[Primitive]string{
	PrimitiveInject: "inject_message", PrimitiveCancel: "cancel", PrimitivePause: "pause_resume",
	PrimitiveBudget: "update_budget", PrimitiveRespond: "respond_to_approval",
}

// Label is the primitive's name for people, such as pause_resume.
func (p Primitive) Label() string { return primitives[p] }

// Priorities of an injected message, and decisions about what an agent wants to be allowed.
const (
	PriorityNormal    = "Normal"
	PriorityInterrupt = "Interrupt" // now, whatever the agent is at

	DecisionApprove = "Approve"
	DecisionDeny    = "Deny"
)

// MaxInterventionText is the longest text of an intervention, in bytes.
const MaxInterventionText = 48 << 10

// Intervention is one: what somebody wants to be done in a conversation that others hold.
type Intervention struct {
	// ID is its sender's, a token; one that comes again is answered with the first outcome.
	ID string `json:"id"`
	// Session is the peer's id of the session, for A2A of the task; empty: the one for which it can be meant.
	Session  string           `json:"session,omitempty"`
	Kind     InterventionKind `json:"kind"`
	IssuedBy string           `json:"issued_by,omitempty"` // as the way says on which it came
	IssuedAt time.Time        `json:"issued_at,omitzero"`  // by its sender's clock; zero: it does not say
}

// InterventionKind is a primitive with its fields, those of InterventionKind in aion's words. Request is
// ours.
type InterventionKind struct {
	Kind Primitive `json:"kind"`

	Text     string    `json:"text,omitempty"`     // InjectMessage
	Priority *Priority `json:"priority,omitempty"` // InjectMessage; nil: PriorityNormal

	Reason string `json:"reason,omitempty"` // Cancel

	Paused *bool `json:"paused,omitempty"` // PauseResume

	MaxTokens *uint64 `json:"max_tokens,omitempty"` // UpdateBudget; nil: as it is
	MaxTurns  *uint32 `json:"max_turns,omitempty"`  // likewise

	// RespondToApproval. CallID is the peer's id of the tool call, or the request's; Request is the id of
	// the permission request, as JSON, and may stand in its place.
	CallID   string    `json:"call_id,omitempty"`
	Request  string    `json:"request,omitempty"`
	Decision *Decision `json:"decision,omitempty"`
	Note     string    `json:"note,omitempty"`
}

// Priority is how urgent an injected message is.
type Priority struct {
	Priority string `json:"priority"`
}

// Decision is what was decided about what an agent wants to be allowed.
type Decision struct {
	Decision string `json:"decision"`
}

// Validate reports the first part that is outside its closed set or range.
func (i *Intervention) Validate() error {
	if !IsToken(i.ID) {
		return fmt.Errorf("check intervention: id %s: want 1 to %d characters of [A-Za-z0-9_-]", Quoted(i.ID), MaxToken)
	}
	k := &i.Kind
	for _, text := range []string{i.Session, k.Text, k.Reason, k.CallID, k.Request, k.Note} {
		if len(text) > MaxInterventionText || !utf8.ValidString(text) {
			return fmt.Errorf("check intervention %s: a text of %d bytes: want UTF-8, at most %d", i.ID, len(text), MaxInterventionText)
		}
	}
	if err := k.check(); err != nil {
		return fmt.Errorf("check intervention %s: %w", i.ID, err)
	}
	return nil
}

func (k *InterventionKind) check() error {
	switch k.Kind {
	case PrimitiveCancel:
	case PrimitiveInject:
		if strings.TrimSpace(k.Text) == "" {
			return errors.New("text: what is to be said?")
		}
		if p := k.Priority; p != nil && p.Priority != PriorityNormal && p.Priority != PriorityInterrupt {
			return fmt.Errorf("priority %s: want Normal or Interrupt", Quoted(p.Priority))
		}
	case PrimitivePause:
		if k.Paused == nil {
			return errors.New("paused: want true or false")
		}
	case PrimitiveBudget:
		if k.MaxTokens == nil && k.MaxTurns == nil {
			return errors.New("max_tokens, max_turns: want one of them")
		}
	case PrimitiveRespond:
		if d := k.Decision; d == nil || d.Decision != DecisionApprove && d.Decision != DecisionDeny {
			return errors.New("decision: want Approve or Deny")
		}
	default:
		return fmt.Errorf("unknown kind %s", Quoted(string(k.Kind)))
	}
	return nil
}

// Outcomes of an intervention.
const (
	OutcomeApplied      = "Applied"                // it was delivered
	OutcomeNotSupported = "CapabilityNotSupported" // the connection has no way to deliver it
	OutcomeStale        = "StaleTarget"            // what it is meant for is not there, or no more
)

// Outcome is what became of an intervention. It is one of three; that no answer came is an error.
type Outcome struct {
	Outcome   string        `json:"outcome"`
	Primitive *PrimitiveTag `json:"primitive,omitempty"` // of CapabilityNotSupported
	Detail    string        `json:"detail,omitempty"`    // of StaleTarget
	// Unknown is of a StaleTarget that may have been done all the same: nobody knows, or who answers does not.
	Unknown bool `json:"unknown,omitempty"`
}

// PrimitiveTag is a primitive as it stands in answers.
type PrimitiveTag struct {
	Primitive Primitive `json:"primitive"`
}

// Applied is the outcome of what was delivered.
func Applied() Outcome { return Outcome{Outcome: OutcomeApplied} }

// NotSupported is the outcome of what a connection cannot deliver.
func NotSupported(p Primitive) Outcome {
	return Outcome{Outcome: OutcomeNotSupported, Primitive: &PrimitiveTag{p}}
}

// maxDetail bounds the detail of an outcome, in bytes, and maxQuoted a text of an intervention that is quoted in it.
const (
	maxDetail = 4 << 10
	maxQuoted = 256
)

// Stale is the outcome of what came too late, or for what is not there. A detail that is too long is cut.
func Stale(format string, args ...any) Outcome {
	return Outcome{Outcome: OutcomeStale, Detail: cut(fmt.Sprintf(format, args...), maxDetail)}
}

// Unsure is the StaleTarget of what may have been done, by this try or by one before it.
func Unsure(format string, args ...any) Outcome {
	o := Stale(format, args...)
	o.Unknown = true
	return o
}

// Quoted is a text of an intervention as an error or a detail quotes it, between quotation marks: of a long one its
// head.
func Quoted(text string) string { return strconv.Quote(cut(text, maxQuoted)) }

// cut is the head of a text, with "…" where it is not all of it; no character is cut in two.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}

// Validate reports an outcome that is none of the three.
func (o *Outcome) Validate() error {
	switch {
	case o.Outcome == OutcomeApplied, o.Outcome == OutcomeStale:
		return nil
	case o.Outcome == OutcomeNotSupported && o.Primitive != nil:
		return nil
	}
	return fmt.Errorf("check outcome %q: want Applied, CapabilityNotSupported with its primitive, or StaleTarget", o.Outcome)
}

// Capabilities are the primitives that a connection can deliver now. None is as good an answer as any.
type Capabilities struct {
	Supported []PrimitiveTag `json:"supported"`
}

// NewCapabilities writes a list of primitives as an answer.
func NewCapabilities(list []Primitive) Capabilities {
	c := Capabilities{Supported: []PrimitiveTag{}}
	for _, p := range list {
		c.Supported = append(c.Supported, PrimitiveTag{p})
	}
	return c
}

// Labels are the names for people; "nothing" for none.
func (c Capabilities) Labels() string {
	var labels []string
	for _, s := range c.Supported {
		labels = append(labels, s.Primitive.Label())
	}
	if len(labels) == 0 {
		return "nothing"
	}
	return strings.Join(labels, ", ")
}

// InterventionInfo is the payload of an intervention frame: what steno said or did in a conversation in
// somebody's name. It is stored before it is done, so that its place among the frames is its place in the
// conversation. It was delivered unless another frame of its id follows, with an Outcome; where the record
// breaks off behind it, with its writer dead, nobody knows.
type InterventionInfo struct {
	Intervention
	// Line is what is written to the peer, without its LF, exactly; empty where it goes another way: as
	// frames of the client, which follow.
	Line string `json:"line,omitempty"`
	// MessageID is the id under which an injected message goes to the peer in a frame of the client's that
	// follows, where it has one: it is the same message.
	MessageID string `json:"message_id,omitempty"`
	// Outcome is given only where it is not the one to be expected: such a frame says that what the one
	// before it tells was not delivered.
	Outcome *Outcome `json:"outcome,omitempty"`
}

// ReadIntervention reads an intervention frame's payload.
func ReadIntervention(payload []byte) (info InterventionInfo, err error) {
	if err = json.Unmarshal(payload, &info); err != nil {
		err = fmt.Errorf("read intervention: %w", err)
	}
	return info, err
}
