package tui

import "github.com/steno-io/steno/schema"

// bytes is roughly what a segment's events hold.
func (s *segment) bytes() int { return weightOf(s.events) }

// weightOf is roughly what events hold, in bytes.
func weightOf(events []schema.Event) int {
	n := 0
	for i := range events {
		n += weight(&events[i])
	}
	return n
}

// weight is roughly what an event holds, in bytes.
func weight(e *schema.Event) int {
	n := 512
	switch k := e.Kind.(type) {
	case *schema.Message:
		n += len(k.Text) + len(k.Content)
	case *schema.ToolCall:
		n += len(k.Input)
	case *schema.ToolResult:
		n += len(k.Output)
	case *schema.ToolState:
		n += len(k.Input) + len(k.State.Input) + len(k.State.PartialInput)
		if k.State.Output != nil {
			n += len(*k.State.Output)
		}
	case *schema.Raw:
		n += len(k.Value)
	}
	return n
}
