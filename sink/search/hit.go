package search

import (
	"fmt"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// Read fills in what a hit says of its event, whose bytes are given.
func Read(h *sink.Hit, q Query, event []byte) error {
	e, err := schema.DecodeEvent(event)
	if err != nil {
		return fmt.Errorf("read event %d of %s: %w", h.Seq, h.Summary.Key, err)
	}
	h.At, h.Kind = e.EmittedAt, e.Kind.Tag()
	if m, ok := e.Kind.(*schema.Message); ok {
		h.Role, h.Channel = m.Role, m.Channel
	}
	_, h.Tool = Tool(&e)
	h.Snippet, h.Matches = Of(&e).Snippet(q)
	return nil
}
