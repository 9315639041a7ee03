package acp

import (
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/translate"
)

var (
	_ translate.Ruler = Translator{}
	_ translate.Ruler = First{}
)

// The rules, by what they make.
var (
	rulePrompt = translate.Rule{Name: "acp.prompt", Ref: "5.1", Spec: "session/prompt (PromptRequest.prompt)",
		Says: "A prompt is a message of the user at once, with its content; its Raw stands behind it."}
	ruleMessage = translate.Rule{Name: "acp.message", Ref: "5.4", Spec: "session/update: agent_message_chunk, user_message_chunk",
		Says: "Chunks of one stream and id are one message, given at its boundary: a new id; without ids another stream, a tool call or a new prompt; always the end of the turn, a close, or the end of the capture."}
	ruleThought = translate.Rule{Name: "acp.thought", Ref: "5.4", Spec: "session/update: agent_thought_chunk",
		Says: "Chunks of thought are a message of their own channel, at the boundaries of any message."}
	ruleEcho = translate.Rule{Name: "acp.echo", Ref: "5.1", Spec: "session/update: user_message_chunk",
		Says: "The user's own words said again by the agent give no second message: one Raw names their frames."}
	ruleEmpty = translate.Rule{Name: "acp.empty", Ref: "5.4", Spec: "session/update: …_message_chunk, agent_thought_chunk",
		Says: "A message that ends without text and content is no message: one Raw names its frames."}
	rulePieces = translate.Rule{Name: "acp.pieces", Ref: "5.14", Spec: "session/update: tool_call_content_chunk, terminal_output_chunk, …",
		Says: "Pieces of anything but a message have one Raw together: when the thing ends or is told anew, when the turn ends, or when there is as much as a Raw holds."}
	ruleToolCall = translate.Rule{Name: "acp.tool_call", Ref: "5.8", Spec: "session/update: tool_call",
		Says: "The first sight of a tool call by its own update is a ToolCall, with the input as sent."}
	ruleToolResult = translate.Rule{Name: "acp.tool_result", Ref: "5.8", Spec: "session/update: tool_call_update (status completed, failed)",
		Says: "A tool call that ends is a ToolResult, with the output as sent."}
	ruleToolState = translate.Rule{Name: "acp.tool_state", Ref: "5.8", Spec: "session/update: tool_call, tool_call_update; session/request_permission",
		Says: "Whenever a tool's phase, name, title or input changes, its whole state is given; a turn or a capture that ends interrupts what is open."}
	ruleStop = translate.Rule{Name: "acp.stop", Ref: "5.10", Spec: "session/prompt (PromptResponse.stopReason)",
		Says: "The answer of a prompt ends the turn: its messages, then its Raw, then the Stop with the reason that it gives; an error is a Stop too."}
	ruleInferredStop = translate.Rule{Name: "acp.stop.inferred", Ref: "5.3", Spec: "PromptResponse.stopReason",
		Says: "An answer whose request was never seen ends the turn in progress if its result has a stopReason."}
	ruleUsage = translate.Rule{Name: "acp.usage", Ref: "4", Spec: "session/prompt (PromptResponse.usage)",
		Says: "Tokens that the agent counted for a turn are a UsageEstimate; how full its context is, is not."}
	rulePermission = translate.Rule{Name: "acp.permission", Ref: "5.9", Spec: "session/request_permission (RequestPermissionRequest)",
		Says: "What the agent asks the user is kept before its answer."}
	ruleDecision = translate.Rule{Name: "acp.decision", Ref: "5.9", Spec: "session/request_permission (RequestPermissionResponse.outcome)",
		Says: "The answer to a permission request is kept with what was offered, whoever gave it."}
	ruleRefused = translate.Rule{Name: "acp.refused", Ref: "5.14", Spec: "JSON-RPC error -32601",
		Says: "What the client does not serve is kept with what was asked."}
	ruleUnmatched = translate.Rule{Name: "acp.unmatched", Ref: "5.3", Spec: "JSON-RPC response",
		Says: "An answer without its request is kept."}
	ruleUnrecognised = translate.Rule{Name: "acp.unrecognised", Ref: "5.14", Spec: "session/update (SessionUpdate)",
		Says: "An update of a variant that is not known is kept whole."}
	ruleUndecodable = translate.Rule{Name: "acp.undecodable", Ref: "5.14", Spec: "session/update (SessionUpdate)",
		Says: "An update that its variant's rule cannot read is kept whole."}
	ruleUpdate = translate.Rule{Name: "acp.update", Ref: "5.14", Spec: "session/update (SessionUpdate)",
		Says: "Every update that is no chunk has one verbatim Raw, the last of its events."}
	ruleControl = translate.Rule{Name: "acp.control", Ref: "5.14",
		Says: "The tap's own frames, of the beginning, the end and of gaps, are kept; the end of a capture ends what is open."}
	ruleIntervention = translate.Rule{Name: "acp.intervention", Ref: "5",
		Says: "What steno itself did in the conversation is a note that says who did it, with his reason; its Raw has what was written to the agent."}
	ruleInjected = translate.Rule{Name: "acp.intervention.message", Ref: "5",
		Says: "What somebody had said to the agent is a message of the user, by the operator."}
	ruleStderr = translate.Rule{Name: "acp.stderr", Ref: "5.14",
		Says: "Lines of stderr that follow one another are joined, up to 64."}
	ruleNoise = translate.Rule{Name: "acp.noise", Ref: "5.12", Spec: "the stdio transport",
		Says: "Lines that are no JSON are joined, up to 64; so is text before a message on its line."}
	ruleNotRPC = translate.Rule{Name: "acp.not_jsonrpc", Ref: "5.12", Spec: "JSON-RPC 2.0",
		Says: "JSON that is no JSON-RPC is kept."}
	ruleRaw = translate.Rule{Name: "acp.raw", Ref: "5.14", Spec: "JSON-RPC 2.0",
		Says: "Every request, notification and answer has one verbatim Raw, the last of its events."}
)

// Rule implements translate.Ruler.
func (First) Rule(e *schema.Event) (translate.Rule, bool) { return Translator{}.Rule(e) }

// Rule implements translate.Ruler.
func (Translator) Rule(e *schema.Event) (translate.Rule, bool) {
	switch k := e.Kind.(type) {
	case *schema.Message:
		switch {
		case e.AgentRole == roleOperator:
			return ruleInjected, true
		case k.Role == schema.User && k.Boundary == schema.BoundaryPrompt && len(e.Frames) == 1 && e.Frames[0] == schema.Range{e.WorkerSeq, e.WorkerSeq}:
			return rulePrompt, true
		case k.Channel == schema.Thought:
			return ruleThought, true
		}
		return ruleMessage, true
	case *schema.ToolCall:
		return ruleToolCall, true
	case *schema.ToolResult:
		return ruleToolResult, true
	case *schema.ToolState:
		return ruleToolState, true
	case *schema.Stop:
		if e.Has(schema.FlagInferred) {
			return ruleInferredStop, true
		}
		return ruleStop, true
	case *schema.Progress:
		if _, ok := k.Detail.(*schema.UsageEstimate); ok {
			return ruleUsage, true
		}
		if e.AgentRole == roleOperator {
			return ruleIntervention, true
		}
	case *schema.Raw:
		return ruleOfRaw(k.Source, e), true
	}
	return translate.Rule{}, false
}

// rawRules are those of Raws by their sources.
var rawRules = map[string]translate.Rule{
	sourceNoise: ruleNoise, sourceNotRPC: ruleNotRPC, sourceUnmatched: ruleUnmatched, sourceStderr: ruleStderr,
	sourceUnrecognised: ruleUnrecognised, sourceUndecodable: ruleUndecodable, sourceDecision: ruleDecision,
	acp.MethodRequestPermission:      rulePermission,
	"acp/" + string(schema.TypeOpen): ruleControl, "acp/" + string(schema.TypeClose): ruleControl,
	"acp/" + string(schema.TypeGap): ruleControl, "acp/" + string(schema.TypeHTTP): ruleControl,
	"acp/" + string(schema.TypeIntervention): ruleIntervention,
}

func ruleOfRaw(source string, e *schema.Event) translate.Rule {
	if rule, ok := rawRules[source]; ok {
		return rule
	}
	variant, isUpdate := strings.CutPrefix(source, acp.MethodSessionUpdate+"/")
	_, isChunk := acp.ChunkStream(variant)
	switch {
	case strings.HasPrefix(source, sourceRefused):
		return ruleRefused
	case isUpdate && isChunk && e.Has(schema.FlagEcho):
		return ruleEcho
	case isUpdate && isChunk:
		return ruleEmpty
	case isUpdate && pieceIDs[variant] != "" && e.Source.Translator != FirstVersion:
		return rulePieces
	case isUpdate:
		return ruleUpdate
	}
	return ruleRaw
}
