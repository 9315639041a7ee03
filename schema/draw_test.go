package schema_test

import (
	"strings"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/steno-io/steno/schema"
)

var uints = rapid.OneOf(rapid.Just(uint64(0)), rapid.Just(^uint64(0)), rapid.Uint64())

// drawJSON draws a JSON text as a peer may send it: any white space, duplicate keys, any spelling of
// numbers and strings.
func drawJSON(t *rapid.T, depth int) string {
	space := rapid.SampledFrom([]string{"", "", " ", "\t\r\n "}).Draw(t, "space")
	kinds := 4
	if depth > 0 {
		kinds = 6
	}
	switch rapid.IntRange(1, kinds).Draw(t, "json") {
	case 1:
		return space + rapid.SampledFrom([]string{"null", "true", "false"}).Draw(t, "literal") + space
	case 2:
		return space + rapid.SampledFrom([]string{"0", "-0", "1e400", "1.50", "18446744073709551616", "1E+2"}).Draw(t, "number") + space
	case 3:
		return space + rapid.SampledFrom([]string{`""`, `"\u0061\/\\"`, `"a b\""`, `"\ud800"`, `",\"store_seq\":null,"`, `"é ` + "\u2028" + `"`}).Draw(t, "string") + space
	case 4:
		return space + string(schema.AppendString(nil, rapid.String().Draw(t, "text"))) + space
	case 5:
		var items []string
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			items = append(items, drawJSON(t, depth-1))
		}
		return space + "[" + strings.Join(items, ",") + space + "]"
	}
	var members []string
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		name := rapid.SampledFrom([]string{"a", "a", "store_seq", "kind", ""}).Draw(t, "name")
		members = append(members, space+`"`+name+`"`+space+":"+drawJSON(t, depth-1))
	}
	return "{" + strings.Join(members, ",") + "}"
}

func drawValue(t *rapid.T) schema.JSON {
	return schema.AppendCompact(nil, []byte(drawJSON(t, 3)))
}

func drawMaybe(t *rapid.T) schema.JSON {
	if rapid.Bool().Draw(t, "absent") {
		return nil
	}
	return drawValue(t)
}

func drawNumber(t *rapid.T, label string) *uint64 {
	if rapid.Bool().Draw(t, label+" absent") {
		return nil
	}
	n := uints.Draw(t, label)
	return &n
}

// kinds draws each kind.
var kinds = map[string]func(*rapid.T) schema.Kind{
	"Message": func(t *rapid.T) schema.Kind {
		m := &schema.Message{
			Role: rapid.SampledFrom([]schema.Role{schema.User, schema.Assistant, schema.System, schema.Tool}).Draw(t, "role"),
			Text: rapid.String().Draw(t, "text"), MessageID: rapid.String().Draw(t, "message"),
			Channel: rapid.SampledFrom([]schema.Channel{schema.Answer, schema.Thought}).Draw(t, "channel"),
			Boundary: rapid.SampledFrom([]schema.Boundary{
				schema.BoundaryMessageID, schema.BoundaryStream, schema.BoundaryToolCall, schema.BoundaryPrompt,
				schema.BoundaryTurnEnd, schema.BoundaryReplayEnd, schema.BoundaryClose, schema.BoundaryEnd, schema.BoundaryWhole,
			}).Draw(t, "boundary"),
			Revision: uints.Draw(t, "revision"),
		}
		if rapid.Bool().Draw(t, "content") {
			m.Content = schema.JSON("[" + string(drawValue(t)) + "]")
		}
		return m
	},
	"Delta": func(t *rapid.T) schema.Kind {
		return &schema.Delta{MessageID: rapid.String().Draw(t, "message"), Index: uints.Draw(t, "index"),
			TextFragment: rapid.String().Draw(t, "text"), Reset: rapid.Bool().Draw(t, "reset")}
	},
	"ToolCall": func(t *rapid.T) schema.Kind {
		return &schema.ToolCall{Tool: rapid.String().Draw(t, "tool"), CallID: rapid.String().Draw(t, "call"), Input: drawValue(t)}
	},
	"ToolResult": func(t *rapid.T) schema.Kind {
		return &schema.ToolResult{CallID: rapid.String().Draw(t, "call"), Output: drawValue(t), IsError: rapid.Bool().Draw(t, "error")}
	},
	"ToolState": func(t *rapid.T) schema.Kind {
		return &schema.ToolState{ToolID: rapid.String().Draw(t, "tool"), Name: rapid.String().Draw(t, "name"),
			Title: rapid.String().Draw(t, "title"), Input: drawMaybe(t), State: drawPhase(t)}
	},
	"Note": func(t *rapid.T) schema.Kind {
		return &schema.Progress{Detail: &schema.Note{Text: rapid.String().Draw(t, "text")}}
	},
	"Thinking": func(t *rapid.T) schema.Kind {
		return &schema.Progress{Detail: &schema.Thinking{MessageID: rapid.String().Draw(t, "message"),
			Index: uints.Draw(t, "index"), Text: rapid.String().Draw(t, "text"), Reset: rapid.Bool().Draw(t, "reset")}}
	},
	"UsageEstimate": func(t *rapid.T) schema.Kind {
		return &schema.Progress{Detail: &schema.UsageEstimate{InputTokens: drawNumber(t, "in"), OutputTokens: drawNumber(t, "out")}}
	},
	"Stop": func(t *rapid.T) schema.Kind {
		s := &schema.Stop{Reason: rapid.SampledFrom([]schema.StopReason{schema.StopEndTurn, schema.StopToolUse,
			schema.StopLimitReached, schema.StopCancelled, schema.StopError, schema.StopOther}).Draw(t, "stop")}
		if s.Reason == schema.StopError || s.Reason == schema.StopOther {
			s.Detail = rapid.String().Draw(t, "detail")
		}
		return s
	},
	"Raw": func(t *rapid.T) schema.Kind {
		return &schema.Raw{Source: rapid.StringMatching(`[a-z/]{1,20}`).Draw(t, "source"), Value: drawValue(t)}
	},
	"Unknown": func(t *rapid.T) schema.Kind {
		value := string(drawValue(t))
		switch rapid.IntRange(1, 4).Draw(t, "unknown") {
		case 1:
			return &schema.Unknown{Name: "Progress", Value: schema.JSON(`{"kind":"Progress","detail":{"detail":"Later","index":` + value + `}}`)}
		case 2:
			return &schema.Unknown{Name: "Stop", Value: schema.JSON(`{"kind":"Stop","reason":{"stop":"Later","message":` + value + `}}`)}
		case 3:
			return &schema.Unknown{Name: "ToolState", Value: schema.JSON(`{"kind":"ToolState","tool":{"name":` + value + `,"state":{"phase":"later","output":` + value + `}}}`)}
		}
		return &schema.Unknown{Name: "Later", Value: schema.JSON(`{"kind":"Later","text":` + value + `}`)}
	},
}

func drawPhase(t *rapid.T) schema.ToolPhase {
	p := schema.ToolPhase{Phase: rapid.SampledFrom([]schema.Phase{schema.Streaming, schema.WaitingConfirmation,
		schema.Executing, schema.Completed, schema.Cancelled}).Draw(t, "phase")}
	text := func() string { return rapid.String().Draw(t, "text") }
	switch p.Phase {
	case schema.Streaming:
		p.PartialInput = drawMaybe(t)
	case schema.WaitingConfirmation:
		p.Input, p.Description, p.ApprovalID = drawValue(t), text(), text()
	case schema.Executing:
		p.Progress, p.ElapsedMs = text(), drawNumber(t, "elapsed")
	case schema.Completed:
		p.Success, p.ElapsedMs = rapid.Bool().Draw(t, "success"), drawNumber(t, "elapsed")
		p.ConfirmedBy = rapid.SampledFrom([]schema.ConfirmedBy{"", schema.ConfirmedByUser, schema.ConfirmedByAuto, schema.ConfirmedBySetting}).Draw(t, "confirmed")
		if rapid.Bool().Draw(t, "output") {
			output := text()
			p.Output = &output
		}
	case schema.Cancelled:
		p.Reason, p.Message = rapid.SampledFrom([]schema.CancelReason{schema.Denied, schema.Interrupted, schema.Timeout}).Draw(t, "reason"), text()
	}
	return p
}

func drawIdentity(t *rapid.T) schema.Identity {
	token := rapid.StringMatching(`[A-Za-z0-9_-]{1,64}`)
	return schema.Identity{Namespace: token.Draw(t, "namespace"), Workflow: token.Draw(t, "workflow"), Run: token.Draw(t, "run"),
		Activity: uints.Draw(t, "activity"), Attempt: rapid.Uint32().Draw(t, "attempt")}
}

func drawTime(t *rapid.T) time.Time {
	return time.Unix(rapid.Int64Range(-62167219200, 253402300799).Draw(t, "seconds"), rapid.Int64Range(0, 999999999).Draw(t, "nanos")).UTC()
}

// drawEvent draws an event of one of the kinds above as a fold gives it.
func drawEvent(t *rapid.T, kind string) schema.Event {
	e := schema.Event{
		Transcript: schema.Transcript{Identity: drawIdentity(t), Session: rapid.Uint32().Draw(t, "session")},
		AgentID:    uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "agent")),
		AgentRole:  rapid.StringN(1, 20, -1).Draw(t, "role"),
		EmittedAt:  drawTime(t),
		WorkerSeq:  rapid.Uint64Min(1).Draw(t, "worker"), Part: rapid.Uint32().Draw(t, "part"),
		Ephemeral: kind == "Delta" || kind == "Thinking",
		Source: schema.Source{Protocol: rapid.SampledFrom([]schema.Protocol{schema.ACP, schema.A2A}).Draw(t, "protocol"),
			Dialect: rapid.String().Draw(t, "dialect"), SessionID: rapid.String().Draw(t, "session id"),
			TaskID: rapid.String().Draw(t, "task"), Translator: "acp/1"},
		Flags: rapid.SliceOfNDistinct(rapid.SampledFrom(schema.Flags), 0, -1, rapid.ID[schema.Flag]).Draw(t, "flags"),
		Kind:  kinds[kind](t),
	}
	if len(e.Flags) == 0 {
		e.Flags = nil
	}
	e.EventID = schema.EventID(e.Identity, e.Origin())
	for range rapid.IntRange(1, 3).Draw(t, "ranges") {
		e.Frames = append(e.Frames, schema.Range{rapid.Uint64Min(1).Draw(t, "first"), rapid.Uint64Min(1).Draw(t, "last")})
	}
	if !e.Ephemeral {
		e.StoreSeq = uints.Draw(t, "store")
	}
	return e
}
