package a2a

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
	require.Equal(t, []string{
		"Stamp.dst", "Stamp.id", "Stamp.quiet", "Stamp.space", "fold.arms", "fold.aside", "fold.body", "fold.events", "fold.frame", "fold.id", "fold.key",
		"fold.reader", "fold.room", "fold.spare",
	}, translatetest.Unsaved[fold]())
}

// busy is a fold with something open everywhere: exchanges that ask for each other's tasks, artifacts with
// answers and reasoning, progress, a message without a task, tools, the head of an event.
func busy() *fold {
	fold := newFold(testIdentity)
	tool := `{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"b","parts":[{"data":{"id":"call","name":"run","args":{"a":1}},"metadata":{"adk_type":"function_call"}},{"raw":"AAAA"}]}}}`
	frames := talk(
		"> e1 "+asks("m", "go on"), "~ e1 "+standing("working", ""), "~ e1 "+standing("working", "on it"), "~ e1 "+chunk("a", "so far", ""),
		"~ e1 "+chunk("a", "\xff", `,"append":true`), "~ e1 "+tool, "> e2 "+asksTask("t"), "~ e2 "+chunk("a", "so far", ""), "~ e2 data: {\"artifact",
		"> e3 "+sends, `~ e3 {"message":{"messageId":"n","role":"agent","parts":[{"text":"alone"},{"text":"why","metadata":{"thought":true}}]}}`,
		"~ e1 "+standing("paused", ""), "> e4 "+asksTask("u"),
	)
	for i := range frames {
		fold.Step(nil, &frames[i])
	}
	return fold
}

func TestABusyFoldIsRestoredWhole(t *testing.T) {
	want := busy()
	restored, err := Translator{}.Restore(testIdentity, want.AppendState(nil))
	require.NoError(t, err)
	got := restored.(*fold)
	for _, x := range []*fold{want, got} { // what is scratch
		x.stamp, x.reader, x.aside, x.key, x.events, x.room, x.arms, x.spare = want.stamp, want.reader, want.aside, nil, nil, nil, nil, nil
	}
	require.True(t, reflect.DeepEqual(want, got), "want %+v\ngot %+v", want, got)
	task := got.tasks["t"]
	require.Same(t, task, got.exchanges["e2"].asked)
	require.NotNil(t, task.artifacts["a"].answer.open)
	require.Same(t, task.artifacts["a"], task.order[0])
	require.NotNil(t, task.notes.open)
	require.NotEmpty(t, got.exchanges["e2"].tail)
	require.NotNil(t, got.exchanges["e3"].loose.message.open)
	require.NotEmpty(t, got.exchanges["e2"].counts)
	require.NotEmpty(t, task.unheard)
	require.Len(t, task.calls, 1)
	require.Len(t, task.artifacts["b"].pieces, 1)
}

// A chunk that another exchange brought already would be the open artifact's; the Message that it ends
// has it instead, and so it stays though the capture ends there.
func TestAFrameThatAnEventTookIsNoTexts(t *testing.T) {
	frames := talk(
		"~ e1 "+`{"message":{"messageId":"m","role":"agent","parts":[{"text":"alone"}]}}`,
		"~ e2 "+chunk("a", "x", `,"append":true`), "~ e1 "+chunk("a", "x", `,"append":true`))
	translatetest.Properties(t, Translator{}, frames)
	fold := newFold(testIdentity)
	for i := range frames {
		fold.Step(nil, &frames[i])
	}
	require.Nil(t, fold.body, "a frame's bytes are not kept")
	var said []schema.Range
	events := fold.End(nil)
	for i := range events {
		if m, ok := events[i].Kind.(*schema.Message); ok && m.Text == "x" {
			said = append(said, events[i].Frames...)
		}
	}
	require.Equal(t, []schema.Range{{2, 2}}, said)
}

// FuzzRestore reads bodies of states that nobody wrote.
func FuzzRestore(f *testing.F) {
	state := busy().AppendState(nil)
	const form = 16 // bytes that say the form stand before the rest
	f.Add(state[form:])
	f.Add(newFold(testIdentity).AppendState(nil)[form:])
	f.Fuzz(func(t *testing.T, body []byte) {
		translatetest.Unsure(t, Translator{}, append(state[:form:form], body...))
	})
}

// answering is a fold with one open artifact of n bytes, told in words.
func answering(n int) *fold {
	const word = " word"
	frames := talk("> e "+asks("m", "go on"), "~ e "+standing("working", ""), "~ e "+chunk("a", word, ""), "~ e "+chunk("a", word, `,"append":true`))
	fold := newFold(testIdentity)
	var dst []schema.Event
	for i := range frames {
		dst = fold.Step(dst[:0], &frames[i])
	}
	for f := &frames[3]; n > 2*len(word); n -= len(word) {
		f.Seq++
		dst = fold.Step(dst[:0], f)
	}
	return fold
}

// Pieces are kept as sent too, since they may have to stand for themselves; nothing else grows.
func TestTheSizeOfAState(t *testing.T) {
	fold := answering(20_000)
	state := fold.AppendState(nil)
	require.Equal(t, 1, strings.Count(string(state), strings.Repeat(" word", 4_000)))
	require.Less(t, len(state), 20_000+4_000*len(chunk("a", " word", `,"append":true`)+",")+16_000)
}

// BenchmarkState saves and restores a fold with an open artifact of 10 KB, and one that is busy.
func BenchmarkState(b *testing.B) {
	translatetest.BenchState(b, Translator{}, testIdentity, map[string]translate.Fold{"open=10KB": answering(10_000), "busy": busy()})
}
