package reading

import "github.com/steno-io/steno/schema"

// Marks before a line say what it is without colour.
const (
	MarkCalled  = "○"
	MarkWaiting = "?"
	MarkRunning = "▸"
	MarkGood    = "✓"
	MarkBad     = "✗"
	MarkStop    = "■"
	MarkNote    = "·"
	MarkAlarm   = "!"
)

// Tone is how something that is told stands out.
type Tone int

// Tones.
const (
	Plain Tone = iota
	Quiet
	Good
	Bad
	Warn
)

// ToneOf is how a transcript's status stands out: an end that was seen does not.
func ToneOf(s schema.Status) Tone {
	switch s {
	case schema.StatusOpen:
		return Good
	case schema.StatusParked:
		return Bad
	case schema.StatusAbandoned:
		return Warn
	}
	return Plain
}
