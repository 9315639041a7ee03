package acp

// Variants of session/update in both versions.
const (
	UserMessageChunk        = "user_message_chunk"
	AgentMessageChunk       = "agent_message_chunk"
	AgentThoughtChunk       = "agent_thought_chunk"
	ToolCallUpdate          = "tool_call_update"
	PlanUpdate              = "plan_update"
	PlanRemoved             = "plan_removed"
	AvailableCommandsUpdate = "available_commands_update"
	ConfigOptionUpdate      = "config_option_update"
	SessionInfoUpdate       = "session_info_update"
	UsageUpdate             = "usage_update"
	Notice                  = "notice"
	CompactionUpdate        = "compaction_update"
	CompactionSummaryChunk  = "compaction_summary_chunk"
	SubagentUpdate          = "subagent_update"
	SessionMessage          = "session_message"
	SessionMessageChunk     = "session_message_chunk"
)

// Variants of version 1 only.
const (
	ToolCall          = "tool_call"
	Plan              = "plan"
	CurrentModeUpdate = "current_mode_update"
)

// Variants of version 2 only.
const (
	UserMessage          = "user_message"
	AgentMessage         = "agent_message"
	AgentThought         = "agent_thought"
	StateUpdate          = "state_update"
	ToolCallContentChunk = "tool_call_content_chunk"
	TerminalUpdate       = "terminal_update"
	TerminalOutputChunk  = "terminal_output_chunk"
)

// KnownUpdate reports whether a version of the protocol, 1 or 2, has the variant.
func KnownUpdate(version int, variant string) bool {
	switch variant {
	case UserMessageChunk, AgentMessageChunk, AgentThoughtChunk, ToolCallUpdate, PlanUpdate, PlanRemoved,
		AvailableCommandsUpdate, ConfigOptionUpdate, SessionInfoUpdate, UsageUpdate, Notice,
		CompactionUpdate, CompactionSummaryChunk, SubagentUpdate, SessionMessage, SessionMessageChunk:
		return version == 1 || version == 2
	case ToolCall, Plan, CurrentModeUpdate:
		return version == 1
	case UserMessage, AgentMessage, AgentThought, StateUpdate, ToolCallContentChunk, TerminalUpdate,
		TerminalOutputChunk:
		return version == 2
	}
	return false
}

// States of version 2's state_update and of a subagent. Version 2 leaves the list open; StateUnknown is
// a word of it.
const (
	StateRunning        = "running"
	StateIdle           = "idle"
	StateRequiresAction = "requires_action"
	StateUnknown        = "unknown"
)

// KnownState reports whether the state is of that list.
func KnownState(state string) bool {
	return Working(state) || state == StateIdle || state == StateUnknown
}

// Working reports whether an agent in the state has work in hand that an idle state will end.
func Working(state string) bool { return state == StateRunning || state == StateRequiresAction }

// BackgroundToolCall is the type of a piece of background work that names a tool call: the call goes on
// when the turn has ended.
const BackgroundToolCall = "tool_call"

// WholeStream gives the stream of a variant that tells a message as a whole, version 2's counterparts of
// the chunks; ok is false for any other variant.
func WholeStream(variant string) (stream Stream, ok bool) {
	switch variant {
	case UserMessage:
		return ChunkStream(UserMessageChunk)
	case AgentMessage:
		return ChunkStream(AgentMessageChunk)
	case AgentThought:
		return ChunkStream(AgentThoughtChunk)
	}
	return Stream{}, false
}
