package schema_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steno-io/steno/schema"
)

func sample() schema.Event {
	id := schema.Identity{Namespace: "default", Workflow: "w", Run: "r", Activity: 0, Attempt: 1}
	return schema.Event{
		Transcript: schema.Transcript{Identity: id, Session: 1}, AgentRole: "agent",
		EmittedAt: time.Date(2026, 11, 29, 20, 0, 0, 1, time.UTC), WorkerSeq: 17,
		EventID: schema.EventID(id, schema.Origin{Frame: 17}),
		Source:  schema.Source{Protocol: schema.ACP, Dialect: "1", SessionID: "sess-1", Translator: "acp/1"},
		Frames:  []schema.Range{{12, 16}, {17, 17}}, Flags: []schema.Flag{schema.FlagLate},
		Kind: &schema.Message{Role: schema.Assistant, Text: "…", MessageID: "m1", Channel: schema.Answer, Boundary: schema.BoundaryMessageID},
	}
}

func TestEventEncoding(t *testing.T) {
	e := sample()
	const want = `{"namespace":"default","workflow_id":"w","run_id":"r","activity_id":0,"attempt":1,"session":1,` +
		`"agent_id":"00000000-0000-0000-0000-000000000000","agent_role":"agent","emitted_at":"2026-11-29T20:00:00.000000001Z",` +
		`"worker_seq":17,"part":0,"store_seq":null,"ephemeral":false,"event_id":"a9112085-4d3d-5e1b-8d51-bffde06cb547",` +
		`"source":{"protocol":"acp","dialect":"1","session_id":"sess-1","translator":"acp/1"},` +
		`"frames":[[12,16],[17,17]],"flags":["late"],` +
		`"kind":{"kind":"Message","role":{"role":"Assistant"},"text":"…","message_id":"m1","channel":"answer","boundary":"message_id"}}`
	require.Equal(t, want, string(e.AppendJSON(nil)))
	require.True(t, e.Has(schema.FlagLate))
	require.False(t, e.Has(schema.FlagEcho))
}

func TestEveryKindComesBackAsItWas(t *testing.T) {
	for kind := range kinds {
		t.Run(kind, rapid.MakeCheck(func(t *rapid.T) {
			want := drawEvent(t, kind)
			data := want.AppendJSON(nil)
			got, err := schema.DecodeEvent(data)
			require.NoError(t, err)
			require.Equal(t, want, got)
			require.Equal(t, string(data), string(got.AppendJSON(nil)))

			// Through encoding/json, whatever it does to white space.
			spaced, err := json.MarshalIndent(&want, "", "\t")
			require.NoError(t, err)
			var again schema.Event
			require.NoError(t, json.Unmarshal(spaced, &again))
			if !bytes.Contains(data, []byte(`\u`)) && !bytes.ContainsAny(data, "<>&\u2028\u2029") {
				require.Equal(t, want, again) // else encoding/json has spelled a value anew
			}
		}))
	}
}

func TestAbsentValuesAreNullOrLeftOut(t *testing.T) {
	e := sample()
	for want, kind := range map[string]schema.Kind{
		`{"kind":"ToolCall","tool":"","call_id":"","input":null}`:                                                                                    &schema.ToolCall{},
		`{"kind":"ToolResult","call_id":"","output":null,"is_error":false}`:                                                                          &schema.ToolResult{},
		`{"kind":"Raw","source":"x","value":null}`:                                                                                                   &schema.Raw{Source: "x"},
		`{"kind":"ToolState","tool":{"toolId":"a","name":"b","state":{"phase":"executing"}}}`:                                                        &schema.ToolState{ToolID: "a", Name: "b", State: schema.ToolPhase{Phase: schema.Executing, Message: "of another phase"}},
		`{"kind":"ToolState","tool":{"toolId":"","name":"","state":{"phase":"waiting_confirmation","input":null,"description":"","approvalId":""}}}`: &schema.ToolState{State: schema.ToolPhase{Phase: schema.WaitingConfirmation}},
		`{"kind":"Progress","detail":{"detail":"UsageEstimate"}}`:                                                                                    &schema.Progress{Detail: &schema.UsageEstimate{}},
		`{"kind":"Stop","reason":{"stop":"EndTurn"}}`:                                                                                                &schema.Stop{Reason: schema.StopEndTurn, Detail: "has none"},
	} {
		e.Kind = kind
		data := e.AppendJSON(nil)
		require.Contains(t, string(data), `"kind":`+want+"}")
		got, err := schema.DecodeEvent(data)
		require.NoError(t, err)
		require.Equal(t, string(data), string(got.AppendJSON(nil)))
	}
}

func TestUnknownKindsAreKept(t *testing.T) {
	e := sample()
	data := bytes.Replace(e.AppendJSON(nil), []byte(`"kind":"Message"`), []byte(`"kind":"Plan" , "text" : 5`), 1)
	got, err := schema.DecodeEvent(data)
	require.NoError(t, err)
	unknown := got.Kind.(*schema.Unknown)
	require.Equal(t, "Plan", unknown.Tag())
	require.Equal(t, `{"kind":"Plan","text":5,"role":{"role":"Assistant"},"text":"…","message_id":"m1","channel":"answer","boundary":"message_id"}`, string(unknown.Value))
	require.Contains(t, string(got.AppendJSON(nil)), string(unknown.Value))
}

func TestDecodeEventSaysWhatIsWrong(t *testing.T) {
	e := sample()
	good := string(e.AppendJSON(nil))
	for _, c := range []struct{ old, new, want string }{
		{`{"namespace"`, `"namespace"`, "decode event: "},
		{`"attempt":1`, `"attempt":4294967296`, "decode event: "},
		{`"worker_seq":17`, `"worker_seq":-1`, "decode event: "},
		{`"kind":{`, `"other":{`, "decode event " + e.EventID.String() + ": decode kind: "},
		{`"kind":{"kind":"Message"`, `"kind":{"kind":7`, "decode kind: "},
		{`"text":"…"`, `"text":7`, "decode kind Message: "},
		{`{"kind":"Message","role":{"role":"Assistant"}`, `{"kind":"ToolCall"`, "decode kind ToolCall: tool: "},
		{`{"kind":"Message","role":{"role":"Assistant"}`, `{"kind":"ToolState"`, "decode kind ToolState: read tool.state.phase: "},
		{`{"kind":"Message","role":{"role":"Assistant"}`, `{"kind":"Progress"`, "decode kind Progress: read detail.detail: it is missing"},
		{`{"kind":"Message","role":{"role":"Assistant"}`, `{"kind":"Stop","reason":{"stop":1}`, "decode kind Stop: read reason.stop: "},
	} {
		require.Contains(t, good, c.old)
		_, err := schema.DecodeEvent([]byte(strings.Replace(good, c.old, c.new, 1)))
		require.ErrorContains(t, err, c.want, c.new)
	}
}

func TestWithStoreSeq(t *testing.T) {
	for kind := range kinds {
		t.Run(kind, rapid.MakeCheck(func(t *rapid.T) {
			e := drawEvent(t, kind)
			e.StoreSeq = 0
			data := e.AppendJSON(nil)
			before := bytes.Clone(data)
			e.StoreSeq = rapid.Uint64Min(1).Draw(t, "seq")
			got, err := schema.WithStoreSeq(data, e.StoreSeq)
			require.NoError(t, err)
			require.Equal(t, string(e.AppendJSON(nil)), string(got))
			require.Equal(t, before, data, "the event itself is not touched")
			_, err = schema.WithStoreSeq(got, e.StoreSeq)
			require.ErrorContains(t, err, "it has no store_seq of null")
		}))
	}
}

func TestWithStoreSeqOfANumberedEventWithTheMarkInside(t *testing.T) {
	e := sample()
	e.StoreSeq = 4
	e.Kind = &schema.Raw{Source: "x", Value: schema.JSON(`{"a":1,"store_seq":null,"b":2}`)}
	_, err := schema.WithStoreSeq(e.AppendJSON(nil), 5)
	require.ErrorContains(t, err, "number event 5: it has no store_seq of null")
	_, err = schema.WithStoreSeq([]byte("{}"), 5)
	require.Error(t, err)
}

func TestEventIDIsFixedForEver(t *testing.T) {
	id := schema.Identity{Namespace: "default", Workflow: "w", Run: "r", Attempt: 1}
	require.Equal(t, "a9112085-4d3d-5e1b-8d51-bffde06cb547", schema.EventID(id, schema.Origin{Frame: 17}).String())
	require.Equal(t, uuid.Version(5), schema.EventID(id, schema.Origin{Frame: 17}).Version())
	require.NotEqual(t, schema.EventID(id, schema.Origin{Frame: 17}), schema.EventID(id, schema.Origin{Frame: 17, Part: 1}))
	other := id
	other.Attempt = 2
	require.NotEqual(t, schema.EventID(id, schema.Origin{Frame: 17}), schema.EventID(other, schema.Origin{Frame: 17}))
}

func TestOrigin(t *testing.T) {
	ordered := []schema.Origin{{}, {0, 1}, {1, 0}, {1, 7}, {2, 0}, {^uint64(0), ^uint32(0)}}
	for i, a := range ordered {
		for j, b := range ordered {
			require.Equal(t, compare(i, j), a.Compare(b), "%s and %s", a, b)
		}
		back, err := schema.ParseOrigin(a.String())
		require.NoError(t, err)
		require.Equal(t, a, back)
	}
	for _, bad := range []string{"", "1", "1.", ".1", "1.2.3", "01.2", "1.02", "-1.2", "+1.2", "1.4294967296", "18446744073709551616.0"} {
		_, err := schema.ParseOrigin(bad)
		require.ErrorContains(t, err, "parse origin", bad)
	}
}

func compare(i, j int) int {
	switch {
	case i < j:
		return -1
	case i > j:
		return 1
	}
	return 0
}

// FuzzDecodeEvent: what is read can be written, and from then on stays as it is.
func FuzzDecodeEvent(f *testing.F) {
	e := sample()
	f.Add(e.AppendJSON(nil))
	for _, kind := range []schema.Kind{&schema.Raw{Source: "a", Value: schema.JSON(`{"a":1e400}`)}, &schema.Stop{Reason: schema.StopOther, Detail: "x"},
		&schema.ToolState{State: schema.ToolPhase{Phase: schema.Completed}}, &schema.Progress{Detail: &schema.Note{}}, &schema.Delta{Reset: true}} {
		e.Kind = kind
		f.Add(e.AppendJSON(nil))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := schema.DecodeEvent(data)
		if err != nil {
			return
		}
		first := e.AppendJSON(nil)
		require.True(t, json.Valid(first), "%q", first)
		again, err := schema.DecodeEvent(first)
		require.NoError(t, err)
		require.Equal(t, string(first), string(again.AppendJSON(nil)))
	})
}
