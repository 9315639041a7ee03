package sink

import (
	"time"

	"github.com/steno-io/steno/schema"
)

// Summary is a transcript's line in a list. Its JSON is what `ls --json` writes.
type Summary struct {
	Key       string            `json:"key"`
	Protocol  schema.Protocol   `json:"protocol"`
	Dialect   string            `json:"dialect"`
	Agent     string            `json:"agent"`
	SessionID string            `json:"session_id"`
	Title     string            `json:"title"`
	Labels    map[string]string `json:"labels"`
	Cwd       string            `json:"cwd"`
	Status    schema.Status     `json:"status"`
	Frames    uint64            `json:"frames"` // accounted for by events, and those in open messages
	Events    uint64            `json:"events"`
	Head      uint64            `json:"head"`
	// Unaccounted counts the capture's covered frames that neither an event nor an open message
	// names. It stands on session 0's line for the whole capture; below 0 = frames named twice.
	Unaccounted int64             `json:"unaccounted"`
	FirstAt     time.Time         `json:"first_at,omitzero"` // of the first event; absent if there is none
	LastAt      time.Time         `json:"last_at,omitzero"`
	Stop        schema.StopReason `json:"stop"`                // of the last turn that ended
	IdleSince   time.Time         `json:"idle_since,omitzero"` // while the status is open: LastAt, or AddedAt where nothing was said
	AddedAt     time.Time         `json:"added_at,omitzero"`   // when it was first recorded or imported; lists are in this order
	Empty       bool              `json:"empty"`               // no message

	Transcript schema.Transcript `json:"-"`
}

// Summarise makes the line of a transcript from what the ledger keeps of it.
func Summarise(c *Capture, t *Transcript) Summary {
	key := schema.Transcript{Identity: c.Capture, Session: t.Session}
	s := Summary{
		Key: key.String(), Transcript: key,
		Protocol: t.Source.Protocol, Dialect: t.Source.Dialect, SessionID: t.Source.SessionID,
		Agent: t.About.Agent, Title: t.About.Title, Labels: t.About.Labels, Cwd: t.About.Cwd,
		Status: status(c, t), Frames: t.Frames + c.Open[t.Session], Events: t.Head, Head: t.Head,
		FirstAt: t.FirstAt, LastAt: t.LastAt, AddedAt: t.AddedAt, Stop: t.Stop, Empty: t.Messages == 0,
	}
	if s.Protocol == schema.A2A && !s.Empty {
		s.Title = "" // it says what there is where nobody says anything
	}
	if s.Title == "" {
		s.Title = t.Prompt
	}
	if s.Labels == nil {
		s.Labels = map[string]string{}
	}
	if t.Session == 0 {
		s.Unaccounted = int64(c.Last.Frame) - int64(c.Accounted)
		for _, frames := range c.Open {
			s.Unaccounted -= int64(frames)
		}
	}
	if s.Status == schema.StatusOpen {
		s.IdleSince = t.LastAt
		if s.IdleSince.IsZero() {
			s.IdleSince = t.AddedAt
		}
	}
	return s
}

// status is the capture's where it has ended, for all its sessions; else a session may have ended
// by itself.
func status(c *Capture, t *Transcript) schema.Status {
	switch {
	case c.Parked != nil:
		return schema.StatusParked
	case c.Status != "" && c.Status != schema.StatusOpen:
		return c.Status
	case t.About.Status != "":
		return t.About.Status
	}
	return schema.StatusOpen
}
