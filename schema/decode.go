package schema

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// wireEvent is the shape of an event on the wire, for reading.
type wireEvent struct {
	Namespace string    `json:"namespace"`
	Workflow  string    `json:"workflow_id"`
	Run       string    `json:"run_id"`
	Activity  uint64    `json:"activity_id"`
	Attempt   uint32    `json:"attempt"`
	Session   uint32    `json:"session"`
	AgentID   uuid.UUID `json:"agent_id"`
	AgentRole string    `json:"agent_role"`
	EmittedAt time.Time `json:"emitted_at"`
	WorkerSeq uint64    `json:"worker_seq"`
	Part      uint32    `json:"part"`
	StoreSeq  *uint64   `json:"store_seq"`
	Ephemeral bool      `json:"ephemeral"`
	EventID   uuid.UUID `json:"event_id"`
	Source    struct {
		Protocol   Protocol `json:"protocol"`
		Dialect    string   `json:"dialect"`
		SessionID  string   `json:"session_id"`
		TaskID     string   `json:"task_id"`
		Translator string   `json:"translator"`
	} `json:"source"`
	Frames []Range         `json:"frames"`
	Flags  []Flag          `json:"flags"`
	Kind   json.RawMessage `json:"kind"`
}

// DecodeEvent reads an event. A kind that it does not know is kept as Unknown.
func DecodeEvent(data []byte) (Event, error) {
	var w wireEvent
	if err := json.Unmarshal(data, &w); err != nil {
		return Event{}, fmt.Errorf("decode event: %w", err)
	}
	kind, err := decodeKind(w.Kind)
	if err != nil {
		return Event{}, fmt.Errorf("decode event %s: %w", w.EventID, err)
	}
	e := Event{
		Transcript: Transcript{
			Identity: Identity{Namespace: w.Namespace, Workflow: w.Workflow, Run: w.Run, Activity: w.Activity, Attempt: w.Attempt},
			Session:  w.Session,
		},
		AgentID: w.AgentID, AgentRole: w.AgentRole, EmittedAt: w.EmittedAt.UTC(), WorkerSeq: w.WorkerSeq, Part: w.Part,
		Ephemeral: w.Ephemeral, EventID: w.EventID, Source: Source(w.Source),
		Frames: w.Frames, Flags: w.Flags, Kind: kind,
	}
	if w.StoreSeq != nil {
		e.StoreSeq = *w.StoreSeq
	}
	return e, nil
}

// UnmarshalJSON is DecodeEvent for encoding/json.
func (e *Event) UnmarshalJSON(data []byte) (err error) {
	*e, err = DecodeEvent(data)
	return err
}

type wireKind struct {
	Kind string `json:"kind"`

	Role struct {
		Role Role `json:"role"`
	} `json:"role"`
	Text      string   `json:"text"`
	MessageID string   `json:"message_id"`
	Channel   Channel  `json:"channel"`
	Boundary  Boundary `json:"boundary"`
	Content   JSON     `json:"content"`
	Revision  uint64   `json:"revision"`

	Index        uint64 `json:"index"`
	TextFragment string `json:"text_fragment"`
	Reset        bool   `json:"reset"`

	Tool    json.RawMessage `json:"tool"` // a name on ToolCall, an object on ToolState
	CallID  string          `json:"call_id"`
	Input   JSON            `json:"input"`
	Output  JSON            `json:"output"`
	IsError bool            `json:"is_error"`

	Detail json.RawMessage `json:"detail"`
	Reason struct {
		Stop    StopReason `json:"stop"`
		Message string     `json:"message"`
		Reason  string     `json:"reason"`
	} `json:"reason"`

	Source string `json:"source"`
	Value  JSON   `json:"value"`
}

func decodeKind(data []byte) (Kind, error) {
	var tag struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(data, &tag); err != nil {
		return nil, fmt.Errorf("decode kind: %w", err)
	}
	switch tag.Kind {
	case TagMessage, TagDelta, TagToolCall, TagToolResult, TagToolState, TagProgress, TagStop, TagRaw:
	default: // its members may mean anything
		return &Unknown{Name: tag.Kind, Value: AppendCompact(nil, data)}, nil
	}
	var w wireKind
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, fmt.Errorf("decode kind %s: %w", tag.Kind, err)
	}
	switch tag.Kind {
	case TagMessage:
		return &Message{Role: w.Role.Role, Text: w.Text, MessageID: w.MessageID, Channel: w.Channel,
			Boundary: w.Boundary, Content: w.Content, Revision: w.Revision}, nil
	case TagDelta:
		return &Delta{MessageID: w.MessageID, Index: w.Index, TextFragment: w.TextFragment, Reset: w.Reset}, nil
	case TagToolCall:
		call := &ToolCall{CallID: w.CallID, Input: w.Input}
		if err := json.Unmarshal(w.Tool, &call.Tool); err != nil {
			return nil, fmt.Errorf("decode kind ToolCall: tool: %w", err)
		}
		return call, nil
	case TagToolResult:
		return &ToolResult{CallID: w.CallID, Output: w.Output, IsError: w.IsError}, nil
	case TagToolState:
		return decodeToolState(w.Tool)
	case TagProgress:
		return decodeProgress(w.Detail, data)
	case TagStop:
		return &Stop{Reason: w.Reason.Stop, Detail: w.Reason.Message + w.Reason.Reason}, nil
	}
	return &Raw{Source: w.Source, Value: w.Value}, nil
}

func decodeToolState(data []byte) (Kind, error) {
	var w struct {
		ToolID string `json:"toolId"`
		Name   string `json:"name"`
		Title  string `json:"title"`
		Input  JSON   `json:"input"`
		State  struct {
			Phase        Phase        `json:"phase"`
			PartialInput JSON         `json:"partialInput"`
			Input        JSON         `json:"input"`
			Description  string       `json:"description"`
			ApprovalID   string       `json:"approvalId"`
			Progress     string       `json:"progress"`
			ElapsedMs    *uint64      `json:"elapsedMs"`
			Success      bool         `json:"success"`
			Output       *string      `json:"output"`
			ConfirmedBy  ConfirmedBy  `json:"confirmedBy"`
			Reason       CancelReason `json:"reason"`
			Message      string       `json:"message"`
		} `json:"state"`
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, fmt.Errorf("decode kind ToolState: tool: %w", err)
	}
	return &ToolState{ToolID: w.ToolID, Name: w.Name, Title: w.Title, Input: w.Input, State: ToolPhase(w.State)}, nil
}

func decodeProgress(data, whole []byte) (Kind, error) {
	var w struct {
		Detail       string  `json:"detail"`
		Text         string  `json:"text"`
		MessageID    string  `json:"message_id"`
		Index        uint64  `json:"index"`
		Reset        bool    `json:"reset"`
		InputTokens  *uint64 `json:"input_tokens"`
		OutputTokens *uint64 `json:"output_tokens"`
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, fmt.Errorf("decode kind Progress: detail: %w", err)
	}
	switch w.Detail {
	case "Note":
		return &Progress{&Note{Text: w.Text}}, nil
	case "Thinking":
		return &Progress{&Thinking{MessageID: w.MessageID, Index: w.Index, Text: w.Text, Reset: w.Reset}}, nil
	case "UsageEstimate":
		return &Progress{&UsageEstimate{InputTokens: w.InputTokens, OutputTokens: w.OutputTokens}}, nil
	}
	return &Unknown{Name: TagProgress, Value: AppendCompact(nil, whole)}, nil
}
