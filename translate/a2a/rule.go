package a2a

import (
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
)

var _ translate.Ruler = Translator{}

// The rules, by what they make.
var (
	ruleRequest = translate.Rule{Name: "a2a.request", Ref: "6 R1", Spec: "message/send, message/stream (Message)",
		Says: "The message of a request is the user's; one that comes again says retry."}
	ruleHistory = translate.Rule{Name: "a2a.history", Ref: "6 R2", Spec: "Task.history",
		Says: "What a snapshot's history tells and was not seen is said once, from history."}
	ruleText = translate.Rule{Name: "a2a.message", Ref: "6 R3 to R7, R10, R11", Spec: "TaskArtifactUpdateEvent, TaskStatusUpdateEvent, Message, Task",
		Says: "What an artifact, a message or the status of a task at rest says is one message at its boundary: the last chunk, a state in which nothing goes on, the end of the stream. Snapshots and repeats add only what is new."}
	ruleThought = translate.Rule{Name: "a2a.thought", Ref: "6 R12", Spec: "Part.metadata",
		Says: "Parts that a known convention marks as thought are a message of their own channel."}
	rulePromoted = translate.Rule{Name: "a2a.promoted", Ref: "6 R9", Spec: "TaskStatusUpdateEvent.status.message",
		Says: "Of a task that completes without any words, the progress is what it said."}
	ruleTool = translate.Rule{Name: "a2a.tool", Ref: "6 R13", Spec: "DataPart",
		Says: "Data that a known convention uses for tools gives the call once, its result once, and the tool's state whenever it changes."}
	ruleProgress = translate.Rule{Name: "a2a.progress", Ref: "6 R8", Spec: "TaskStatusUpdateEvent (submitted, working)",
		Says: "What a status says while the task works is progress, joined at the next boundary."}
	ruleInterrupted = translate.Rule{Name: "a2a.interrupted", Ref: "6 R15", Spec: "TaskState input-required, auth-required",
		Says: "A task that waits for somebody is interrupted, not stopped, and may be resumed."}
	ruleState = translate.Rule{Name: "a2a.state", Ref: "6 R16", Spec: "TaskState",
		Says: "A state that is not known is told once, and ends nothing."}
	ruleConflict = translate.Rule{Name: "a2a.conflict", Ref: "6 R18", Spec: "TaskState",
		Says: "Behind a task's end another end is told, and changes nothing."}
	ruleStreamError = translate.Rule{Name: "a2a.stream_error", Ref: "6 R20", Spec: "JSONRPCErrorResponse",
		Says: "An error while the task goes on is told; the task decides its end."}
	ruleStreamEnd = translate.Rule{Name: "a2a.stream_end", Ref: "6 R22", Spec: "message/stream, tasks/resubscribe",
		Says: "A stream that ends while its task goes on gives what was said so far, partial."}
	ruleStop = translate.Rule{Name: "a2a.stop", Ref: "6 R14, R19", Spec: "TaskState completed, canceled, failed, rejected; JSONRPCErrorResponse",
		Says: "The first state that ends a task is its one Stop, behind all that it said; an error where no task is known ends its exchange."}
	ruleInferredStop = translate.Rule{Name: "a2a.stop.inferred", Ref: "6 R17", Spec: "Message",
		Says: "A message without a task ends with its exchange."}
	rulePart = translate.Rule{Name: "a2a.part", Ref: "6 R4", Spec: "FilePart, DataPart",
		Says: "Parts that are no text, and of no known convention, are kept as sent."}
	ruleIntervention = translate.Rule{Name: "a2a.intervention", Ref: "6",
		Says: "What steno did in somebody's name is told where it did it: who, what and why; and where the peer did not do it, that."}
	ruleInjected = translate.Rule{Name: "a2a.intervention.message", Ref: "6", Spec: "message/send (Message)",
		Says: "A message that somebody injected is the user's, by the operator, once the peer has taken it; the request that carries it does not say it."}
	ruleControl = translate.Rule{Name: "a2a.control",
		Says: "The tap's own frames, of the beginning and end of captures and exchanges, and of gaps, are kept."}
	ruleCard = translate.Rule{Name: "a2a.card", Spec: "AgentCard",
		Says: "Agent cards are kept."}
	ruleNoise = translate.Rule{Name: "a2a.noise", Spec: "server-sent events",
		Says: "Heartbeats and comments without an event are kept."}
	ruleRaw = translate.Rule{Name: "a2a.raw", Ref: "6 R24", Spec: "JSON-RPC 2.0, HTTP+JSON",
		Says: "Every frame that does not only bring more text has one verbatim Raw."}
)

// noteRules are those of notes by how they begin.
var noteRules = []struct {
	begins string
	rule   translate.Rule
}{
	{"interrupted: ", ruleInterrupted}, {"resumed: ", ruleInterrupted}, {"state: ", ruleState},
	{"conflicting terminal state: ", ruleConflict}, {"stream error", ruleStreamError}, {"stream ended", ruleStreamEnd},
}

// Rule implements translate.Ruler.
func (Translator) Rule(e *schema.Event) (translate.Rule, bool) {
	if e.AgentRole == roleOperator {
		if _, said := e.Kind.(*schema.Message); said {
			return ruleInjected, true
		}
		return ruleIntervention, true
	}
	switch k := e.Kind.(type) {
	case *schema.Message:
		switch {
		case e.Has(schema.FlagFromHistory):
			return ruleHistory, true
		case k.Role == schema.User:
			return ruleRequest, true
		case k.Channel == schema.Thought:
			return ruleThought, true
		case e.Has(schema.FlagPromoted):
			return rulePromoted, true
		}
		return ruleText, true
	case *schema.ToolCall, *schema.ToolResult, *schema.ToolState:
		return ruleTool, true
	case *schema.Progress:
		if note, ok := k.Detail.(*schema.Note); ok {
			return ruleOfNote(note.Text), true
		}
	case *schema.Stop:
		if e.Has(schema.FlagInferred) {
			return ruleInferredStop, true
		}
		return ruleStop, true
	case *schema.Raw:
		return ruleOfRaw(k.Source), true
	}
	return translate.Rule{}, false
}

func ruleOfNote(text string) translate.Rule {
	for _, r := range noteRules {
		if strings.HasPrefix(text, r.begins) {
			return r.rule
		}
	}
	return ruleProgress
}

func ruleOfRaw(source string) translate.Rule {
	switch {
	case source == sourceNoise:
		return ruleNoise
	case source == sourceIntervention:
		return ruleIntervention
	case source == sourceCard, strings.HasPrefix(source, sourceCard+"/"):
		return ruleCard
	case strings.Count(source, "/") == 1:
		return ruleControl
	case strings.Contains(source, "/part/"):
		return rulePart
	}
	return ruleRaw
}
