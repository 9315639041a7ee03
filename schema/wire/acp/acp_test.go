package acp

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// words are the protocol's own lists: the methods each side answers, by version, and the variants of
// session/update.
type words struct {
	AgentAnswers  []string            `json:"agent_answers"`
	ClientAnswers []string            `json:"client_answers"`
	BothAnswer    []string            `json:"both_answer"`
	Updates       map[string][]string `json:"updates"`
}

func readWords(t *testing.T) words {
	t.Helper()
	data, err := os.ReadFile("testdata/words.json")
	require.NoError(t, err)
	var w words
	require.NoError(t, json.Unmarshal(data, &w))
	require.NotEmpty(t, w.AgentAnswers)
	require.NotEmpty(t, w.ClientAnswers)
	require.NotEmpty(t, w.BothAnswer)
	return w
}

func TestSenderIsTheSideThatDoesNotAnswer(t *testing.T) {
	w := readWords(t)
	for _, method := range w.AgentAnswers {
		require.Equal(t, schema.FromClient, Sender(method), method)
		require.False(t, SharedMethod(method), method)
	}
	for _, method := range w.ClientAnswers {
		require.Equal(t, schema.FromAgent, Sender(method), method)
		require.False(t, SharedMethod(method), method)
	}
	for _, method := range w.BothAnswer {
		require.Empty(t, Sender(method), method)
		require.True(t, SharedMethod(method), method)
	}
}

func TestMethodsOutsideTheListHaveNoSide(t *testing.T) {
	for _, method := range []string{"", "cursor/ask", "_vendor/x", "Session/Update", "session/update "} {
		require.Empty(t, Sender(method), method)
		require.False(t, SharedMethod(method), method)
	}
}

func TestKnownUpdateByVersion(t *testing.T) {
	w := readWords(t)
	versions := map[string]int{"1": 1, "2": 2}
	in := map[string]map[int]bool{}
	for version, variants := range w.Updates {
		require.NotEmpty(t, variants)
		for _, variant := range variants {
			if in[variant] == nil {
				in[variant] = map[int]bool{}
			}
			in[variant][versions[version]] = true
		}
	}
	for variant, by := range in {
		for _, version := range versions {
			require.Equal(t, by[version], KnownUpdate(version, variant), "%s in version %d", variant, version)
		}
		require.False(t, KnownUpdate(0, variant), variant)
		require.False(t, KnownUpdate(3, variant), variant)
	}
	require.False(t, KnownUpdate(1, "agent_error"))
	require.False(t, KnownUpdate(2, ""))
}

func TestStop(t *testing.T) {
	for _, c := range []struct {
		word   string
		reason schema.StopReason
		detail string
		known  bool
	}{
		{"end_turn", schema.StopEndTurn, "", true},
		{"max_tokens", schema.StopLimitReached, "", true},
		{"max_turn_requests", schema.StopLimitReached, "", true},
		{"cancelled", schema.StopCancelled, "", true},
		{"refusal", schema.StopOther, "refusal", true},
		{"error", schema.StopOther, "error", false},
		{"END_TURN", schema.StopOther, "END_TURN", false},
		{"", schema.StopOther, "", false},
	} {
		stop, known := Stop(c.word)
		require.Equal(t, schema.Stop{Reason: c.reason, Detail: c.detail}, stop, c.word)
		require.Equal(t, c.known, known, c.word)
	}
}

func TestDecide(t *testing.T) {
	for kind, want := range map[string]Decision{
		"allow_once": Allowed, "allow_always": Allowed,
		"reject_once": Rejected, "reject_always": Rejected,
		"": Undecided, "allow": Undecided, "Allow_once": Undecided,
	} {
		require.Equal(t, want, Decide(kind), kind)
	}
}

func TestToolEnded(t *testing.T) {
	for status, want := range map[string]bool{
		"pending": false, "in_progress": false, "paused": false, "": false, "done": false,
		"completed": true, "failed": true, "cancelled": true,
	} {
		require.Equal(t, want, ToolEnded(status), status)
	}
}

func TestChunkStream(t *testing.T) {
	for variant, want := range map[string]Stream{
		"user_message_chunk":  {schema.User, schema.Answer},
		"agent_message_chunk": {schema.Assistant, schema.Answer},
		"agent_thought_chunk": {schema.Assistant, schema.Thought},
	} {
		stream, ok := ChunkStream(variant)
		require.True(t, ok, variant)
		require.Equal(t, want, stream, variant)
	}
	for _, variant := range []string{"tool_call", "compaction_summary_chunk", "session_message_chunk", ""} {
		_, ok := ChunkStream(variant)
		require.False(t, ok, variant)
	}
}

func TestWholeStreamIsThatOfItsChunks(t *testing.T) {
	for whole, chunk := range map[string]string{
		"user_message": "user_message_chunk", "agent_message": "agent_message_chunk", "agent_thought": "agent_thought_chunk",
	} {
		stream, ok := WholeStream(whole)
		require.True(t, ok, whole)
		want, _ := ChunkStream(chunk)
		require.Equal(t, want, stream, whole)
		_, ok = WholeStream(chunk)
		require.False(t, ok, chunk)
	}
}

func TestStates(t *testing.T) {
	for state, want := range map[string]struct{ known, working bool }{
		"running": {true, true}, "requires_action": {true, true}, "idle": {true, false}, "unknown": {true, false},
		"": {}, "_napping": {}, "Running": {},
	} {
		require.Equal(t, want.known, KnownState(state), state)
		require.Equal(t, want.working, Working(state), state)
	}
}

func TestKnownToolStatus(t *testing.T) {
	for _, status := range []string{"pending", "in_progress", "paused", "completed", "failed", "cancelled"} {
		require.True(t, KnownToolStatus(status), status)
	}
	for _, status := range []string{"", "done", "_dreaming"} {
		require.False(t, KnownToolStatus(status), status)
	}
}

func TestKnownVersion(t *testing.T) {
	for version, want := range map[int]bool{0: false, 1: true, 2: true, 3: false} {
		require.Equal(t, want, KnownVersion(version), version)
	}
}
