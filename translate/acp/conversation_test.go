package acp

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate/translatetest"
)

// inBoth are the sources of the Raws that hold the same payload in both versions of the protocol. Any
// other Raw is a payload in the words of its version.
var inBoth = []string{
	"acp/open", "acp/close", "session/prompt/request", "session/request_permission/decision", "session/update/session_info_update",
	"session/update/notice", "session/update/compaction_update", "session/update/compaction_summary_chunk", "session/update/usage_update",
	"session/close", "session/close/response",
}

// durable writes a transcript without what the dialect gives: its label, the numbers of its frames, the
// ids that are made of these, and the payloads in its own words.
func durable(events []schema.Event) (lines []string) {
	made := map[string]string{}
	for _, e := range events {
		if raw, ok := e.Kind.(*schema.Raw); e.Ephemeral || ok && !slices.Contains(inBoth, raw.Source) {
			continue
		}
		if m, ok := e.Kind.(*schema.Message); ok && uuid.Validate(m.MessageID) == nil {
			if made[m.MessageID] == "" {
				made[m.MessageID] = fmt.Sprintf("made %d", len(made)+1)
			}
			named := *m
			named.MessageID, e.Kind = made[m.MessageID], &named
		}
		e.Source.Dialect, e.WorkerSeq, e.Part, e.EventID, e.Frames = "", 0, 0, uuid.Nil, nil
		lines = append(lines, string(e.AppendJSON(nil)))
	}
	return lines
}

// A conversation recorded in both versions of the protocol: thoughts, tools with what they gave, with
// edits and with a terminal, permissions given, refused and withdrawn, a plan, modes, a turn that is
// cancelled, a late word, a failure, a limit and a refusal.
func TestBothVersionsOfAConversationAreOneTranscript(t *testing.T) {
	all := goldens(t, strings.ReplaceAll(Version, "/", "-"))
	one, two := all["testdata/acp-2/v1-conversation.golden"], all["testdata/acp-2/v2-conversation.golden"]
	require.NotEmpty(t, one)
	require.NotEmpty(t, two)
	first, second := translatetest.Fold(Translator{}, one), translatetest.Fold(Translator{}, two)
	require.Equal(t, strings.Join(durable(first), "\n"), strings.Join(durable(second), "\n"))

	kinds, dialects := map[string]int{}, map[string]bool{}
	for _, e := range second {
		kinds[e.Kind.Tag()]++
		dialects[e.Source.Dialect] = true
	}
	for _, tag := range []string{schema.TagMessage, schema.TagToolCall, schema.TagToolResult, schema.TagToolState, schema.TagProgress, schema.TagStop} {
		require.NotZero(t, kinds[tag], tag)
	}
	require.True(t, dialects["2"])
}

// What the dialects say in words of their own they both say: the terminal's output, the diff, the plan,
// the mode.
func TestBothVersionsKeepWhatTheySayInTheirOwnWords(t *testing.T) {
	all := goldens(t, strings.ReplaceAll(Version, "/", "-"))
	for _, name := range []string{"v1", "v2"} {
		var raws strings.Builder
		for _, e := range translatetest.Fold(Translator{}, all["testdata/acp-2/"+name+"-conversation.golden"]) {
			if raw, ok := e.Kind.(*schema.Raw); ok {
				raws.Write(raw.Value)
			}
		}
		for _, said := range []string{`ground 3 sacks ✓\n`, `oil: 9\n`, `"content":"Oil it"`, `swift`} {
			require.Contains(t, raws.String(), said, name)
		}
	}
}
