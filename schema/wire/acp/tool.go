package acp

// Statuses of a tool call. Version 2 has paused and cancelled beside those of version 1.
const (
	ToolPending    = "pending"
	ToolInProgress = "in_progress"
	ToolCompleted  = "completed"
	ToolFailed     = "failed"
	ToolPaused     = "paused"
	ToolCancelled  = "cancelled"
)

// ToolEnded reports whether no other status follows.
func ToolEnded(status string) bool {
	return status == ToolCompleted || status == ToolFailed || status == ToolCancelled
}

// KnownToolStatus reports whether the status is of that list, which version 2 leaves open.
func KnownToolStatus(status string) bool {
	switch status {
	case ToolPending, ToolInProgress, ToolPaused:
		return true
	}
	return ToolEnded(status)
}

// Types of what a permission request of version 2 is about.
const (
	SubjectToolCall = "tool_call"
	SubjectCommand  = "command"
)

// Kinds of a permission option.
const (
	AllowOnce    = "allow_once"
	AllowAlways  = "allow_always"
	RejectOnce   = "reject_once"
	RejectAlways = "reject_always"
)

// Decision says what choosing an option of the kind decides about the tool call.
type Decision int

// Decisions.
const (
	Undecided Decision = iota // the kind is not one of the list
	Allowed
	Rejected
)

// Decide gives the decision of a permission option's kind.
func Decide(kind string) Decision {
	switch kind {
	case AllowOnce, AllowAlways:
		return Allowed
	case RejectOnce, RejectAlways:
		return Rejected
	}
	return Undecided
}

// Outcomes of a permission request.
const (
	OutcomeSelected  = "selected"
	OutcomeCancelled = "cancelled"
)
