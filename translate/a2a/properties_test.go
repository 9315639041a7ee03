package a2a

import (
	"testing"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate/translatetest"
)

func TestEveryCaseHasTheProperties(t *testing.T) {
	translatetest.Cases(t, "A2A-", "testdata/cases.jsonl", func(t *testing.T, c translatetest.Case) []schema.Event {
		frames := caseFrames(t, c)
		translatetest.Properties(t, Translator{}, frames)
		return translatetest.Fold(Translator{}, frames)
	})
}
