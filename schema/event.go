package schema

import (
	"bytes"
	"crypto/sha1" // UUIDv5 is defined over it; nothing rests on its strength
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// Range is a closed range of frame numbers, first and last.
type Range [2]uint64

// Origin is where an event comes from: the frame that produced it and its place among that frame's
// events. It is the same on every run.
type Origin struct {
	Frame uint64
	Part  uint32
}

// Compare orders origins by frame, then part.
func (o Origin) Compare(p Origin) int {
	switch {
	case o.Frame < p.Frame, o.Frame == p.Frame && o.Part < p.Part:
		return -1
	case o == p:
		return 0
	}
	return 1
}

// String writes frame.part.
func (o Origin) String() string {
	return strconv.FormatUint(o.Frame, 10) + "." + strconv.FormatUint(uint64(o.Part), 10)
}

// Source says which protocol words an event was made of, and by which translator version.
type Source struct {
	Protocol   Protocol
	Dialect    string
	SessionID  string // the peer's own session id; empty where the protocol has none
	TaskID     string // A2A
	Translator string // name/version, such as acp/1
}

// Event is one neutral happening. Field names and tags on the wire are those of aion's ActivityEvent.
type Event struct {
	Transcript
	AgentID   uuid.UUID
	AgentRole string
	EmittedAt time.Time // the frame's capture time
	WorkerSeq uint64    // the frame that produced it
	Part      uint32
	StoreSeq  uint64 // 1, 2, 3 … given by the sink; 0 = null
	Ephemeral bool
	EventID   uuid.UUID
	Source    Source
	Frames    []Range // the frames that it accounts for, never empty
	Flags     []Flag
	Kind      Kind
}

// Origin is the event's origin.
func (e *Event) Origin() Origin { return Origin{Frame: e.WorkerSeq, Part: e.Part} }

// EventID derives the id of the event with this origin: UUIDv5 of identity and origin.
func EventID(id Identity, o Origin) uuid.UUID { return NewSpace(id).Event(o) }

// Space is an identity's UUIDv5 name space, made once for many ids. The zero value is of no use.
type Space struct {
	buf [uuidSize + len("event/") + 32]byte // the space, then the name
}

const uuidSize = len(uuid.UUID{})

// NewSpace makes the name space of an identity.
func NewSpace(id Identity) *Space {
	s := &Space{}
	space := id.space()
	copy(s.buf[:], space[:])
	copy(s.buf[uuidSize:], "event/")
	return s
}

// Event is EventID for this identity, without allocation. It is not safe for concurrent use.
func (s *Space) Event(o Origin) uuid.UUID {
	name := s.buf[:uuidSize+len("event/")]
	name = strconv.AppendUint(name, o.Frame, 10)
	name = append(name, '.')
	name = strconv.AppendUint(name, uint64(o.Part), 10)
	sum := sha1.Sum(name)
	id := uuid.UUID(sum[:uuidSize])
	id[6] = id[6]&0x0f | 0x50 // version 5
	id[8] = id[8]&0x3f | 0x80 // RFC 9562 variant
	return id
}

// Has reports whether the event carries the flag.
func (e *Event) Has(flag Flag) bool {
	for _, f := range e.Flags {
		if f == flag {
			return true
		}
	}
	return false
}

// AppendJSON appends the event's one encoding, without a line feed.
func (e *Event) AppendJSON(dst []byte) []byte {
	o := openObject(dst)
	o.str("namespace", e.Namespace)
	o.str("workflow_id", e.Workflow)
	o.str("run_id", e.Run)
	o.uint("activity_id", e.Activity)
	o.uint("attempt", uint64(e.Attempt))
	o.uint("session", uint64(e.Session))
	o.uuid("agent_id", e.AgentID)
	o.str("agent_role", e.AgentRole)
	o.name("emitted_at")
	o.dst = append(o.dst, '"')
	o.dst = e.EmittedAt.UTC().AppendFormat(o.dst, time.RFC3339Nano)
	o.dst = append(o.dst, '"')
	o.uint("worker_seq", e.WorkerSeq)
	o.uint("part", uint64(e.Part))
	if e.StoreSeq == 0 {
		o.json("store_seq", nil)
	} else {
		o.uint("store_seq", e.StoreSeq)
	}
	o.bool("ephemeral", e.Ephemeral)
	o.uuid("event_id", e.EventID)
	o.name("source")
	o.dst = e.Source.append(o.dst)
	o.name("frames")
	o.dst = appendRanges(o.dst, e.Frames)
	if len(e.Flags) > 0 {
		o.name("flags")
		o.dst = append(o.dst, '[')
		for i, f := range e.Flags {
			if i > 0 {
				o.dst = append(o.dst, ',')
			}
			o.dst = AppendString(o.dst, string(f))
		}
		o.dst = append(o.dst, ']')
	}
	o.name("kind")
	o.dst = appendKind(o.dst, e.Kind)
	return o.close()
}

// MarshalJSON is AppendJSON for encoding/json.
func (e *Event) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (s *Source) append(dst []byte) []byte {
	o := openObject(dst)
	o.str("protocol", string(s.Protocol))
	o.str("dialect", s.Dialect)
	o.optStr("session_id", s.SessionID)
	o.optStr("task_id", s.TaskID)
	o.str("translator", s.Translator)
	return o.close()
}

func appendRanges(dst []byte, ranges []Range) []byte {
	dst = append(dst, '[')
	for i, r := range ranges {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '[')
		dst = strconv.AppendUint(dst, r[0], 10)
		dst = append(dst, ',')
		dst = strconv.AppendUint(dst, r[1], 10)
		dst = append(dst, ']')
	}
	return append(dst, ']')
}

func appendKind(dst []byte, k Kind) []byte {
	if u, ok := k.(*Unknown); ok {
		return append(dst, u.Value...)
	}
	o := openObject(dst)
	o.str("kind", k.Tag())
	k.appendMembers(&o)
	return o.close()
}

const storeSeqName = `,"store_seq":`

// WithStoreSeq gives the encoding of the event with its number. It refuses bytes that AppendJSON did
// not write for an event without one. (The first such name is the event's own: only strings and
// numbers stand before it, and a quotation mark inside a string has a backslash before it.)
func WithStoreSeq(event []byte, seq uint64) ([]byte, error) {
	head, tail, _ := bytes.Cut(event, []byte(storeSeqName))
	tail, ok := bytes.CutPrefix(tail, []byte("null,"))
	if !ok {
		return nil, fmt.Errorf("number event %d: it has no store_seq of null", seq)
	}
	out := make([]byte, 0, len(event)+20)
	out = append(out, head...)
	out = append(out, storeSeqName...)
	out = strconv.AppendUint(out, seq, 10)
	out = append(out, ',')
	return append(out, tail...), nil
}
