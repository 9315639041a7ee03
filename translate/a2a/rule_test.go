package a2a

import (
	"testing"

	"github.com/steno-io/steno/translate/translatetest"
)

func TestEveryEventHasARule(t *testing.T) {
	translatetest.Ruled(t, Translator{}, "testdata", map[string]bool{
		ruleRequest.Name: true, ruleText.Name: true, ruleProgress.Name: true, ruleStop.Name: true, ruleControl.Name: true, ruleRaw.Name: true,
		ruleIntervention.Name: true, ruleInjected.Name: true,
	})
}
