package reading

import (
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

const (
	updatePrefix  = acp.MethodSessionUpdate + "/"
	refusedPrefix = "refused/"
)

// As is what a Raw is to a reader.
type As int

// What a Raw may be.
const (
	Elsewhere As = iota // other events say it
	ALine
	AMinorLine // one that waits for the end of what is being typed
	APlan
	APermission
	ADecision
	ANoise
	APart  // of what was said before it
	AFault // of a call: its Stop or a note may say it; else FaultOf does
	ABeginning
)

// Said is what a Raw says that no other event does. Of what is not a line, whoever draws it reads the value.
type Said struct {
	As   As
	Tone Tone
	Mark string
	What string // on one line
	More string // on one line
}

func line(tone Tone, mark, what, more string) Said {
	return Said{As: ALine, Tone: tone, Mark: mark, What: what, More: more}
}

func minor(what, more string) Said {
	return Said{As: AMinorLine, Tone: Quiet, Mark: MarkNote, What: what, More: OneLine(more)}
}

// Reader goes through a transcript's events in the order in which they are read. The zero value has read
// nothing.
type Reader struct {
	Peer   string        // of A2A: the agent's name
	asked  schema.Origin // of the last user message, whose Raw need not be shown
	told   uint64        // frame of the last Stop or note of A2A
	origin string        // of A2A: where the peer is, as told
}

// Hears takes note of an event; it comes before Says.
func (r *Reader) Hears(e *schema.Event) {
	switch k := e.Kind.(type) {
	case *schema.Message:
		if k.Role == schema.User {
			r.asked = e.Origin()
		}
	case *schema.Stop:
		r.told = e.WorkerSeq
	case *schema.Progress:
		if _, ok := k.Detail.(*schema.Note); ok && e.Source.Protocol == schema.A2A && !e.Ephemeral {
			r.told = e.WorkerSeq
		}
	}
}

// Says tells what a Raw says.
func (r *Reader) Says(e *schema.Event, k *schema.Raw) Said {
	if e.Source.Protocol == schema.A2A {
		return r.saysA2A(e, k)
	}
	source := k.Source
	tap, last, _ := strings.Cut(source, "/")
	if schema.Protocol(tap) != schema.ACP {
		last = ""
	}
	switch {
	case r.elsewhere(e, source):
		return Said{}
	case source == updatePrefix+acp.Plan, source == updatePrefix+acp.PlanUpdate:
		if _, ok := PlanOf(k.Value); ok {
			return Said{As: APlan}
		}
		return Record(source, k.Value)
	case source == acp.MethodRequestPermission:
		return Said{As: APermission}
	case source == acp.MethodRequestPermission+"/decision":
		return Said{As: ADecision}
	case strings.HasPrefix(source, refusedPrefix):
		reason, _ := Parse(k.Value).Get("reason").Text()
		return line(Bad, MarkBad, "refused "+OneLine(source[len(refusedPrefix):]), OneLine(reason))
	case source == "stderr", last == "noise":
		return noise(k)
	case last == string(schema.TypeOpen), last == string(schema.TypeClose), last == string(schema.TypeGap):
		return control(last, k.Value)
	}
	return Record(source, k.Value)
}

// elsewhere reports whether the frame's other events say what the Raw says.
func (r *Reader) elsewhere(e *schema.Event, source string) bool {
	switch source {
	case acp.MethodSessionPrompt + "/request":
		return r.asked.Frame == e.WorkerSeq
	case acp.MethodSessionPrompt, updatePrefix + acp.ToolCall, updatePrefix + acp.ToolCallUpdate,
		updatePrefix + acp.UserMessageChunk, updatePrefix + acp.AgentMessageChunk, updatePrefix + acp.AgentThoughtChunk,
		updatePrefix + acp.UserMessage, updatePrefix + acp.AgentMessage, updatePrefix + acp.AgentThought:
		return true
	}
	return false
}

// Record is a payload on one line.
func Record(source string, value schema.JSON) Said {
	if of, ok := strings.CutSuffix(source, "/response"); ok {
		source = of + " answered"
	}
	return minor(OneLine(strings.TrimPrefix(source, updatePrefix)), Brief(value))
}

// noise is what stood between the frames, if it is text.
func noise(k *schema.Raw) Said {
	if _, ok := Unbase64(k.Value); !ok {
		return Record(k.Source, k.Value)
	}
	if k.Source == "stderr" {
		return Said{As: ANoise, What: "stderr"}
	}
	return Said{As: ANoise, What: "noise"}
}

// control says how the capture began and ended, and what was not kept.
func control(what string, value schema.JSON) Said {
	words := map[string]string{"open": "recording began", "close": "recording ended", "gap": "not everything was kept"}[what]
	tone := Quiet
	if what == string(schema.TypeGap) {
		tone = Bad
	}
	return line(tone, MarkStop, words, OneLine(Brief(value)))
}

// Speaker is who a message is from, as people read it.
func (r *Reader) Speaker(e *schema.Event, role schema.Role, channel schema.Channel) string {
	who := strings.ToLower(OneLine(string(role)))
	switch {
	case role == schema.User:
		return "user"
	case channel == schema.Thought:
		who = "thought"
	case role == schema.Assistant:
		who = "agent"
		if r.Peer != "" {
			who += " · " + OneLine(r.Peer)
		}
	}
	if e.AgentRole != "" && e.AgentRole != "agent" {
		who += " · " + OneLine(e.AgentRole)
	}
	return who
}

// stopWords are the reasons in words.
var stopWords = map[schema.StopReason]string{
	schema.StopEndTurn:      "end of turn",
	schema.StopToolUse:      "stopped for a tool",
	schema.StopLimitReached: "stopped: limit reached",
	schema.StopCancelled:    "cancelled",
	schema.StopError:        "failed",
	schema.StopOther:        "stopped",
}

// StopOf says how a turn ended.
func StopOf(k *schema.Stop) Said {
	tone := Quiet
	switch k.Reason {
	case schema.StopError:
		tone = Bad
	case schema.StopLimitReached, schema.StopCancelled, schema.StopOther:
		tone = Warn
	}
	words := stopWords[k.Reason]
	if words == "" {
		words = "stopped: " + OneLine(string(k.Reason))
	}
	if k.Detail != "" {
		words += ": " + OneLine(k.Detail)
	}
	return line(tone, MarkStop, words, "")
}

// UsageOf says what was used.
func UsageOf(d *schema.UsageEstimate) Said {
	var words []string
	if d.InputTokens != nil {
		words = append(words, Count(int(*d.InputTokens), "token")+" in")
	}
	if d.OutputTokens != nil {
		words = append(words, Count(int(*d.OutputTokens), "token")+" out")
	}
	return line(Quiet, MarkNote, "usage", strings.Join(words, ", "))
}

// UnknownOf says what a newer steno wrote.
func UnknownOf(k *schema.Unknown) Said {
	return Record(k.Name+" (a kind that this version does not know)", k.Value)
}

// NoteTone is how a note of A2A stands out: the fold itself notes how a task stands.
func NoteTone(text string) (tone Tone, mark string) {
	for _, known := range []struct {
		prefix string
		tone   Tone
		mark   string
	}{
		{"interrupted: ", Warn, MarkWaiting}, {"resumed: ", Plain, MarkRunning}, {"stream error", Bad, MarkBad},
		{"stream ended without a terminal state", Warn, MarkAlarm}, {"conflicting terminal state: ", Warn, MarkAlarm},
	} {
		if strings.HasPrefix(text, known.prefix) {
			return known.tone, known.mark
		}
	}
	return Quiet, MarkNote
}

// AttachmentOf names a part of a message that is not text.
func AttachmentOf(part jsontree.Value) string {
	words := []string{KindOf(part)}
	resource := part.Get("resource")
	for _, v := range []jsontree.Value{part.Get("name"), part.Get("title"), part.Get("uri"), resource.Get("uri"), part.Get("mimeType"), resource.Get("mimeType")} {
		if text, ok := v.Text(); ok && text != "" {
			words = append(words, OneLine(text))
		}
	}
	return strings.Join(append(words, BytesOf(len(part.Raw()))), " · ")
}
