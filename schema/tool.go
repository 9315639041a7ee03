package schema

// Phase is where a tool call stands: streaming → waiting_confirmation → executing → completed, with
// cancelled as the other end.
type Phase string

// Phases.
const (
	Streaming           Phase = "streaming"
	WaitingConfirmation Phase = "waiting_confirmation"
	Executing           Phase = "executing"
	Completed           Phase = "completed"
	Cancelled           Phase = "cancelled"
)

// Ended reports whether the phase is an end.
func (p Phase) Ended() bool { return p == Completed || p == Cancelled }

// ConfirmedBy says whose decision let a tool run.
type ConfirmedBy string

// Deciders.
const (
	ConfirmedByUser    ConfirmedBy = "user"    // a person, through the tapped client or an ask
	ConfirmedByAuto    ConfirmedBy = "auto"    // the client by itself
	ConfirmedBySetting ConfirmedBy = "setting" // a policy
)

// CancelReason says why a tool was cancelled.
type CancelReason string

// Cancel reasons.
const (
	Denied      CancelReason = "denied"
	Interrupted CancelReason = "interrupted"
	Timeout     CancelReason = "timeout"
)

// ToolState is the whole next state of a tool call, never a patch.
type ToolState struct {
	ToolID string
	Name   string
	Title  string // absent if empty
	Input  JSON   // absent if empty
	State  ToolPhase
}

// ToolPhase is a phase with its own fields; a field that the phase does not have is not written.
type ToolPhase struct {
	Phase Phase

	PartialInput JSON // streaming

	Input       JSON   // waiting_confirmation: null where none was given
	Description string // waiting_confirmation
	ApprovalID  string // waiting_confirmation: the JSON text of the permission request's id

	Progress  string  // executing
	ElapsedMs *uint64 // executing, completed: milliseconds between frame times

	Success     bool        // completed
	Output      *string     // completed
	ConfirmedBy ConfirmedBy // completed

	Reason  CancelReason // cancelled
	Message string       // cancelled
}

// Tag implements Kind.
func (*ToolState) Tag() string { return TagToolState }

func (k *ToolState) appendMembers(o *object) {
	o.name("tool")
	t := openObject(o.dst)
	t.str("toolId", k.ToolID)
	t.str("name", k.Name)
	t.optStr("title", k.Title)
	t.optJSON("input", k.Input)
	t.name("state")
	t.dst = k.State.append(t.dst)
	o.dst = t.close()
}

func (p *ToolPhase) append(dst []byte) []byte {
	o := openObject(dst)
	o.str("phase", string(p.Phase))
	switch p.Phase {
	case Streaming:
		o.optJSON("partialInput", p.PartialInput)
	case WaitingConfirmation:
		o.json("input", p.Input)
		o.str("description", p.Description)
		o.str("approvalId", p.ApprovalID)
	case Executing:
		o.optStr("progress", p.Progress)
		p.appendElapsed(&o)
	case Completed:
		o.bool("success", p.Success)
		if p.Output != nil {
			o.str("output", *p.Output)
		}
		p.appendElapsed(&o)
		o.optStr("confirmedBy", string(p.ConfirmedBy))
	case Cancelled:
		o.str("reason", string(p.Reason))
		o.optStr("message", p.Message)
	}
	return o.close()
}

func (p *ToolPhase) appendElapsed(o *object) {
	if p.ElapsedMs != nil {
		o.uint("elapsedMs", *p.ElapsedMs)
	}
}
