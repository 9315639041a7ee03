package schema

import (
	"encoding/json"
	"strconv"
	"time"
)

// Protocol is a tapped protocol.
type Protocol string

// The protocols that steno taps.
const (
	ACP Protocol = "acp"
	A2A Protocol = "a2a"
)

// From is the side that a frame came from.
type From string

// Sides. Control frames are the tap's own: open, close, gap, HTTP evidence, decisions, interventions.
const (
	FromClient  From = "client"
	FromAgent   From = "agent"
	FromStderr  From = "stderr"
	FromControl From = "control"
)

// FrameType says what a frame is.
type FrameType string

// Frame types. Data carries the conversation's bytes; the others are control frames whose payload
// is a JSON object. A decision stands before the answer that it led to.
const (
	TypeData     FrameType = "data"
	TypeOpen     FrameType = "open"
	TypeClose    FrameType = "close"
	TypeGap      FrameType = "gap"
	TypeHTTP     FrameType = "http"
	TypeDecision FrameType = "decision"
	// TypeIntervention marks what steno itself did in the conversation, in somebody's name.
	TypeIntervention FrameType = "intervention"
)

// End says how a frame ended on the wire; a line's LF is not part of its bytes.
type End string

// Ends of a frame.
const (
	EndLF   End = "lf"
	EndNone End = "none"
)

// Chan is the place of a frame in an HTTP exchange; empty for ACP.
type Chan string

// Places in an exchange.
const (
	ChanRequest  Chan = "request"
	ChanResponse Chan = "response"
	ChanStream   Chan = "stream"
	ChanPush     Chan = "push"
	ChanCard     Chan = "card"
)

// Frame is exact bytes and how they arrived. Seq counts 1, 2, 3 … without gaps in a capture and is
// given by the append that stores the frame. At is the capture time in UTC, in nanoseconds.
type Frame struct {
	Seq      uint64
	At       time.Time
	From     From
	Type     FrameType
	Protocol Protocol // set on capture-file lines; on the stream only the open frame's payload says it
	End      End
	Exchange string // the HTTP exchange's id; empty for ACP
	No       uint64 // the item's number inside its exchange
	Chan     Chan
	HTTP     []byte // HTTP evidence, a JSON object, at most 16 KiB; empty if none
	Data     []byte

	// The rest is the append's and stands on stored frames only.
	Salt   string // 32 hex digits drawn for this frame: its leaf is SHA-256(salt bytes ‖ data)
	Blob   string // SHA-256 in hex of the data, where it is in the blob bucket and the payload empty
	Writer Writer
	Chain  string // 64 hex digits; see ChainHash
}

// Writer says who stored a frame: a journal and the offset in it up to which the frame was cut. It
// makes an append that may have happened recognisable.
type Writer struct {
	Journal string // a token
	Offset  uint64
}

// String writes journal:offset.
func (w Writer) String() string {
	return w.Journal + ":" + strconv.FormatUint(w.Offset, 10)
}

// OpenInfo is the payload of an open frame: what steers the fold, and what a reader lists. Every
// field but Protocol may be absent.
type OpenInfo struct {
	Protocol Protocol          `json:"protocol"`
	Tap      string            `json:"tap,omitempty"`      // record, run, import, proxy
	Version  string            `json:"version,omitempty"`  // of the steno that tapped
	Command  []string          `json:"command,omitempty"`  // the agent's command line
	Cwd      string            `json:"cwd,omitempty"`      // the tap's working directory
	Host     string            `json:"host,omitempty"`     // host name
	Labels   map[string]string `json:"labels,omitempty"`   // --label k=v
	Journal  string            `json:"journal,omitempty"`  // the journal's id
	Asked    string            `json:"asked,omitempty"`    // the identity asked for, when another attempt was taken
	File     string            `json:"file,omitempty"`     // base name of an imported file
	Peer     string            `json:"peer,omitempty"`     // A2A: the peer's configured name
	Profile  string            `json:"profile,omitempty"`  // A2A: the peer profile
	Upstream string            `json:"upstream,omitempty"` // A2A: where the proxy forwards to
	// Permissions is the policy by which a client without a person answers permission requests, such as
	// allow_once; absent = the client's own matter.
	Permissions string `json:"permissions,omitempty"`
}

// PolicyAsk is the one policy that is no rule: somebody is asked each time.
const PolicyAsk = "ask"

// DecisionInfo is the payload of a decision frame: who decided what an agent had asked for. It stands
// before the answer in which the agent is told.
type DecisionInfo struct {
	Request  json.RawMessage `json:"request"`        // id of the permission request, as sent
	Approved bool            `json:"approved"`       // by who was asked; false with Fallback
	By       string          `json:"by,omitempty"`   // who was asked
	Note     string          `json:"note,omitempty"` // in their words
	// Intervention is the id of the intervention that brought the decision.
	Intervention string `json:"intervention,omitempty"`
	Fallback     string `json:"fallback,omitempty"` // the policy that decided, as nobody did in time
	Error        string `json:"error,omitempty"`    // why nobody could be asked
}

// CloseInfo is the payload of a close frame.
type CloseInfo struct {
	Reason   string `json:"reason"`              // see the Reason constants; free text from an operator
	ExitCode *int   `json:"exit_code,omitempty"` // of the tapped process
	Signal   string `json:"signal,omitempty"`    // that ended the tapped process
	Exchange string `json:"exchange,omitempty"`  // A2A: the exchange that ended; absent = the capture
	Error    string `json:"error,omitempty"`     // what the tap could not do
}

// Reasons of a close frame.
const (
	ReasonEOF        = "eof"         // the conversation ended
	ReasonWriterDied = "writer died" // the tap vanished; written by who drained its journal
	ReasonOperator   = "operator"    // steno close
)

// GapInfo is the payload of a gap frame: what was passed on but is not kept,
// or no longer. Chunks are the pieces that the tap read, 0 when nobody knows
// how many they were (a damaged journal); Bytes are theirs.
type GapInfo struct {
	Reason string          `json:"reason"`
	Chunks uint64          `json:"chunks"`
	Bytes  uint64          `json:"bytes"`
	From   map[From]uint64 `json:"from,omitempty"` // bytes by side
}
