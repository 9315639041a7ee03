package reading

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
