package schema

// Kind is what happened. The set is closed: the kinds of this file, and Unknown for what a newer
// steno wrote.
type Kind interface {
	// Tag is the value of the "kind" member, PascalCase.
	Tag() string
	// appendMembers writes the kind's own members behind its tag.
	appendMembers(o *object)
}

// Tags of the kinds.
const (
	TagMessage    = "Message"
	TagDelta      = "Delta"
	TagToolCall   = "ToolCall"
	TagToolResult = "ToolResult"
	TagToolState  = "ToolState"
	TagProgress   = "Progress"
	TagStop       = "Stop"
	TagRaw        = "Raw"
)

// Role is who speaks in a Message.
type Role string

// Roles.
const (
	User      Role = "User"
	Assistant Role = "Assistant"
	System    Role = "System"
	Tool      Role = "Tool"
)

// Channel separates an answer from reasoning, which has the same role.
type Channel string

// Channels.
const (
	Answer  Channel = "answer"
	Thought Channel = "thought"
)

// Boundary is why a message ended.
type Boundary string

// Boundaries.
const (
	BoundaryMessageID Boundary = "message_id" // a new message id in its stream
	BoundaryStream    Boundary = "stream"     // another stream began, and it had no id
	BoundaryToolCall  Boundary = "tool_call"  // a tool call began, and it had no id
	BoundaryPrompt    Boundary = "prompt"     // the prompt itself; or a new prompt, and it had no id
	BoundaryTurnEnd   Boundary = "turn_end"   // the turn ended
	BoundaryReplayEnd Boundary = "replay_end" // the replay of a session's history ended
	BoundaryClose     Boundary = "close"      // the session, or the artifact, was closed
	BoundaryEnd       Boundary = "end"        // the capture, or the stream, ended
	BoundaryWhole     Boundary = "whole"      // it came as one piece
)

// Message is one whole message of a stream. Content holds the parts as a JSON array, in order, where
// not all of them are text; Text is then the text parts joined.
type Message struct {
	Role      Role
	Text      string
	MessageID string
	Channel   Channel
	Boundary  Boundary
	Content   JSON
	Revision  uint64 // counts from 1 when a peer replaced the message; 0 = as first sent
}

// Tag implements Kind.
func (*Message) Tag() string { return TagMessage }

func (k *Message) appendMembers(o *object) {
	o.name("role")
	role := openObject(o.dst)
	role.str("role", string(k.Role))
	o.dst = role.close()
	o.str("text", k.Text)
	o.str("message_id", k.MessageID)
	o.str("channel", string(k.Channel))
	o.str("boundary", string(k.Boundary))
	o.optJSON("content", k.Content)
	if k.Revision > 0 {
		o.uint("revision", k.Revision)
	}
}

// Delta is a piece of an answer as it is typed: ephemeral, always. Index counts 0, 1, 2 … inside its
// message. Reset means that the text starts anew with this piece.
type Delta struct {
	MessageID    string
	Index        uint64
	TextFragment string
	Reset        bool
}

// Tag implements Kind.
func (*Delta) Tag() string { return TagDelta }

func (k *Delta) appendMembers(o *object) {
	o.str("message_id", k.MessageID)
	o.uint("index", k.Index)
	o.str("text_fragment", k.TextFragment)
	if k.Reset {
		o.bool("reset", true)
	}
}

// ToolCall is a tool that the agent called. Tool is its name, or its title where it has none; Input
// is null where none was given.
type ToolCall struct {
	Tool   string
	CallID string
	Input  JSON
}

// Tag implements Kind.
func (*ToolCall) Tag() string { return TagToolCall }

func (k *ToolCall) appendMembers(o *object) {
	o.str("tool", k.Tool)
	o.str("call_id", k.CallID)
	o.json("input", k.Input)
}

// ToolResult is what a tool gave back; Output is null where it reported nothing.
type ToolResult struct {
	CallID  string
	Output  JSON
	IsError bool
}

// Tag implements Kind.
func (*ToolResult) Tag() string { return TagToolResult }

func (k *ToolResult) appendMembers(o *object) {
	o.str("call_id", k.CallID)
	o.json("output", k.Output)
	o.bool("is_error", k.IsError)
}

// Progress is one of Note, Thinking and UsageEstimate.
type Progress struct{ Detail Detail }

// Tag implements Kind.
func (*Progress) Tag() string { return TagProgress }

func (k *Progress) appendMembers(o *object) {
	o.name("detail")
	d := openObject(o.dst)
	d.str("detail", k.Detail.DetailTag())
	k.Detail.appendMembers(&d)
	o.dst = d.close()
}

const (
	detailNote          = "Note"
	detailThinking      = "Thinking"
	detailUsageEstimate = "UsageEstimate"
)

// Detail is what a Progress tells.
type Detail interface {
	// DetailTag is the value of the inner "detail" member.
	DetailTag() string
	appendMembers(o *object)
}

// Note is a remark for people.
type Note struct{ Text string }

// DetailTag implements Detail.
func (*Note) DetailTag() string { return detailNote }

func (d *Note) appendMembers(o *object) { o.str("text", d.Text) }

// Thinking is a piece of reasoning as it is typed, the twin of Delta: ephemeral, always.
type Thinking struct {
	MessageID string
	Index     uint64
	Text      string
	Reset     bool
}

// DetailTag implements Detail.
func (*Thinking) DetailTag() string { return detailThinking }

func (d *Thinking) appendMembers(o *object) {
	o.str("message_id", d.MessageID)
	o.uint("index", d.Index)
	o.str("text", d.Text)
	if d.Reset {
		o.bool("reset", true)
	}
}

// UsageEstimate is a count of tokens, from real token counts only. Nil means not reported.
type UsageEstimate struct {
	InputTokens  *uint64
	OutputTokens *uint64
}

// DetailTag implements Detail.
func (*UsageEstimate) DetailTag() string { return detailUsageEstimate }

func (d *UsageEstimate) appendMembers(o *object) {
	if d.InputTokens != nil {
		o.uint("input_tokens", *d.InputTokens)
	}
	if d.OutputTokens != nil {
		o.uint("output_tokens", *d.OutputTokens)
	}
}

// StopReason is how a turn ended.
type StopReason string

// Stop reasons. Error carries its message, Other the protocol's word.
const (
	StopEndTurn      StopReason = "EndTurn"
	StopToolUse      StopReason = "ToolUse"
	StopLimitReached StopReason = "LimitReached"
	StopCancelled    StopReason = "Cancelled"
	StopError        StopReason = "Error"
	StopOther        StopReason = "Other"
)

// Stop is the end of a turn. Detail is Error's message or Other's reason.
type Stop struct {
	Reason StopReason
	Detail string
}

// Tag implements Kind.
func (*Stop) Tag() string { return TagStop }

func (k *Stop) appendMembers(o *object) {
	o.name("reason")
	r := openObject(o.dst)
	r.str("stop", string(k.Reason))
	switch k.Reason {
	case StopError:
		r.str("message", k.Detail)
	case StopOther:
		r.str("reason", k.Detail)
	}
	o.dst = r.close()
}

// Raw is a payload as sent, labelled with where it stood.
type Raw struct {
	Source string
	Value  JSON
}

// Tag implements Kind.
func (*Raw) Tag() string { return TagRaw }

func (k *Raw) appendMembers(o *object) {
	o.str("source", k.Source)
	o.json("value", k.Value)
}

// Unknown is a kind that a newer steno wrote, or one of these with an inner tag that is not listed
// here: a detail, a stop reason, a phase. Value is the whole kind object, kept as read.
type Unknown struct {
	Name  string
	Value JSON
}

// Tag implements Kind.
func (k *Unknown) Tag() string { return k.Name }

func (*Unknown) appendMembers(*object) {}
