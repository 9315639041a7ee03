package reading_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/reading"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// pageOf reads a page of kinds, each of a frame of its own but those that with put into the one before.
func pageOf(kinds ...schema.Kind) *reading.Page {
	var events []schema.Event
	frame := uint64(0)
	for _, k := range kinds {
		frame++
		part := uint32(0)
		if w, ok := k.(with); ok {
			frame--
			k, part = w.Kind, events[len(events)-1].Part+1
		}
		events = append(events, schema.Event{
			WorkerSeq: frame, Part: part, StoreSeq: uint64(len(events) + 1), Frames: []schema.Range{{frame, frame}},
			Source: schema.Source{Protocol: schema.ACP}, Kind: k,
		})
	}
	return reading.NewPage(sink.Summary{Protocol: schema.ACP}, events, nil)
}

type with struct{ schema.Kind }

func raw(source, value string) schema.Kind {
	return &schema.Raw{Source: source, Value: schema.JSON(value)}
}

func large(source string, frame int) schema.Kind {
	return raw(source, fmt.Sprintf(`{"ref":{"frame":%d,"sha256":"ab","bytes":70000}}`, frame))
}

func state(id string, phase schema.Phase) schema.Kind {
	return &schema.ToolState{ToolID: id, Name: id, State: schema.ToolPhase{Phase: phase}}
}

const (
	asks    = "session/request_permission"
	decides = "session/request_permission/decision"
	updates = "session/update/tool_call_update"
)

func decided(tool, option string) schema.Kind {
	return raw(decides, fmt.Sprintf(`{"policy":"client","toolCallId":%q,"offered":[{"optionId":%q,"name":%q,"kind":"allow_once"}],`+
		`"outcome":{"outcome":"selected","optionId":%q}}`, tool, option, option, option))
}

func asked(call, option string) schema.Kind {
	return raw(asks, fmt.Sprintf(`{"toolCall":%s,"options":[{"optionId":%q,"name":%q}]}`, call, option, option))
}

func tool(t *testing.T, p *reading.Page, i int) *reading.Tool {
	t.Helper()
	require.Greater(t, len(p.Items), i)
	k, ok := p.Items[i].Is.(*reading.Tool)
	require.True(t, ok, "%T", p.Items[i].Is)
	return k
}

func TestADecisionIsTheQuestionsThatItAnswers(t *testing.T) {
	// A permission that is too large stands at the tool that waits for it, and is decided.
	p := pageOf(state("a", schema.WaitingConfirmation), with{large(asks, 1)}, state("a", schema.Executing), with{decided("a", "yes")})
	require.Len(t, p.Items, 1)
	require.Equal(t, []reading.Ask{{Tool: "a", Offered: "yes", Decided: "answered: yes", Allowed: true}}, tool(t, p, 0).Asks)
	p = pageOf(state("a", schema.WaitingConfirmation), with{large(asks, 1)})
	require.Equal(t, "too large to show, frame 1", tool(t, p, 0).Asks[0].Asked())

	// A decision whose question nobody saw stands by itself, not at another question.
	p = pageOf(state("a", schema.WaitingConfirmation), with{asked(`{"toolCallId":"a"}`, "no")}, decided("a", "yes"))
	require.Equal(t, []reading.Ask{{Tool: "a", Offered: "no"}, {Tool: "a", Offered: "yes", Decided: "answered: yes", Allowed: true}}, tool(t, p, 0).Asks)

	// Of two open questions each has its own answer, whichever comes first.
	p = pageOf(state("a", schema.WaitingConfirmation), with{asked(`{"toolCallId":"a"}`, "one")}, asked(`{"toolCallId":"a"}`, "two"),
		decided("a", "two"), decided("a", "one"))
	require.Equal(t, "answered: one", tool(t, p, 0).Asks[0].Decided)
	require.Equal(t, "answered: two", tool(t, p, 0).Asks[1].Decided)

	// A tool that is not known has a question, and so has one without a name.
	p = pageOf(asked(`{"toolCallId":"x"}`, "yes"), asked(`{"title":"Weigh\nit"}`, "yes"), decided("x", "yes"), decided("", "yes"))
	require.Len(t, p.Items, 2)
	first, second := p.Items[0].Is.(*reading.Permission).Asks, p.Items[1].Is.(*reading.Permission).Asks
	require.Equal(t, []reading.Ask{{Tool: "x", Offered: "yes", Decided: "answered: yes", Allowed: true}}, first)
	require.Equal(t, []reading.Ask{{Title: "Weigh it", Offered: "yes", Decided: "answered: yes", Allowed: true}}, second)
	require.Equal(t, "Weigh it: yes", second[0].Asked())
}

func TestEditsThatAreLargeAreOnTheCard(t *testing.T) {
	output := schema.JSON(`[{"type":"diff","path":"a.go","oldText":"one\ntwo\n","newText":"one\nthree\n"}]`)
	want := []reading.Edit{{Path: "a.go", Removed: []string{"two"}, Added: []string{"three"}}}
	ends := []schema.Kind{state("a", schema.Executing), &schema.ToolResult{CallID: "a", Output: output}, with{state("a", schema.Completed)}}
	p := pageOf(append(ends, with{large(updates, 2)})...)
	require.Equal(t, want, tool(t, p, 0).Edits)
	require.Empty(t, tool(t, p, 0).Result())

	p = pageOf(ends...) // its record is lost: the output stays
	require.Contains(t, tool(t, p, 0).Result(), "three")
}

func TestWhatAToolToldBesideItsOutputIsOnTheCard(t *testing.T) {
	content := raw(updates, `{"toolCallId":"a","content":[{"type":"content","content":{"type":"text","text":"14 sacks"}},{"type":"diff","path":"a","newText":"b"}]}`)
	// before the end
	p := pageOf(state("a", schema.Executing), content, state("a", schema.Completed))
	require.Equal(t, "14 sacks", tool(t, p, 0).Result())
	require.Len(t, tool(t, p, 0).Edits, 1)
	// beside the tool's own output
	p = pageOf(&schema.ToolResult{CallID: "a", Output: schema.JSON(`{"code":0}`)}, with{state("a", schema.Completed)}, with{content})
	require.Equal(t, "code: 0\n14 sacks", tool(t, p, 0).Result())
	// which may say the same
	p = pageOf(&schema.ToolResult{CallID: "a", Output: schema.JSON(`"There are 14 sacks"`)}, with{state("a", schema.Completed)}, with{content})
	require.Equal(t, "There are 14 sacks", tool(t, p, 0).Result())
	// too large
	p = pageOf(state("a", schema.Executing), with{large(updates, 1)}, state("a", schema.Completed))
	require.Equal(t, "too large to show, frame 1", tool(t, p, 0).Result())
}
