package acp

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/translatetest"
)

// All else is saved.
func TestWhatAFoldLeavesOut(t *testing.T) {
	require.Equal(t, []string{"Stamp.dst", "Stamp.id", "Stamp.quiet", "Stamp.space", "fold.first", "fold.frame", "fold.id", "fold.reader", "fold.version"}, translatetest.Unsaved[fold]())
}

// busy is a fold with something open everywhere: turns, messages with and without ids, replayed history,
// tools that wait and run, requests of both sides, a run of noise, a line of two objects.
func busy() *fold {
	fold := newFold(testIdentity, Version)
	update := func(session, body string) string {
		return `{"method":"session/update","params":{"sessionId":"` + session + `","update":{` + body + `}}}`
	}
	fs := frames(
		`> {"id":1,"method":"session/new","params":{"cwd":"/w"}}`, `{"id":1,"result":{"sessionId":"s"}}`,
		`> {"id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go on"}]}}`,
		update("s", `"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"so far`+"\xff"+`"}`),
		update("s", `"sessionUpdate":"agent_thought_chunk","content":{"type":"image","data":"x"}`),
		update("s", `"sessionUpdate":"tool_call","toolCallId":"t","title":"Run","rawInput":{"a":1},"status":"in_progress"`),
		`{"id":0,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"u"},"options":[{"optionId":"o","kind":"allow_once"}]}}`,
		`> {"id":3,"method":"session/load","params":{"sessionId":"r","cwd":"/r"}}`,
		update("r", `"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"before"}`),
		update("s", `"sessionUpdate":"user_message_chunk","messageId":"","content":{"type":"text","text":"go"}`)+` {"id":9,"result":{}}`,
		"noise",
	)
	for i := range fs {
		fold.Step(nil, &fs[i])
	}
	return fold
}

// busyTwo is the like in version 2: turns, upserts, pieces of everything, a child, a question.
func busyTwo() *fold {
	fold := newFold(testIdentity, Version)
	fs := begun(
		`> {"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"and on"}]}}`,
		update("state_update", `,"state":"running"`),
		update("user_message", `,"messageId":"u1","content":[{"type":"text","text":"go"}]`), update("user_message_chunk", `,"messageId":"u1","content":{"type":"text","text":"!"}`),
		update("agent_message", `,"messageId":"m","content":[{"type":"text","text":"so far"},{"type":"image","data":"x"}]`),
		update("agent_thought", `,"messageId":"t","content":[{"type":"text","text":"hm"}]`),
		update("tool_call_update", `,"toolCallId":"t","title":"Run","rawInput":{"a":1},"rawOutput":"x","status":"paused"`),
		update("tool_call_content_chunk", `,"toolCallId":"t","content":{"type":"content"}`),
		update("subagent_update", `,"sessionId":"c","title":"Helper","state":{"state":"running"}`),
		update("compaction_summary_chunk", `,"compactionId":"k","content":{"type":"text","text":"all"}`), update("session_message_chunk", `,"messageId":"d","content":{}`),
		terminalBytesOf([]byte{0xe2, 0x9c}),
		`{"id":5,"method":"elicitation/create","params":{"mode":"url","elicitationId":"e","sessionId":"s1"}}`,
		`{"id":6,"method":"session/request_permission","params":{"sessionId":"s1","title":"May I?","subject":{"type":"tool_call","toolCall":{"toolCallId":"t"}},"options":[]}}`,
		`> {"id":3,"method":"session/resume","params":{"sessionId":"r"}}`,
		`{"method":"session/update","params":{"sessionId":"r","update":{"sessionUpdate":"state_update","state":"running"}}}`,
	)
	for i := range fs {
		fold.Step(nil, &fs[i])
	}
	return fold
}

func TestAFoldOfVersionTwoIsRestoredWhole(t *testing.T) {
	want := busyTwo()
	restored, err := Translator{}.Restore(testIdentity, want.AppendState(nil))
	require.NoError(t, err)
	got := restored.(*fold)
	got.reader, got.stamp = want.reader, want.stamp // they keep scratch
	require.True(t, reflect.DeepEqual(want, got), "want %+v\ngot %+v", want, got)
	require.Len(t, want.sessions[1].live.gathered, 4)
	require.Len(t, want.elicited, 1)
	require.Equal(t, "running", want.sessions[3].replay.state)
}

// A state is one version's.
func TestAStateIsOfItsVersion(t *testing.T) {
	_, err := Translator{}.Restore(testIdentity, newFold(testIdentity, FirstVersion).AppendState(nil))
	require.ErrorIs(t, err, translate.ErrState)
	_, err = First{}.Restore(testIdentity, newFold(testIdentity, FirstVersion).AppendState(nil))
	require.NoError(t, err)
}

func TestABusyFoldIsRestoredWhole(t *testing.T) {
	want := busy()
	restored, err := Translator{}.Restore(testIdentity, want.AppendState(nil))
	require.NoError(t, err)
	got := restored.(*fold)
	got.reader, got.stamp = want.reader, want.stamp // they keep scratch
	require.True(t, reflect.DeepEqual(want, got), "want %+v\ngot %+v", want, got)
	require.NotEmpty(t, want.run.data)
	require.NotEmpty(t, want.shared)
	require.NotNil(t, want.sessions[2].replay)
}

// FuzzRestore reads bodies of states that nobody wrote.
func FuzzRestore(f *testing.F) {
	state := busy().AppendState(nil)
	const form = 16 // bytes that say the form stand before the rest
	f.Add(state[form:])
	f.Add(newFold(testIdentity, Version).AppendState(nil)[form:])
	f.Add(busyTwo().AppendState(nil)[form:])
	f.Fuzz(func(t *testing.T, body []byte) {
		translatetest.Unsure(t, Translator{}, append(state[:form:form], body...))
	})
}

// answering is a fold with one open message of n bytes, told in words.
func answering(n int) *fold {
	const word = " word"
	f := frames(`{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + word + `"}}}}`)[0]
	fold := newFold(testIdentity, Version)
	var dst []schema.Event
	for range n / len(word) {
		dst = fold.Step(dst[:0], &f)
		f.Seq++
	}
	return fold
}

// BenchmarkState saves and restores a fold with an open message of 10 KB, and one that is busy.
func BenchmarkState(b *testing.B) {
	translatetest.BenchState(b, Translator{}, testIdentity, map[string]translate.Fold{"open=10KB": answering(10_000), "busy": busy()})
}

// An open message is saved once, in little more than its text.
func TestTheSizeOfAState(t *testing.T) {
	fold := answering(100_000)
	state := fold.AppendState(nil)
	require.Equal(t, 1, strings.Count(string(state), strings.Repeat(" word", 20_000)))
	require.Less(t, len(state), 101_000)
}
