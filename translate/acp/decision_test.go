package acp

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate/translatetest"
)

// decided is a conversation of a client without a person, from the frame that says its policy on: a tool
// call, what its agent asks, who decided (nothing where nobody was asked), the answer, the tool's end.
func decided(policy, decision, kind string) []schema.Frame {
	lines := []string{
		update("tool_call", `,"toolCallId":"t1","title":"Burn the mill"`),
		`{"id":0,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"t1"},` +
			`"options":[{"optionId":"y","kind":"allow_once"},{"optionId":"n","kind":"reject_once"}]}}`,
		decision,
		`> {"id":0,"result":{"outcome":{"outcome":"selected","optionId":"` + kind + `"}}}`,
		update("tool_call_update", `,"toolCallId":"t1","status":"completed"`),
	}
	fs := frames(append([]string{`{"protocol":"acp","tap":"run","permissions":"` + policy + `"}`}, lines...)...)
	fs[0].From, fs[0].Type, fs[0].End = schema.FromControl, schema.TypeOpen, schema.EndNone
	fs[3].From, fs[3].Type, fs[3].End = schema.FromControl, schema.TypeDecision, schema.EndNone
	if decision == "" {
		fs = append(fs[:3], fs[4:]...)
		for i := range fs {
			fs[i].Seq = uint64(i) + 1
		}
	}
	return fs
}

func TestADecisionSaysItsPolicy(t *testing.T) {
	const (
		approved = `{"request":0,"approved":true,"by":"miller"}`
		denied   = `{"request":0,"approved":false,"by":"miller"}`
		late     = `{"request":0,"approved":false,"fallback":"deny"}`
	)
	for _, test := range []struct {
		policy, decision, option string
		want                     string // of the decision
		by                       schema.ConfirmedBy
		reason                   schema.CancelReason
	}{
		{"", "", "y", "client", schema.ConfirmedByUser, ""},
		{"", "", "n", "client", "", schema.Denied},
		{"allow_once", "", "y", "allow_once", schema.ConfirmedBySetting, ""},
		{"deny", "", "n", "deny", "", schema.Denied},
		{"ask", approved, "y", "ask", schema.ConfirmedByUser, ""},
		{"ask", denied, "n", "ask", "", schema.Denied},
		{"ask", late, "n", "ask", "", schema.Timeout},
		{"ask", `{"request":0,"approved":false,"fallback":"allow_once"}`, "y", "ask", schema.ConfirmedBySetting, ""},
		{"ask", `{"request":"0","approved":false,"fallback":"deny"}`, "n", "ask", "", schema.Denied}, // another request's
		{"ask", `{"request":`, "n", "ask", "", schema.Denied},
		{"ask", `{}`, "n", "ask", "", schema.Denied},
	} {
		fs := decided(test.policy, test.decision, test.option)
		events := translatetest.Fold(Translator{}, fs)
		var end *schema.ToolState
		var sources []string
		for i := range events {
			switch k := events[i].Kind.(type) {
			case *schema.Raw:
				sources = append(sources, k.Source)
				if k.Source == "session/request_permission/decision" {
					require.JSONEq(t, `{"policy":"`+test.want+`","toolCallId":"t1","outcome":{"outcome":"selected","optionId":"`+test.option+`"},
						"offered":[{"optionId":"y","kind":"allow_once"},{"optionId":"n","kind":"reject_once"}]}`, string(k.Value))
				}
			case *schema.ToolState:
				end = k
			}
		}
		require.Contains(t, sources, "session/request_permission/decision")
		require.Equal(t, test.decision != "", slices.Contains(sources, "acp/decision"), sources)
		require.NotNil(t, end)
		require.Equal(t, test.by, end.State.ConfirmedBy, "%+v", test)
		require.Equal(t, test.reason, end.State.Reason, "%+v", test)
		translatetest.Properties(t, Translator{}, fs)
	}
}

// The decision stands in the session of the request that it is about.
func TestADecisionIsOfItsSession(t *testing.T) {
	for decision, session := range map[string]uint32{`{"request":0,"approved":true}`: 1, `{"request":1,"approved":true}`: 0, `{"request":"0"}`: 0} {
		events := translatetest.Fold(Translator{}, decided("ask", decision, "y"))
		for i := range events {
			if raw, ok := events[i].Kind.(*schema.Raw); ok && raw.Source == "acp/decision" {
				require.Equal(t, session, events[i].Session, decision)
				require.Equal(t, decision, string(raw.Value))
			}
		}
	}
}
