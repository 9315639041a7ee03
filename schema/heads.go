package schema

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Heads tells on a delta subject how far the owner's open messages of a transcript are, each second
// after a change and on taking a capture. Where Next is ahead of the deltas that a console has seen,
// the console has missed some and asks for the open reply. Unlike an event it has no "kind".
type Heads struct {
	Frame uint64 // the frame that the owner's fold stands at
	Heads []Head
}

// Head is an open message and the index of its next delta.
type Head struct {
	MessageID string
	Next      uint64
}

// AppendJSON appends {"frame":17,"heads":[["m1",12]]}.
func (h *Heads) AppendJSON(dst []byte) []byte {
	o := openObject(dst)
	o.uint("frame", h.Frame)
	o.name("heads")
	o.dst = append(o.dst, '[')
	for i, head := range h.Heads {
		if i > 0 {
			o.dst = append(o.dst, ',')
		}
		o.dst = append(o.dst, '[')
		o.dst = AppendString(o.dst, head.MessageID)
		o.dst = append(o.dst, ',')
		o.dst = strconv.AppendUint(o.dst, head.Next, 10)
		o.dst = append(o.dst, ']')
	}
	o.dst = append(o.dst, ']')
	return o.close()
}

// DecodeLive reads a message of a delta subject: an ephemeral event, or heads; one of them is not nil.
func DecodeLive(data []byte) (*Event, *Heads, error) {
	var w struct {
		Kind  json.RawMessage     `json:"kind"`
		Frame uint64              `json:"frame"`
		Heads [][]json.RawMessage `json:"heads"`
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, nil, fmt.Errorf("decode live message: %w", err)
	}
	if w.Kind != nil {
		e, err := DecodeEvent(data)
		if err != nil {
			return nil, nil, fmt.Errorf("decode live message: %w", err)
		}
		return &e, nil, nil
	}
	if w.Heads == nil {
		return nil, nil, fmt.Errorf("decode live message: neither an event nor heads")
	}
	h := &Heads{Frame: w.Frame, Heads: make([]Head, len(w.Heads))}
	for i, pair := range w.Heads {
		if len(pair) != 2 {
			return nil, nil, fmt.Errorf("decode live message: head %d: want [message_id, next], got %d values", i, len(pair))
		}
		if err := json.Unmarshal(pair[0], &h.Heads[i].MessageID); err != nil {
			return nil, nil, fmt.Errorf("decode live message: head %d: message id: %w", i, err)
		}
		if err := json.Unmarshal(pair[1], &h.Heads[i].Next); err != nil {
			return nil, nil, fmt.Errorf("decode live message: head %d: next: %w", i, err)
		}
	}
	return nil, h, nil
}
