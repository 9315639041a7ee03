package acp

import (
	"testing"

	"github.com/steno-io/steno/translate/translatetest"
)

func TestEveryEventHasARule(t *testing.T) {
	translatetest.Ruled(t, Translator{}, "testdata", map[string]bool{ruleUsage.Name: true, rulePieces.Name: true, ruleIntervention.Name: true, ruleInjected.Name: true})
	translatetest.Ruled(t, First{}, "testdata", map[string]bool{
		rulePrompt.Name: true, ruleMessage.Name: true, ruleThought.Name: true, ruleEcho.Name: true,
		ruleToolCall.Name: true, ruleToolResult.Name: true, ruleToolState.Name: true, ruleStop.Name: true,
		rulePermission.Name: true, ruleDecision.Name: true, ruleRefused.Name: true, ruleUnmatched.Name: true, ruleUnrecognised.Name: true,
		ruleUndecodable.Name: true, ruleUpdate.Name: true, ruleControl.Name: true, ruleStderr.Name: true, ruleNoise.Name: true,
		ruleNotRPC.Name: true, ruleRaw.Name: true,
	})
}
