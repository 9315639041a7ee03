package a2a

import (
	"github.com/steno-io/steno/schema"
	wire "github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// convention is a known way to put tools into data parts, which the protocol itself does not have.
type convention struct {
	name string
	// read tells what a data part says of a tool; ok is false if the part does not follow the
	// convention.
	read func(part, data jsontree.Value) (step, bool)
}

// step is what a part says of one tool call.
type step struct {
	id      string
	name    string
	title   string
	calls   bool // it is the call itself
	input   jsontree.Value
	results bool // it has the result
	output  jsontree.Value
	display string // the result for people, where there is one
	failed  bool
	phase   schema.Phase // that the call enters; empty if the part does not say
	reason  schema.CancelReason
	decided bool // somebody allowed it
}

// conventions are tried in order.
var conventions = []convention{{toolsADK, readADK}, {toolsGemini, readGemini}}

// readADK reads the Agent Development Kit's parts: metadata adk_type, data {id,name,args} or
// {id,name,response}. A call that runs long waits for somebody.
func readADK(part, data jsontree.Value) (step, bool) {
	meta := wire.Metadata(part)
	id, _ := data.Get("id").Text()
	name, _ := data.Get("name").Text()
	s := step{id: id, name: name}
	switch kind := meta.Get("adk_type"); {
	case id == "":
		return step{}, false
	case kind.Is("function_call"):
		s.calls, s.input, s.phase = true, data.Get("args"), schema.Streaming
		if string(meta.Get("adk_is_long_running").Raw()) == "true" {
			s.phase = schema.WaitingConfirmation
		}
	case kind.Is("function_response"):
		response := data.Get("response")
		s.results, s.output, s.phase = true, response, schema.Completed
		s.failed = response.Get("error").Given() || string(response.Get("isError").Raw()) == "true"
	default:
		return step{}, false
	}
	return s, true
}

// geminiPhases are the phases of gemini-cli's tool calls.
var geminiPhases = map[string]schema.Phase{
	"validating": schema.Streaming, "scheduled": schema.Streaming, "awaiting_approval": schema.WaitingConfirmation,
	"executing": schema.Executing, "success": schema.Completed, "error": schema.Completed, "cancelled": schema.Cancelled,
}

// readGemini reads gemini-cli's parts: data {request:{callId,name,args},status,response,…}, and the
// client's decision {callId,outcome}.
func readGemini(_, data jsontree.Value) (step, bool) {
	if id, ok := data.Get("callId").Text(); ok {
		outcome, decides := data.Get("outcome").Text()
		s := step{id: id, phase: schema.Executing, decided: true}
		if outcome == "cancel" {
			s.phase, s.reason, s.decided = schema.Cancelled, schema.Denied, false
		}
		return s, decides
	}
	request := data.Get("request")
	id, hasID := request.Get("callId").Text()
	status, _ := data.Get("status").Text()
	phase, known := geminiPhases[status]
	if !hasID || !known {
		return step{}, false
	}
	s := step{id: id, calls: true, input: request.Get("args"), phase: phase}
	s.name, _ = request.Get("name").Text()
	s.title, _ = data.Get("tool").Get("displayName").Text()
	if phase == schema.Completed {
		s.results, s.failed, s.output = true, status == "error", data.Get("response")
		s.display, _ = s.output.Get("resultDisplay").Text()
	}
	return s, true
}
