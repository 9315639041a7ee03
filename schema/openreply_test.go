package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

func openReply() schema.OpenReply {
	elapsed := uint64(12)
	return schema.OpenReply{
		Identity:   schema.Identity{Namespace: "default", Workflow: "w", Run: "r", Activity: 7, Attempt: 2},
		Frame:      17,
		Translator: "acp/1",
		Ordinals:   map[uint32]uint64{0: 3, 1: 9, 10: 1},
		Frames:     map[uint32]uint64{1: 4},
		Messages: []schema.OpenMessage{{Session: 1, MessageID: "m1", Role: schema.Assistant, Channel: schema.Answer,
			Text: "so far \"é\"\n", Next: 4, TaskID: "t-1"}},
		Notes: []schema.OpenNote{{Session: 1, TaskID: "t-1", Text: "Looking\naround"}, {Text: "x"}},
		Tools: []schema.OpenTool{{Session: 1, State: schema.ToolState{ToolID: "t1", Name: "shell", Input: schema.JSON(`{"a":1}`),
			State: schema.ToolPhase{Phase: schema.Executing, ElapsedMs: &elapsed}}}},
		Parked: "diverged",
	}
}

func TestOpenReplyRoundTrip(t *testing.T) {
	want := openReply()
	data := want.AppendJSON(nil)
	require.True(t, json.Valid(data), string(data))
	got, err := schema.DecodeOpenReply(data)
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Equal(t, data, got.AppendJSON(nil))
}

func TestOpenReplyPages(t *testing.T) {
	want := openReply()
	want.Messages[0].Text = strings.Repeat("é\n\"", schema.MaxInline)
	other := openReply()
	other.Frame = 18

	var pages schema.OpenPages
	first := schema.CutOpenPages(want.AppendJSON(nil), "a")
	second := schema.CutOpenPages(other.AppendJSON(nil), "b")
	require.Greater(t, len(first), 2)
	require.Len(t, second, 1)
	for i := len(first) - 1; i > 0; i-- { // any order
		require.LessOrEqual(t, len(first[i].Data), schema.MaxInline)
		_, whole, err := pages.Add(first[i].Header, first[i].Data)
		require.NoError(t, err)
		require.False(t, whole)
	}
	got, whole, err := pages.Add(second[0].Header, second[0].Data)
	require.NoError(t, err)
	require.True(t, whole)
	require.Equal(t, other, got)
	got, whole, err = pages.Add(first[0].Header, first[0].Data)
	require.NoError(t, err)
	require.True(t, whole)
	require.Equal(t, want, got)
}

func TestOpenPageRefusesStrangers(t *testing.T) {
	header := func(page, reply string) map[string][]string {
		return map[string][]string{schema.HeaderPage: {page}, schema.HeaderReply: {reply}}
	}
	for _, bad := range []map[string][]string{nil, header("1/1", ""), header("0/1", "a"), header("2/1", "a"),
		header("1", "a"), header("1/x", "a"), header("1/4097", "a"), header("01/2", "a")} {
		var pages schema.OpenPages
		_, _, err := pages.Add(bad, []byte("{}"))
		require.ErrorIs(t, err, schema.ErrOpenPage, "%v", bad)
	}
	var pages schema.OpenPages
	_, _, err := pages.Add(header("1/3", "a"), nil)
	require.NoError(t, err)
	_, _, err = pages.Add(header("2/4", "a"), nil)
	require.ErrorIs(t, err, schema.ErrOpenPage)
	_, whole, err := pages.Add(header("1/1", "b"), []byte("{"))
	require.Error(t, err)
	require.False(t, whole)
}

func TestDecodeLive(t *testing.T) {
	want := &schema.Heads{Frame: 3, Heads: []schema.Head{{MessageID: `m"1`, Next: 12}, {MessageID: "m2", Next: 1}}}
	data := want.AppendJSON(nil)
	require.Equal(t, `{"frame":3,"heads":[["m\"1",12],["m2",1]]}`, string(data))
	event, heads, err := schema.DecodeLive(data)
	require.NoError(t, err)
	require.Nil(t, event)
	require.Equal(t, want, heads)

	delta := schema.Event{Ephemeral: true, Frames: []schema.Range{{1, 1}}, Kind: &schema.Delta{MessageID: "m1", Index: 3, TextFragment: "x"}}
	event, heads, err = schema.DecodeLive(delta.AppendJSON(nil))
	require.NoError(t, err)
	require.Nil(t, heads)
	require.Equal(t, delta.Kind, event.Kind)

	for _, bad := range []string{`{`, `{}`, `{"heads":[["m"]]}`, `{"heads":[[1,2]]}`, `{"heads":[["m","x"]]}`, `{"kind":3}`} {
		_, _, err := schema.DecodeLive([]byte(bad))
		require.Error(t, err, bad)
	}
}
