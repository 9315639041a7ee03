package acp

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// toolFrames are a call that ends, with so many bytes given and got.
func toolFrames(id string, given, got int) []schema.Frame {
	return frames(
		update("tool_call", `,"toolCallId":"`+id+`","title":"Count","rawInput":{"where":"`+strings.Repeat("w", given)+`"}`),
		update("tool_call_update", `,"toolCallId":"`+id+`","status":"completed","rawOutput":"`+strings.Repeat("s", got)+`"`),
	)
}

func foldTools(x *fold, n int, id func(i int) string, given, got int) {
	var dst []schema.Event
	for i := range n {
		for _, f := range toolFrames(id(i), given, got) {
			f.Seq = x.seq + 1
			dst = x.Step(dst[:0], &f)
		}
	}
}

// What a tool has had is forgotten when another one has taken its id: nothing can ask for it any more.
func TestToolsUnderOneIDAreForgotten(t *testing.T) {
	x := newFold(testIdentity, Version)
	foldTools(x, 1000, func(int) string { return "call_1" }, 100, 1000)
	l := x.sessions[1].live
	require.LessOrEqual(t, len(l.order), 16)
	require.Less(t, len(x.AppendState(nil)), 50_000)
	require.Equal(t, "call_1#1000", l.tools["call_1"].id)
}

// A tool that has ended is drawn whole whenever it is told of again, and is ended no second time.
func TestToolsThatEndedLongSince(t *testing.T) {
	x := newFold(testIdentity, Version)
	foldTools(x, 1000, func(i int) string { return fmt.Sprint("t", i) }, 10, 20)
	require.LessOrEqual(t, len(x.sessions[1].live.order), 16)
	late := frames(update("tool_call_update", `,"toolCallId":"t0","title":"Counted"`))[0]
	late.Seq = x.seq + 1
	states := 0
	for _, e := range x.Step(nil, &late) {
		if state, ok := e.Kind.(*schema.ToolState); ok {
			states++
			require.Equal(t, "Counted", state.Title)
			require.Equal(t, `{"where":"wwwwwwwwww"}`, string(state.Input))
			require.Equal(t, strings.Repeat("s", 20), *state.State.Output)
		}
	}
	require.Equal(t, 1, states)
	require.Empty(t, x.Open().Tools)
	for _, e := range x.End(nil) {
		require.NotEqual(t, schema.TagToolState, e.Kind.Tag())
	}
}

// Tools that do not end stay in their order, however many there are.
func TestToolsThatDoNotEnd(t *testing.T) {
	x := newFold(testIdentity, Version)
	for i := range 100 {
		f := frames(update("tool_call", fmt.Sprintf(`,"toolCallId":"t%d","title":"Wait"`, i)))[0]
		f.Seq = x.seq + 1
		x.Step(nil, &f)
		foldTools(x, 3, func(n int) string { return fmt.Sprint("u", i, "-", n) }, 1, 1)
	}
	open := x.Open().Tools
	require.Len(t, open, 100)
	for i, tool := range open {
		require.Equal(t, fmt.Sprint("t", i), tool.State.ToolID)
	}
}

// BenchmarkEndedTools says what a tool that has ended costs as long as its capture lasts.
func BenchmarkEndedTools(b *testing.B) {
	const tools = 100_000
	for name, id := range map[string]func(i int) string{
		"ids=own": func(i int) string { return fmt.Sprint("t", i) },
		"ids=one": func(int) string { return "call_1" },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				x := newFold(testIdentity, Version)
				foldTools(x, tools, id, 100, 1000)
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/tools, "B/tool")
				b.ReportMetric(float64(len(x.AppendState(nil)))/tools, "state-B/tool")
			}
		})
	}
}
