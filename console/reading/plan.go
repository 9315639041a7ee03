package reading

import (
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// Step is one entry of an agent's plan.
type Step struct {
	Status string // as sent: pending, in_progress, completed
	Text   string // on one line
}

// PlanOf reads a plan; ok is false if the value is none.
func PlanOf(value schema.JSON) (steps []Step, ok bool) {
	v := Parse(value)
	entries := v.Get("entries")
	if !entries.Present() {
		entries = v.Get("plan").Get("entries")
	}
	if entries.Kind() != jsontree.Array {
		return nil, false
	}
	for entry := range entries.Children() {
		status, _ := entry.Get("status").Text()
		text, ok := entry.Get("content").Text()
		if !ok {
			text = Scalar(entry)
		}
		steps = append(steps, Step{status, OneLine(text)})
	}
	return steps, true
}
