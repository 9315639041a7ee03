package translate

import (
	"fmt"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate/state"
)

// ErrState marks a state that is damaged, another capture's, or written by a build whose folds are made
// otherwise. The capture's frames give what it held.
var ErrState = state.ErrUnfit

// head stands before a fold's state in a capture's.
type head struct {
	identity schema.Identity
	version  string
	frame    uint64
	last     schema.Origin
	ordinals map[uint32]uint64
}

var headForm = state.NewForm[head]("capture/1")

// AppendState appends the capture's state, for RestoreCapture. Captures that folded the same frames give
// the same bytes. A capture without a frame has no state: nothing is appended.
func (c *Capture) AppendState(dst []byte) []byte {
	if c.fold == nil {
		return dst
	}
	dst = headForm.Append(dst, &head{c.id, c.used, c.frame, c.last, c.ordinals})
	return c.fold.AppendState(dst)
}

// RestoreCapture makes the capture whose state was appended; its next frame is the one behind Frame. It
// keeps nothing of state. An error wraps ErrState, or says which translator is missing.
func RestoreCapture(id schema.Identity, catalogue *Catalogue, state []byte) (*Capture, error) {
	var h head
	rest, err := headForm.Cut(&h, state)
	if err != nil {
		return nil, fmt.Errorf("restore %s: %w", id, err)
	}
	if h.identity != id {
		return nil, fmt.Errorf("restore %s: the state is that of %s: %w", id, h.identity, ErrState)
	}
	t, err := catalogue.ByVersion(h.version)
	if err != nil {
		return nil, fmt.Errorf("restore %s: %w", id, err)
	}
	fold, err := t.Restore(id, rest)
	if err != nil {
		return nil, fmt.Errorf("restore %s at frame %d: %w", id, h.frame, err)
	}
	if h.ordinals == nil {
		h.ordinals = map[uint32]uint64{}
	}
	return &Capture{
		id: id, catalogue: catalogue, version: h.version, fold: fold, used: h.version,
		frame: h.frame, last: h.last, ordinals: h.ordinals,
	}, nil
}
