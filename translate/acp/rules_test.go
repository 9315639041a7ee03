package acp

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate/translatetest"
)

// What steno says of an intervention that did not reach the agent any more opens nothing again; what the
// conversation itself says does.
func TestAnInterventionBehindTheEnd(t *testing.T) {
	x := newFold(testIdentity, Version)
	fs := frames(`{"id":1,"method":"session/request_permission","params":{"sessionId":"s1"}}`, "^close",
		`{"id":"i-1","session":"s1","kind":{"kind":"Cancel"},"outcome":{"outcome":"StaleTarget"}}`, update("plan", ""))
	fs[2].From, fs[2].Type, fs[2].End = schema.FromControl, schema.TypeIntervention, schema.EndNone
	var status []schema.Status
	for i := range fs {
		events := x.Step(nil, &fs[i])
		status = append(status, x.About(1).Status)
		require.Equal(t, i >= 2, events[len(events)-1].Has(schema.FlagLate))
	}
	require.Equal(t, []schema.Status{schema.StatusOpen, schema.StatusEnded, schema.StatusEnded, schema.StatusOpen}, status)
}

func update(variant, members string) string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"` + variant + `"` + members + `}}}`
}

func foldAll(lines ...string) []schema.Event {
	return translatetest.Fold(Translator{}, frames(lines...))
}

func foldToEnd(lines ...string) []schema.Event {
	fold := Translator{}.Fold(testIdentity)
	fs := frames(lines...)
	var events []schema.Event
	for i := range fs {
		events = fold.Step(events, &fs[i])
	}
	return fold.End(events)
}

func raws(events []schema.Event) (sources []string) {
	for i := range events {
		if raw, ok := events[i].Kind.(*schema.Raw); ok {
			sources = append(sources, raw.Source)
		}
	}
	return sources
}

func TestEveryUpdateWithoutAKindOfItsOwnIsOneRawWithoutItsTag(t *testing.T) {
	for _, variant := range []string{
		"plan", "available_commands_update", "current_mode_update", "config_option_update", "session_info_update",
		"usage_update", "plan_update", "plan_removed", "notice", "compaction_update", "session_message",
	} {
		events := foldAll(update(variant, `,"entries":[{"content":"read","status":"completed"}, 1.0e2],"x":"<&>"`))
		require.Len(t, events, 1, variant)
		require.False(t, events[0].Ephemeral)
		require.Equal(t, &schema.Raw{
			Source: "session/update/" + variant,
			Value:  schema.JSON(`{"entries":[{"content":"read","status":"completed"},1.0e2],"x":"<&>"}`),
		}, events[0].Kind, "verbatim: numbers by their text, nothing escaped anew")
	}
}

func TestEveryStopReason(t *testing.T) {
	for word, want := range map[string]schema.Stop{
		"end_turn": {Reason: schema.StopEndTurn}, "max_tokens": {Reason: schema.StopLimitReached},
		"max_turn_requests": {Reason: schema.StopLimitReached}, "cancelled": {Reason: schema.StopCancelled},
		"refusal": {Reason: schema.StopOther, Detail: "refusal"}, "exhausted": {Reason: schema.StopOther, Detail: "exhausted"},
	} {
		events := foldAll(`> {"jsonrpc":"2.0","id":9,"method":"session/prompt","params":{"sessionId":"s1","prompt":[]}}`,
			`{"jsonrpc":"2.0","id":9,"result":{"stopReason":"`+word+`","_meta":{"costUsd":0.040}}}`)
		require.Len(t, events, 3)
		require.Equal(t, &schema.Raw{
			Source: "session/prompt",
			Value:  schema.JSON(`{"jsonrpc":"2.0","id":9,"result":{"stopReason":"` + word + `","_meta":{"costUsd":0.040}}}`),
		}, events[1].Kind)
		require.Equal(t, &want, events[2].Kind)
		require.Equal(t, word == "exhausted", events[2].Has(schema.FlagUnrecognised))
	}
}

func TestReasoningIsLiveAndDurableAndNeverTheAnswer(t *testing.T) {
	events := foldToEnd(update("agent_thought_chunk", `,"content":{"type":"text","text":"weighing it"}`))
	require.Len(t, events, 2)
	require.True(t, events[0].Ephemeral)
	thinking, ok := events[0].Kind.(*schema.Progress)
	require.True(t, ok)
	require.Equal(t, "weighing it", thinking.Detail.(*schema.Thinking).Text)
	m, ok := events[1].Kind.(*schema.Message)
	require.True(t, ok)
	require.Equal(t, schema.Assistant, m.Role)
	require.Equal(t, schema.Thought, m.Channel)
	require.Equal(t, "weighing it", m.Text)
}

func TestUserChunksAreSilentUntilTheirBoundary(t *testing.T) {
	chunk := update("user_message_chunk", `,"content":{"type":"text","text":"do the thing"}`)
	require.Empty(t, foldAll(chunk, chunk))
	events := foldToEnd(chunk, chunk)
	require.Len(t, events, 1)
	require.Equal(t, "do the thingdo the thing", events[0].Kind.(*schema.Message).Text)
	require.Equal(t, schema.User, events[0].Kind.(*schema.Message).Role)
}

func TestAToolCallIsClassifiedAndVerbatim(t *testing.T) {
	events := foldAll(update("tool_call", `,"toolCallId":"t1","title":"Read src/main.rs","kind":"read","rawInput":{"path":"src/main.rs"},"locations":[{"path":"src/main.rs"}]`))
	require.Equal(t, &schema.ToolCall{Tool: "Read src/main.rs", CallID: "t1", Input: schema.JSON(`{"path":"src/main.rs"}`)}, events[0].Kind)
	last := events[len(events)-1].Kind.(*schema.Raw)
	require.Equal(t, `{"toolCallId":"t1","title":"Read src/main.rs","kind":"read","rawInput":{"path":"src/main.rs"},"locations":[{"path":"src/main.rs"}]}`, string(last.Value))
}

func TestToolResults(t *testing.T) {
	for name, c := range map[string]struct {
		members, output, text string
		failed                bool
	}{
		"raw output":      {`,"status":"completed","rawOutput":{"bytes":42},"content":[1]`, `{"bytes":42}`, `{"bytes":42}`, false},
		"string output":   {`,"status":"completed","rawOutput":"a\nb"`, `"a\nb"`, "a\nb", false},
		"content instead": {`,"status":"completed","content":[{"type":"diff"}]`, `[{"type":"diff"}]`, `[{"type":"diff"}]`, false},
		"nothing":         {`,"status":"failed"`, "", "", true},
		"null and empty":  {`,"status":"completed","rawOutput":null,"content":[]`, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			events := foldAll(update("tool_call_update", `,"toolCallId":"t1"`+c.members))
			require.Len(t, events, 3)
			result := events[0].Kind.(*schema.ToolResult)
			require.Equal(t, c.output, string(result.Output))
			require.Equal(t, c.failed, result.IsError)
			state := events[1].Kind.(*schema.ToolState).State
			require.Equal(t, schema.Completed, state.Phase)
			require.Equal(t, !c.failed, state.Success)
			if c.output == "" {
				require.Nil(t, state.Output)
			} else {
				require.Equal(t, c.text, *state.Output)
			}
			require.Equal(t, []string{"session/update/tool_call_update"}, raws(events))
		})
	}
	require.Equal(t, []string{"session/update/tool_call_update"}, raws(foldAll(update("tool_call_update", `,"toolCallId":"t1","status":"in_progress"`))))
}

func TestElapsedTimeIsThatOfTheFrames(t *testing.T) {
	events := foldAll(update("tool_call", `,"toolCallId":"t","title":"x"`), update("tool_call_update", `,"toolCallId":"t","status":"in_progress"`),
		`! tick`, update("tool_call_update", `,"toolCallId":"t","status":"completed"`))
	state := events[len(events)-2].Kind.(*schema.ToolState).State
	require.EqualValues(t, 2, *state.ElapsedMs)
}

func TestLargePayloadsGoByReference(t *testing.T) {
	text := strings.Repeat("x", 70<<10)
	line := update("plan", `,"entries":["`+text+`"]`)
	events := foldAll(line)
	sum := sha256.Sum256([]byte(line))
	ref := fmt.Sprintf(`{"ref":{"frame":1,"sha256":"%s","bytes":%d}}`, hex.EncodeToString(sum[:]), len(line))
	require.Equal(t, ref, string(events[0].Kind.(*schema.Raw).Value))

	image := update("agent_message_chunk", `,"content":{"type":"image","data":"`+text+`"}`)
	events = foldToEnd(update("agent_message_chunk", `,"content":{"type":"text","text":"see "}`), image)
	sum = sha256.Sum256([]byte(image))
	require.JSONEq(t, fmt.Sprintf(`[{"type":"text","text":"see "},{"type":"image","ref":{"frame":2,"sha256":"%s","bytes":%d}}]`,
		hex.EncodeToString(sum[:]), len(image)), string(events[len(events)-1].Kind.(*schema.Message).Content))

	events = foldAll(update("tool_call", `,"toolCallId":"t","title":"cat","rawInput":"`+text+`","status":"completed","rawOutput":"`+text+`"`))
	require.Equal(t, `"`+text+`"`, string(events[0].Kind.(*schema.ToolCall).Input), "kinds but Raw keep their values whole")
	require.Equal(t, `"`+text+`"`, string(events[1].Kind.(*schema.ToolResult).Output))

	events = foldToEnd("no JSON " + text)
	require.Contains(t, string(events[0].Kind.(*schema.Raw).Value), `{"ref":{"frame":1,`)
	require.Len(t, events, 1)
}

func TestRunsJoinToSixtyFourLinesAndToWhatARawHolds(t *testing.T) {
	var lines []string
	for i := range 130 {
		lines = append(lines, fmt.Sprintf("! line %d", i))
	}
	events := foldToEnd(lines...)
	require.Len(t, events, 3)
	require.Equal(t, []schema.Range{{1, 64}}, events[0].Frames)
	require.Equal(t, []schema.Range{{129, 130}}, events[2].Frames)
	require.Equal(t, "line 128\nline 129\n", decoded(t, events[2].Kind.(*schema.Raw).Value))

	long := "! " + strings.Repeat("y", 30<<10)
	events = foldToEnd(long, long, long)
	require.Len(t, events, 3, "two of them would be more than a Raw holds")
	require.Equal(t, []string{"stderr", "stderr", "stderr"}, raws(events))
}

func decoded(t *testing.T, value schema.JSON) string {
	t.Helper()
	var quoted struct{ Base64 string }
	require.NoError(t, json.Unmarshal(value, &quoted))
	text, err := base64.StdEncoding.DecodeString(quoted.Base64)
	require.NoError(t, err)
	return string(text)
}

func TestATwoMegabyteLineAndTheFrameBehindIt(t *testing.T) {
	text := strings.Repeat("grain ", 350_000)
	events := foldToEnd(update("agent_message_chunk", `,"content":{"type":"text","text":"`+text+`"}`), strings.Repeat("{", 2<<20), update("plan", ""))
	require.Equal(t, []string{"acp/noise", "session/update/plan"}, raws(events))
	require.Equal(t, text, events[len(events)-1].Kind.(*schema.Message).Text)
}

func TestInvalidUTF8IsKeptAsBytesAndReadsAsReplacement(t *testing.T) {
	events := foldAll(string(bytes.ReplaceAll([]byte(update("tool_call", `,"toolCallId":"t","title":"bad ? title","rawInput":["?"]`)), []byte("?"), []byte{0xff})))
	call := events[0].Kind.(*schema.ToolCall)
	require.Equal(t, "bad \uFFFD title", call.Tool)
	require.Equal(t, "[\"\uFFFD\"]", string(call.Input))
	raw := events[len(events)-1].Kind.(*schema.Raw)
	require.Equal(t, "{\"toolCallId\":\"t\",\"title\":\"bad \xff title\",\"rawInput\":[\"\xff\"]}", decoded(t, raw.Value))
	for i := range events {
		require.Equal(t, []schema.Flag{schema.FlagLossyUTF8}, events[i].Flags)
	}
}

func TestWhatAListShows(t *testing.T) {
	f := Translator{}.Fold(testIdentity)
	fs := frames(`x`, `> {"id":0,"method":"initialize","params":{"protocolVersion":1}}`,
		`{"id":0,"result":{"protocolVersion":1,"agentInfo":{"name":"mill"}}}`,
		`> {"id":1,"method":"session/new","params":{"cwd":"/w"}}`, `{"id":1,"result":{"sessionId":"s1"}}`,
		update("session_info_update", `,"title":"`+strings.Repeat("ü", 400)+`"`), `x`)
	fs[0].Type, fs[0].From, fs[0].Data = schema.TypeOpen, schema.FromControl, []byte(`{"protocol":"acp","command":["/usr/bin/mill-acp"],"labels":{"team":"oats"}}`)
	fs[6].Type, fs[6].From, fs[6].Data = schema.TypeClose, schema.FromControl, []byte(`{"reason":"writer died"}`)
	f.Step(nil, &fs[0])
	require.Equal(t, schema.About{Agent: "mill-acp", Labels: map[string]string{"team": "oats"}, Status: schema.StatusOpen}, f.About(0))
	for i := range fs[1:] {
		f.Step(nil, &fs[i+1])
	}
	about := f.About(1)
	require.Equal(t, "mill", about.Agent)
	require.Equal(t, "/w", about.Cwd)
	require.Equal(t, schema.StatusAbandoned, about.Status)
	require.Equal(t, strings.Repeat("ü", schema.MaxAbout/2), about.Title)
	require.Equal(t, schema.About{}, f.About(7))
}

// TestLinesOfManyBracesAreReadOnce would not end in the time of a test run if a bad line were read
// again from each of its braces.
func TestLinesOfManyBracesAreReadOnce(t *testing.T) {
	answers := strings.Repeat(`{"id":1,"result":1}`, 60_000)
	require.Len(t, foldAll(answers), 60_000)
	events := foldAll(answers + "x")
	require.Equal(t, "acp/noise", events[len(events)-1].Kind.(*schema.Raw).Source)
	require.Len(t, foldToEnd(strings.Repeat(`{"a":`, 8000)+"1"), 1)
	require.Len(t, foldToEnd(strings.Repeat(`{x`, 1<<20)), 1)
	require.Len(t, foldToEnd("["+strings.Repeat("1,", 1<<20)+"1]"), 1)
}

func TestFramesAreFoundBesideOtherText(t *testing.T) {
	end := `{"id":9,"result":{"stopReason":"end_turn"}}`
	for _, line := range []string{end + "INFO done", end + "\x00", "\x1b[2K" + end + "\x1b[0m", end + `{"jsonrpc":"2.0","meth`, "a " + end + " b " + end} {
		events := foldAll(line)
		var stops int
		for i := range events {
			if _, ok := events[i].Kind.(*schema.Stop); ok {
				stops++
			}
			require.True(t, events[i].Has(schema.FlagRecovered))
		}
		require.Equal(t, strings.Count(line, "end_turn"), stops, line)
	}
	require.Equal(t, []string{"acp/noise"}, raws(foldToEnd(`{"jsonrpc":"2.0","message":`+end)), "inside a torn object there is no frame")
}

func TestLargeRequestsAreReferredToWhereTheyStand(t *testing.T) {
	large := strings.Repeat("x", 90<<10)
	write := `{"id":3,"method":"fs/write_text_file","params":{"sessionId":"s1","content":"` + large + `"}}`
	events := foldAll(write, `> {"id":3,"error":{"code":-32601,"message":"no"}}`)
	sum := sha256.Sum256([]byte(write))
	ref := fmt.Sprintf(`{"ref":{"frame":1,"sha256":"%s","bytes":%d}}`, hex.EncodeToString(sum[:]), len(write))
	require.JSONEq(t, `{"method":"fs/write_text_file","params":`+ref+`,"code":-32601,"reason":"no"}`, string(events[1].Kind.(*schema.Raw).Value))

	chunk := update("user_message_chunk", `,"content":{"type":"text","text":"`+large[:30<<10]+`"}`)
	prompt := `> {"id":1,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"` + strings.Repeat(large[:30<<10], 3) + `"}]}}`
	events = foldToEnd(prompt, chunk, chunk, chunk)
	last := events[len(events)-1]
	require.True(t, last.Has(schema.FlagEcho))
	require.LessOrEqual(t, len(last.Kind.(*schema.Raw).Value), 64<<10)
	require.Contains(t, string(last.Kind.(*schema.Raw).Value), `{"ref":{"frame":4,`)
}

func TestPromptsWithoutAnAnswerToCome(t *testing.T) {
	events := foldAll(`> {"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"x"}]}}`)
	require.Equal(t, "x", events[0].Kind.(*schema.Message).Text)
	require.Equal(t, &schema.Raw{Source: "session/prompt/request", Value: schema.JSON(`{"sessionId":"s1","prompt":[{"type":"text","text":"x"}]}`)}, events[1].Kind)
}

func TestAWaitingToolShowsWhatItIsNow(t *testing.T) {
	events := foldAll(update("tool_call", `,"toolCallId":"t","title":"Terminal","rawInput":{}`),
		`{"id":1,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"t"},"options":[]}}`,
		update("tool_call_update", `,"toolCallId":"t","title":"rm -r","rawInput":{"c":"rm"}`))
	state := events[len(events)-2].Kind.(*schema.ToolState).State
	require.Equal(t, "rm -r", state.Description)
	require.Equal(t, `{"c":"rm"}`, string(state.Input))
}
