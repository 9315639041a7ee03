package a2a

import (
	"testing"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate/a2a/a2atest"
	"github.com/steno-io/steno/translate/translatetest"
)

var testIdentity = schema.Identity{Namespace: "default", Workflow: "test", Run: "run-1", Activity: 0, Attempt: 1}

func TestCases(t *testing.T) {
	translatetest.Cases(t, "A2A-", "testdata/cases.jsonl", func(t *testing.T, c translatetest.Case) []schema.Event {
		fold := Translator{}.Fold(testIdentity)
		var events []schema.Event
		for _, f := range a2atest.CaseFrames(t, c) {
			events = fold.Step(events, &f)
		}
		return events
	})
}
