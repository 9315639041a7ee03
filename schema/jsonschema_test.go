package schema_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steno-io/steno/schema"
)

const schemaBase = "https://github.com/steno-io/steno/schema/"

// published compiles one of the published schemas; none of them may refer to anything else.
func published(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	for file, text := range map[string]string{
		"event.schema.json": schema.EventSchema(), "frame.schema.json": schema.FrameSchema(), "record.schema.json": schema.RecordSchema(),
	} {
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		require.NoError(t, err)
		require.Equal(t, "https://json-schema.org/draft/2020-12/schema", document.(map[string]any)["$schema"])
		require.Equal(t, schemaBase+file, document.(map[string]any)["$id"])
		require.NoError(t, c.AddResource(schemaBase+file, document))
	}
	compiled, err := c.Compile(schemaBase + name)
	require.NoError(t, err)
	return compiled
}

func check(s *jsonschema.Schema, data []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return s.Validate(value)
}

func TestEventsFitTheirSchema(t *testing.T) {
	s := published(t, "event.schema.json")
	for kind := range kinds {
		t.Run(kind, rapid.MakeCheck(func(t *rapid.T) {
			e := drawEvent(t, kind)
			data := e.AppendJSON(nil)
			require.NoError(t, check(s, data), "%s", data)
		}))
	}
}

func TestEventSchemaIsStrict(t *testing.T) {
	s := published(t, "event.schema.json")
	e := sample()
	good := string(e.AppendJSON(nil))
	require.NoError(t, check(s, []byte(good)))
	for _, c := range []struct{ old, new string }{
		{`{"namespace"`, `{"more":1,"namespace"`},
		{`"namespace":"default"`, `"namespace":"de.fault"`},
		{`"namespace":"default",`, ``},
		{`"attempt":1`, `"attempt":4294967296`},
		{`"attempt":1`, `"attempt":1.5`},
		{`"worker_seq":17`, `"worker_seq":0`},
		{`"worker_seq":17`, `"worker_seq":18446744073709551616`},
		{`"store_seq":null`, `"store_seq":0`},
		{`"store_seq":null,"ephemeral":false`, `"store_seq":1,"ephemeral":true`},
		{`0.000000001Z`, `0.000000001+00:00`},
		{`"protocol":"acp"`, `"protocol":"mcp"`},
		{`"dialect":"1"`, `"dialect":"1","url":""`},
		{`[[12,16],[17,17]]`, `[]`},
		{`[[12,16],[17,17]]`, `[[12]]`},
		{`[[12,16],[17,17]]`, `[[12,16,17]]`},
		{`["late"]`, `["odd"]`},
		{`["late"]`, `[]`},
		{`["late"]`, `["late","late"]`},
		{`"boundary":"message_id"`, `"boundary":"why"`},
		{`"boundary":"message_id"`, `"boundary":"message_id","more":1`},
		{`"role":{"role":"Assistant"}`, `"role":"Assistant"`},
		{`"kind":"Message"`, `"kind":"Delta"`},
		{`"kind":"Message"`, `"kind":7`},
	} {
		require.Contains(t, good, c.old)
		require.Error(t, check(s, []byte(strings.Replace(good, c.old, c.new, 1))), c.new)
	}
	e.Kind = &schema.Delta{MessageID: "m"}
	require.Error(t, check(s, e.AppendJSON(nil)), "a delta is ephemeral, always")
	e.Kind = &schema.Progress{Detail: &schema.Thinking{MessageID: "m"}}
	require.Error(t, check(s, e.AppendJSON(nil)), "so is its twin")
	for _, kind := range []string{
		`{"kind":"Stop","reason":{"stop":"Error"}}`, `{"kind":"Stop","reason":{"stop":"EndTurn","message":""}}`,
		`{"kind":"Raw","source":"","value":null}`, `{"kind":"Raw","source":"x"}`,
		`{"kind":"ToolState","tool":{"toolId":"","name":"","state":{"phase":"executing","success":true}}}`,
		`{"kind":"ToolState","tool":{"toolId":"","name":"","state":{}}}`,
		`{"kind":"Progress","detail":{"detail":"Note"}}`, `{"kind":"Progress","detail":{}}`, `{}`, `[]`,
	} {
		e.Kind = &schema.Unknown{Value: schema.JSON(kind)}
		require.Error(t, check(s, e.AppendJSON(nil)), kind)
	}
}

// members gives the enum at a path of a schema.
func members(t *testing.T, text string, path ...string) []string {
	t.Helper()
	var at any
	require.NoError(t, json.Unmarshal([]byte(text), &at))
	for _, name := range path {
		at = at.(map[string]any)[name]
	}
	var words []string
	for _, word := range at.([]any) {
		words = append(words, word.(string))
	}
	return words
}

func TestSchemaHasTheFlagsOfTheCode(t *testing.T) {
	var want []string
	for _, flag := range schema.Flags {
		want = append(want, string(flag))
	}
	require.Equal(t, want, members(t, schema.EventSchema(), "properties", "flags", "items", "enum"))
}

func TestRecordsFitTheirSchema(t *testing.T) {
	s := published(t, "record.schema.json")
	rapid.Check(t, func(t *rapid.T) {
		r := drawRecord(t)
		require.NoError(t, check(s, recordDocument(t, &r)))
	})
}

// recordDocument writes a record as the object that its schema speaks of.
func recordDocument(t require.TestingT, r *schema.Record) []byte {
	header, err := r.Header()
	require.NoError(t, err)
	document := struct {
		Headers map[string][]string `json:"headers"`
		Lines   []json.RawMessage   `json:"lines"`
	}{Headers: header}
	for line := range bytes.Lines(r.Payload()) {
		document.Lines = append(document.Lines, json.RawMessage(line))
	}
	data, err := json.Marshal(document)
	require.NoError(t, err)
	return data
}

func TestRecordSchemaIsStrict(t *testing.T) {
	s := published(t, "record.schema.json")
	e := sample()
	r := schema.Record{Last: e.Origin(), First: map[uint32]uint64{1: 1}, Chain: strings.Repeat("c", 64), Translator: "acp/1", Events: [][]byte{e.AppendJSON(nil)}}
	good := string(recordDocument(t, &r))
	require.NoError(t, check(s, []byte(good)))
	for _, c := range []struct{ old, new string }{
		{`"store_seq":null`, `"store_seq":1`},
		{`"ephemeral":false`, `"ephemeral":true`},
		{`"Steno-Origin":["17.0"]`, `"Steno-Origin":["17"]`},
		{`"Steno-Origin":["17.0"]`, `"Steno-Origin":["17.0","17.1"]`},
		{`"Steno-Origin":["17.0"]`, `"Steno-More":["17.0"]`},
		{`"1:1"`, `"1:1,"`},
		{`"lines":[`, `"lines":[],"more":[`},
		{`cccc`, `CCCC`},
	} {
		require.Contains(t, good, c.old)
		require.Error(t, check(s, []byte(strings.Replace(good, c.old, c.new, 1))), c.new)
	}
}
