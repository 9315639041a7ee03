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
