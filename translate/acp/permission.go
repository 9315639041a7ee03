package acp

import (
	"cmp"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// policyClient is the policy of a decision that the tap only saw.
const policyClient = "client"

// decided notes who decided about a request that waits: the frame stands before the answer.
func (x *fold) decided(info schema.DecisionInfo) *session {
	id := &jsontree.Reader{}
	if _, err := id.Read(info.Request); err != nil {
		return x.sessions[0]
	}
	r, ok := x.requests[keyOf(schema.FromAgent, id.Root())]
	if !ok || r.ask == nil {
		return x.sessions[0]
	}
	r.ask.fallback = info.Fallback != ""
	return r.s
}

// confirmedBy is whose decision lets a tool run.
func (x *fold) confirmedBy(a *ask) schema.ConfirmedBy {
	if x.policy == "" || x.policy == schema.PolicyAsk && !a.fallback {
		return schema.ConfirmedByUser
	}
	return schema.ConfirmedBySetting
}

// ask is a permission request that waits for its decision.
type ask struct {
	toolID  string // as sent
	tool    *tool  // nil where the request names none
	offered schema.JSON
	options map[string]string // kind by option id
	// fallback: nobody decided in time, so that a policy did.
	fallback bool
}

// permission folds what the agent asks for; the tool waits from here on.
func (x *fold) permission(v jsontree.Value, r *request) {
	params := v.Get("params")
	call, title := params.Get("toolCall"), ""
	if x.upserts() {
		call = subjectCall(params.Get("subject"))
		title, _ = params.Get("title").Text()
	}
	a := &ask{offered: translate.Bounded(x.frame, translate.Whole(params.Get("options").Raw())), options: map[string]string{}}
	if a.offered == nil {
		a.offered = schema.JSON("[]")
	}
	for option := range params.Get("options").Children() {
		if id, ok := option.Get("optionId").Text(); ok {
			a.options[id], _ = option.Get("kind").Text()
		}
	}
	r.ask, r.params = a, translate.Bounded(x.frame, x.value(params))
	flags := r.s.agentFlags()
	if id := string(idText(call.Get("toolCallId"))); id != "" {
		t := x.tool(r.s, r.s.lane(), id, false)
		a.toolID, a.tool = id, t
		if x.upserts() {
			t.patch(call)
		} else {
			t.describe(call)
		}
		t.asked = title
		t.move(x.frame.At, schema.ToolPhase{
			Phase: schema.WaitingConfirmation, ApprovalID: string(translate.Whole(v.Get("id").Raw())),
		})
		x.showTool(r.s, t, flags)
	}
	x.rawHere(r.s, acp.MethodRequestPermission, x.value(params), flags)
}

// subjectCall is what a permission request of version 2 says of a tool call: the call itself, or for a
// command the object that names it.
func subjectCall(subject jsontree.Value) jsontree.Value {
	if subject.Get("type").Is(acp.SubjectToolCall) {
		return subject.Get("toolCall")
	}
	return subject
}

// decision folds the answer to a permission request, whoever gave it.
func (x *fold) decision(v jsontree.Value, r *request) {
	outcome := v.Get("result").Get("outcome")
	flags := r.s.agentFlags()
	if t := r.ask.tool; t != nil {
		switch r.ask.chosen(outcome) {
		case acp.Allowed:
			t.confirmed = x.confirmedBy(r.ask)
			t.move(x.frame.At, schema.ToolPhase{Phase: schema.Executing})
		case acp.Rejected:
			reason := schema.Denied
			if r.ask.fallback {
				reason = schema.Timeout
			}
			t.move(x.frame.At, schema.ToolPhase{Phase: schema.Cancelled, Reason: reason})
		default:
			if outcome.Get("outcome").Is(acp.OutcomeCancelled) {
				t.move(x.frame.At, schema.ToolPhase{Phase: schema.Cancelled, Reason: schema.Interrupted})
			}
		}
		x.showTool(r.s, t, flags)
	}
	dst := schema.AppendString([]byte(`{"policy":`), cmp.Or(x.policy, policyClient))
	dst = append(dst, `,"toolCallId":`...)
	dst = schema.AppendString(dst, r.ask.toolID)
	dst = append(dst, `,"offered":`...)
	dst = append(dst, r.ask.offered...)
	dst = append(dst, `,"outcome":`...)
	if given := translate.Whole(outcome.Raw()); given != nil {
		dst = append(dst, given...)
	} else {
		dst = append(dst, "null"...)
	}
	if e := translate.Whole(v.Get("error").Raw()); e != nil {
		dst = append(dst, `,"error":`...)
		dst = append(dst, e...)
	}
	x.rawHere(r.s, sourceDecision, append(dst, '}'), flags)
}

// chosen tells what choosing an option decides; an option that was not offered decides nothing.
func (a *ask) chosen(outcome jsontree.Value) acp.Decision {
	option, ok := outcome.Get("optionId").Text()
	if !ok || !outcome.Get("outcome").Is(acp.OutcomeSelected) {
		return acp.Undecided
	}
	return acp.Decide(a.options[option])
}
