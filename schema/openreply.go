package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// OpenReply is what the owner of a partition answers on an open subject: what a capture's fold holds
// unfinished, as it stands at one frame. It is JSON in one or more pages (CutOpenPages).
type OpenReply struct {
	Identity   Identity
	Frame      uint64            // the frame it stands at; 0: no frame of the capture is stored
	Translator string            // empty before the first frame
	Ordinals   map[uint32]uint64 // each session: the durable events up to Frame, which is the head to come
	Frames     map[uint32]uint64 // each session: the frames up to Frame that no event names yet
	Messages   []OpenMessage
	Tools      []OpenTool
	Notes      []OpenNote
	Parked     string // why the capture is not folded beyond Frame; empty if it is
}

// OpenMessage is a message whose text still grows. Next is the index of its next delta.
type OpenMessage struct {
	Session   uint32
	MessageID string
	Role      Role
	Channel   Channel
	Text      string
	Next      uint64
	TaskID    string // of A2A
}

// OpenNote is progress of a task that is not stored yet.
type OpenNote struct {
	Session uint32
	TaskID  string
	Text    string
}

// OpenTool is a tool call that has not ended.
type OpenTool struct {
	Session uint32
	State   ToolState
}

// AppendJSON appends the reply's one encoding.
func (r *OpenReply) AppendJSON(dst []byte) []byte {
	o := openObject(dst)
	o.str("capture", r.Identity.String())
	o.uint("frame", r.Frame)
	o.str("translator", r.Translator)
	o.counts("ordinals", r.Ordinals)
	o.counts("frames", r.Frames)
	o.openMembers(r.Messages, r.Tools, r.Notes)
	o.optStr("parked", r.Parked)
	return o.close()
}

// AppendOpen appends an object of the members messages, tools and notes, as an OpenReply has them.
func AppendOpen(dst []byte, messages []OpenMessage, tools []OpenTool, notes []OpenNote) []byte {
	o := openObject(dst)
	o.openMembers(messages, tools, notes)
	return o.close()
}

func (o *object) openMembers(messages []OpenMessage, tools []OpenTool, notes []OpenNote) {
	o.name("messages")
	o.dst = append(o.dst, '[')
	for i := range messages {
		if i > 0 {
			o.dst = append(o.dst, ',')
		}
		o.dst = messages[i].append(o.dst)
	}
	o.dst = append(o.dst, ']')
	o.name("tools")
	o.dst = append(o.dst, '[')
	for i := range tools {
		if i > 0 {
			o.dst = append(o.dst, ',')
		}
		o.dst = tools[i].append(o.dst)
	}
	o.dst = append(o.dst, ']')
	if len(notes) > 0 {
		o.name("notes")
		o.dst = append(o.dst, '[')
		for i := range notes {
			if i > 0 {
				o.dst = append(o.dst, ',')
			}
			o.dst = notes[i].append(o.dst)
		}
		o.dst = append(o.dst, ']')
	}
}

func (m *OpenMessage) append(dst []byte) []byte {
	o := openObject(dst)
	o.uint("session", uint64(m.Session))
	o.str("message_id", m.MessageID)
	o.str("role", string(m.Role))
	o.str("channel", string(m.Channel))
	o.str("text", m.Text)
	o.uint("next", m.Next)
	o.optStr("task_id", m.TaskID)
	return o.close()
}

func (n *OpenNote) append(dst []byte) []byte {
	o := openObject(dst)
	o.uint("session", uint64(n.Session))
	o.optStr("task_id", n.TaskID)
	o.str("text", n.Text)
	return o.close()
}

func (t *OpenTool) append(dst []byte) []byte {
	o := openObject(dst)
	o.uint("session", uint64(t.Session))
	t.State.appendMembers(&o)
	return o.close()
}

// counts writes a map from session to number, in the order of the sessions.
func (o *object) counts(name string, counts map[uint32]uint64) {
	o.name(name)
	c := openObject(o.dst)
	for _, session := range slices.Sorted(maps.Keys(counts)) {
		c.uint(strconv.FormatUint(uint64(session), 10), counts[session])
	}
	o.dst = c.close()
}

// DecodeOpenReply reads a reply whose pages are joined.
func DecodeOpenReply(data []byte) (OpenReply, error) {
	var w struct {
		Capture    string            `json:"capture"`
		Frame      uint64            `json:"frame"`
		Translator string            `json:"translator"`
		Ordinals   map[uint32]uint64 `json:"ordinals"`
		Frames     map[uint32]uint64 `json:"frames"`
		Messages   []struct {
			Session   uint32  `json:"session"`
			MessageID string  `json:"message_id"`
			Role      Role    `json:"role"`
			Channel   Channel `json:"channel"`
			Text      string  `json:"text"`
			Next      uint64  `json:"next"`
			TaskID    string  `json:"task_id"`
		} `json:"messages"`
		Notes []struct {
			Session uint32 `json:"session"`
			TaskID  string `json:"task_id"`
			Text    string `json:"text"`
		} `json:"notes"`
		Tools []struct {
			Session uint32          `json:"session"`
			Tool    json.RawMessage `json:"tool"`
		} `json:"tools"`
		Parked string `json:"parked"`
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return OpenReply{}, fmt.Errorf("decode open reply: %w", err)
	}
	id, err := ParseIdentity(w.Capture)
	if err != nil {
		return OpenReply{}, fmt.Errorf("decode open reply: capture: %w", err)
	}
	r := OpenReply{Identity: id, Frame: w.Frame, Translator: w.Translator, Ordinals: w.Ordinals, Frames: w.Frames, Parked: w.Parked}
	for _, m := range w.Messages {
		r.Messages = append(r.Messages, OpenMessage(m))
	}
	for _, n := range w.Notes {
		r.Notes = append(r.Notes, OpenNote(n))
	}
	for _, t := range w.Tools {
		state, err := decodeToolState(t.Tool)
		if err != nil {
			return OpenReply{}, fmt.Errorf("decode open reply of %s: %w", id, err)
		}
		r.Tools = append(r.Tools, OpenTool{Session: t.Session, State: *state.(*ToolState)})
	}
	return r, nil
}
