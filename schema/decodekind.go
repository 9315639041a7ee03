package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// wireKind has the members of all kinds, for reading.
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
	known, err := knows(tag.Kind, data)
	if err != nil {
		return nil, fmt.Errorf("decode kind %s: %w", tag.Kind, err)
	}
	if !known { // its members may mean anything
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
		return decodeProgress(w.Detail)
	case TagStop:
		return &Stop{Reason: w.Reason.Stop, Detail: w.Reason.Message + w.Reason.Reason}, nil
	}
	return &Raw{Source: w.Source, Value: w.Value}, nil
}

// knows reports whether this version writes such a kind, with such an inner tag where it has one.
func knows(kind string, data []byte) (bool, error) {
	switch kind {
	case TagMessage, TagDelta, TagToolCall, TagToolResult, TagRaw:
		return true, nil
	case TagToolState:
		var w struct {
			Tool struct {
				State struct {
					Phase Phase `json:"phase"`
				} `json:"state"`
			} `json:"tool"`
		}
		err := json.Unmarshal(data, &w)
		return listed(err, "tool.state.phase", w.Tool.State.Phase, Streaming, WaitingConfirmation, Executing, Completed, Cancelled)
	case TagProgress:
		var w struct {
			Detail struct {
				Detail string `json:"detail"`
			} `json:"detail"`
		}
		err := json.Unmarshal(data, &w)
		return listed(err, "detail.detail", w.Detail.Detail, detailNote, detailThinking, detailUsageEstimate)
	case TagStop:
		var w struct {
			Reason struct {
				Stop StopReason `json:"stop"`
			} `json:"reason"`
		}
		err := json.Unmarshal(data, &w)
		return listed(err, "reason.stop", w.Reason.Stop, StopEndTurn, StopToolUse, StopLimitReached, StopCancelled, StopError, StopOther)
	}
	return false, nil
}

// listed reports whether an inner tag, read with err, is one of those that this version writes.
func listed[T ~string](err error, name string, tag T, known ...T) (bool, error) {
	if err == nil && tag == "" {
		err = errors.New("it is missing")
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", name, err)
	}
	return slices.Contains(known, tag), nil
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

func decodeProgress(data []byte) (Kind, error) {
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
	case detailNote:
		return &Progress{&Note{Text: w.Text}}, nil
	case detailThinking:
		return &Progress{&Thinking{MessageID: w.MessageID, Index: w.Index, Text: w.Text, Reset: w.Reset}}, nil
	}
	return &Progress{&UsageEstimate{InputTokens: w.InputTokens, OutputTokens: w.OutputTokens}}, nil
}
