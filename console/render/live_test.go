package render_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/render"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// screen is a renderer with its page.
type screen struct {
	*render.Renderer
	t    *testing.T
	page bytes.Buffer
	seq  uint64
}

func newScreen(t *testing.T, o render.Options) *screen {
	s := &screen{t: t}
	s.Renderer = render.New(&s.page, o)
	return s
}

func (s *screen) next(kind schema.Kind, flags ...schema.Flag) schema.Event {
	s.seq++
	return schema.Event{AgentRole: "agent", WorkerSeq: s.seq, Frames: []schema.Range{{s.seq, s.seq}}, Kind: kind, Flags: flags,
		EmittedAt: time.Unix(1700000000+int64(s.seq), 0)}
}

func (s *screen) types(id string, index uint64, text string) {
	s.t.Helper()
	require.NoError(s.t, s.Delta(s.next(&schema.Delta{MessageID: id, Index: index, TextFragment: text})))
}

func (s *screen) thinks(id string, index uint64, text string) {
	s.t.Helper()
	require.NoError(s.t, s.Delta(s.next(&schema.Progress{Detail: &schema.Thinking{MessageID: id, Index: index, Text: text}})))
}

func (s *screen) stores(kind schema.Kind, flags ...schema.Flag) {
	s.t.Helper()
	require.NoError(s.t, s.Event(s.next(kind, flags...)))
}

func answer(id, text string) *schema.Message {
	return &schema.Message{Role: schema.Assistant, Channel: schema.Answer, MessageID: id, Text: text, Boundary: schema.BoundaryTurnEnd}
}

func open(id, text string) []schema.OpenMessage {
	return []schema.OpenMessage{{MessageID: id, Role: schema.Assistant, Channel: schema.Answer, Text: text}}
}

// reads takes what was written since the last time.
func (s *screen) reads(want string) {
	s.t.Helper()
	require.Equal(s.t, want, s.page.String())
	s.page.Reset()
}

func TestTypedTextIsWrittenOnce(t *testing.T) {
	s := newScreen(t, render.Options{Width: 40})
	s.types("m", 0, "There")
	s.reads("agent\n  There")
	s.types("m", 1, " are")
	s.reads(" are")
	require.NoError(t, s.Snapshot(open("m", "There are 14"), nil))
	s.reads(" 14")
	require.NoError(t, s.Snapshot(open("m", "There are 14"), nil))
	s.reads("")
	s.stores(answer("m", "There are 14 sacks."))
	s.reads(" sacks.\n")
	s.stores(answer("n", "Whole."))
	s.reads("\nagent\n  Whole.\n")
}

func TestTypedTextThatDiffersIsSaid(t *testing.T) {
	s := newScreen(t, render.Options{Width: 80})
	s.types("m", 0, "Fourteen")
	s.stores(answer("m", "Fifteen"))
	s.reads("agent\n  Fourteen\n  (the stored text is not what was typed; it is)\n  Fifteen\n")

	s.types("n", 0, "old")
	require.NoError(t, s.Delta(s.next(&schema.Delta{MessageID: "n", Index: 1, TextFragment: "new", Reset: true})))
	s.stores(answer("n", "new"))
	s.reads("\nagent\n  old\n  (the text starts anew)\n  new\n")

	s.types("o", 0, "one")
	require.NoError(t, s.Snapshot(open("o", "two"), nil))
	s.reads("\nagent\n  one\n  (what was shown is not the text so far, which is)\n  two")
}

func TestParallelTextsAreToldApart(t *testing.T) {
	s := newScreen(t, render.Options{Width: 80})
	s.thinks("m", 0, "hm")
	s.types("m", 0, "yes")
	s.thinks("m", 1, " so")
	s.stores(answer("m", "yes"))
	s.stores(&schema.Message{Role: schema.Assistant, Channel: schema.Thought, MessageID: "m", Text: "hm so", Boundary: schema.BoundaryTurnEnd}, schema.FlagPartial)
	s.reads("thought\n    hm\n\nagent\n  yes\n\nthought (goes on)\n    so\n    [partial]\n")
}

func TestMinorRecordsWaitForTheEndOfWhatIsTyped(t *testing.T) {
	s := newScreen(t, render.Options{Width: 80})
	s.types("m", 0, "one ")
	s.stores(&schema.Raw{Source: "session/update/usage_update", Value: schema.JSON(`{"used":1}`)})
	s.types("m", 1, "two")
	s.reads("agent\n  one two")
	s.stores(answer("m", "one two"))
	s.reads("\n\n· usage_update  used 1\n")
}

func TestSnapshotShowsProgressBeforeTheAnswerAndItsTask(t *testing.T) {
	var out bytes.Buffer
	r := render.New(&out, render.Options{})
	note := func(task, text string) schema.OpenNote { return schema.OpenNote{TaskID: task, Text: text} }
	answer := []schema.OpenMessage{{MessageID: "m", Role: schema.Assistant, Channel: schema.Answer, Text: "Rain", TaskID: "t-2"}}
	require.NoError(t, r.Event(said("t-1", 1, 0, reply("Before"))))
	require.NoError(t, r.Snapshot(answer, nil, note("t-2", "Looking\nFound")))
	require.NoError(t, r.Snapshot(answer, nil, note("t-2", "Looking\nFound")))
	require.Equal(t, "agent\n  Before\n\n── task t-2\n\n· Looking\n· Found\n\nagent\n  Rain", out.String())
	require.NoError(t, r.Snapshot(nil, nil, note("t-2", "Looking\nFound\nit")))
	require.NoError(t, r.Snapshot(nil, nil, note("t-2", "Something else")))
	require.NoError(t, r.Close())
	require.Equal(t, "agent\n  Before\n\n── task t-2\n\n· Looking\n· Found\n\nagent\n  Rain\n\n· it\n", out.String())
}

func TestSnapshotShowsOpenTools(t *testing.T) {
	s := newScreen(t, render.Options{Width: 60})
	require.NoError(t, s.Snapshot(nil, []schema.OpenTool{{State: schema.ToolState{ToolID: "t", Name: "make", Input: schema.JSON(`{"target":"all"}`),
		State: schema.ToolPhase{Phase: schema.Executing}}}}))
	s.reads("▸ make                                               running\n  │ target: all\n")
	s.stores(&schema.ToolState{ToolID: "t", Name: "make", Input: schema.JSON(`{"target":"all"}`), State: schema.ToolPhase{Phase: schema.Executing}})
	s.reads("")
}

func TestNoticesEndTheLine(t *testing.T) {
	s := newScreen(t, render.Options{})
	s.types("m", 0, "half a sen")
	require.NoError(t, s.Notice("pieces were lost\x1b[2J"))
	s.types("m", 1, "tence")
	require.NoError(t, s.Close())
	s.reads("agent\n  half a sen\n\n! pieces were lost␛[2J\n\nagent (goes on)\n  tence\n")
}

// hostile is in every text of a transcript that a peer chooses.
const hostile = "x\x1b]0;owned\a\x1b[2J\u009b1m\r\u202e\x00y"

func TestHostileTextDoesNotReachTheTerminal(t *testing.T) {
	quoted := string(schema.AppendString(nil, hostile))
	kinds := []schema.Kind{
		answer(hostile, hostile),
		&schema.Message{Role: schema.Role(hostile), Channel: schema.Channel(hostile), MessageID: "c", Text: hostile,
			Content: schema.JSON(`[{"type":` + quoted + `,"name":` + quoted + `,"uri":` + quoted + `},{"type":"text","text":` + quoted + `}]`)},
		&schema.ToolCall{Tool: hostile, CallID: hostile, Input: schema.JSON(`{` + quoted + `:` + quoted + `}`)},
		&schema.ToolResult{CallID: hostile, Output: schema.JSON(`[{"type":"diff","path":` + quoted + `,"newText":` + quoted + `}]`)},
		&schema.ToolState{ToolID: hostile, Name: hostile, Title: hostile + "2", State: schema.ToolPhase{Phase: schema.Cancelled, Reason: schema.CancelReason(hostile), Message: hostile}},
		&schema.ToolState{ToolID: hostile + "2", State: schema.ToolPhase{Phase: schema.Phase(hostile)}},
		&schema.Stop{Reason: schema.StopError, Detail: hostile}, &schema.Stop{Reason: schema.StopReason(hostile), Detail: hostile},
		&schema.Progress{Detail: &schema.Note{Text: hostile}},
		&schema.Raw{Source: hostile, Value: schema.JSON(`{` + quoted + `:[` + quoted + `]}`)},
		&schema.Raw{Source: "stderr", Value: schema.JSON(`{"base64":"G1sySg0bXTA7b3duZWQHCg=="}`)},
		&schema.Raw{Source: "refused/" + hostile, Value: schema.JSON(`{"reason":` + quoted + `}`)},
		&schema.Raw{Source: "acp/gap", Value: schema.JSON(`{"reason":` + quoted + `}`)},
		&schema.Raw{Source: "session/update/plan", Value: schema.JSON(`{"entries":[{"content":` + quoted + `,"status":` + quoted + `}]}`)},
		&schema.Raw{Source: "session/request_permission", Value: schema.JSON(`{"toolCall":{"toolCallId":` + quoted + `},"options":[{"name":` + quoted + `}]}`)},
		&schema.Raw{Source: "session/request_permission/decision", Value: schema.JSON(`{"policy":` + quoted + `,"outcome":{"outcome":"selected","optionId":` + quoted + `}}`)},
		&schema.Raw{Source: "broken", Value: schema.JSON("\x1b[2J{not json\xff")},
		&schema.Unknown{Name: hostile, Value: schema.JSON(`{"kind":` + quoted + `}`)},
	}
	row := sink.Summary{Key: "a/b/c/0/1/1", Agent: hostile, Title: hostile, Cwd: hostile, Dialect: hostile, Protocol: schema.ACP, SessionID: hostile}
	for _, o := range []render.Options{{}, {Width: 40}, {Width: 40, Raw: true, Times: true, Lines: -1}} {
		s := newScreen(t, o)
		var events []schema.Event
		require.NoError(t, s.Transcript(row))
		s.types(hostile, 0, hostile)
		s.thinks("t", 0, hostile)
		require.NoError(t, s.Snapshot(open("s", hostile), []schema.OpenTool{{State: *kinds[4].(*schema.ToolState)}}))
		for _, kind := range kinds {
			e := s.next(kind, schema.Flag(hostile))
			e.AgentRole = hostile
			events = append(events, e)
			require.NoError(t, s.Event(e))
		}
		require.NoError(t, s.Close())
		require.NoError(t, render.New(&s.page, o).Show(row, each(events)))
		require.NoError(t, render.List(&s.page, o, time.Now(), []sink.Summary{row}))
		text := s.page.String()
		require.False(t, strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e') }), "%q", text)
		require.Contains(t, text, "␛]0;owned␇")
	}
}

func TestTypedWordsAreNotBrokenWhereTheirPiecesEnd(t *testing.T) {
	const text = "agents through a standardized wire format, one line at a time"
	for step := 1; step < 9; step++ {
		typed := newScreen(t, render.Options{Width: 24})
		for i, n := 0, uint64(0); i < len(text); n++ {
			end := min(i+step, len(text))
			typed.types("m", n, text[i:end])
			i = end
		}
		typed.stores(answer("m", text))
		typed.reads("agent\n  agents through a\n  standardized wire\n  format, one line at a\n  time\n")
	}
}

func TestEditsStandOnTheirCard(t *testing.T) {
	s := newScreen(t, render.Options{Width: 60})
	call := schema.JSON(`{"toolCallId":"t","title":"Edit main.go","kind":"edit","content":[{"type":"diff","path":"/w/main.go","oldText":"a\nb\nc\n","newText":"a\nB\nc\n"}]}`)
	s.stores(&schema.ToolState{ToolID: "t", Name: "Edit main.go", State: schema.ToolPhase{Phase: schema.Executing}})
	s.stores(&schema.Raw{Source: "session/update/tool_call", Value: call})
	s.reads("▸ Edit main.go                                       running\n  ± /w/main.go  −1 +1 line\n  │ - b\n  │ + B\n")
	s.stores(&schema.ToolState{ToolID: "t", Name: "Edit main.go", State: schema.ToolPhase{Phase: schema.Completed, Success: true}})
	s.stores(&schema.Raw{Source: "session/update/tool_call_update", Value: call})
	s.reads("✓ Edit main.go                                          done\n")
}
