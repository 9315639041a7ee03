package files

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// recordings are real exports of acp-devtools, by its own licence.
var recordings = []string{
	"testdata/acp-devtools/gemini-cli-0.46.0.json",
	"testdata/acp-devtools/zed-1.5.4-claude-code-0.43.0.json",
}

func msg(seq int, direction string) string {
	return fmt.Sprintf(`{"seq":%d,"timestamp":%d,"direction":%q,"raw":"{}","payload":{"a":[1]}}`, seq, 1000+seq, direction)
}

func TestExportsGiveEveryMessageVerbatim(t *testing.T) {
	for _, path := range recordings {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		var oracle struct {
			Messages []struct {
				Timestamp int64
				Direction string
				Raw       string
			}
		}
		require.NoError(t, json.Unmarshal(data, &oracle))
		require.NotEmpty(t, oracle.Messages)
		frames := mustRead(t, path)
		require.Len(t, frames, len(oracle.Messages)+2)
		for i, m := range oracle.Messages {
			from := schema.FromClient
			if m.Direction == "agent-to-editor" {
				from = schema.FromAgent
			}
			require.Equal(t, schema.Frame{
				Seq: uint64(i + 2), At: time.UnixMilli(m.Timestamp).UTC(), From: from, Type: "data", Protocol: "acp", End: "lf",
				Data: []byte(m.Raw),
			}, frames[i+1])
		}
	}
}

func TestExportToleratesWhatItDoesNotNeed(t *testing.T) {
	path := write(t, "\xEF\xBB\xBF\n"+`{"tool":{"name":"x","name":"y"},"new":[{"a":"`+"\xff"+`"}],"messages":[
		{"raw":"é\n\n","kind":null,"kind":1,"timestamp":1,"direction":"agent-to-editor","payload":"\ud800"}
	],"after":{"b":[]}}`+"\n\n")
	frames := mustRead(t, path)
	require.Equal(t, "1 "+open+"2 agent data é\n\n3 "+shut, short(frames))
}

func TestExportErrorsNameTheMessage(t *testing.T) {
	for name, c := range map[string]struct{ second, want string }{
		"direction":         {`{"seq":2,"timestamp":2,"direction":"proxy","raw":""}`, `:2: message 2 (seq 2): direction: want editor-to-agent or agent-to-editor, got "proxy"`},
		"no direction":      {`{"timestamp":2,"raw":""}`, `:2: message 2: direction: want a string, got nothing`},
		"no timestamp":      {`{"seq":2,"direction":"editor-to-agent","raw":""}`, `timestamp: want whole milliseconds since 1970, before the year 10000, got nothing`},
		"timestamp of text": {`{"seq":2,"timestamp":"now","direction":"editor-to-agent","raw":""}`, `got "now"`},
		"far timestamp":     {`{"seq":2,"timestamp":253402300800000,"direction":"editor-to-agent","raw":""}`, `got 253402300800000`},
		"seq goes back":     {`{"seq":1,"timestamp":2,"direction":"editor-to-agent","raw":""}`, `message 2 (seq 1): seq: want more than 1, that of the message before`},
		"seq of text":       {`{"seq":"2","timestamp":2,"direction":"editor-to-agent","raw":""}`, `seq: want an integer`},
		"raw an object":     {`{"seq":2,"timestamp":2,"direction":"editor-to-agent","raw":{}}`, `raw: want a string, got {}`},
		"raw has no bytes":  {`{"seq":2,"timestamp":2,"direction":"editor-to-agent","raw":"\ud800"}`, `raw: the string has invalid UTF-8 or a lone surrogate`},
		"not an object":     {`7`, `message 2: want an object, got number`},
		"cut":               {`{"seq":2,`, `:2: message 2 (seq 2): `},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, `{"messages":[`+msg(1, toAgent)+",\n"+c.second+"\n]}")
			f, err := Open(path)
			require.NoError(t, err)
			frames, err := collect(f)
			require.ErrorContains(t, err, "read acp-devtools export "+path+":")
			require.ErrorContains(t, err, c.want)
			require.Len(t, frames, 2)
		})
	}
}

func TestExportThatDoesNotEnd(t *testing.T) {
	begin := "{\"messages\":[\n" + msg(1, toAgent)
	for name, c := range map[string]struct{ end, want string }{
		"in the array":    {"\n", ":"},
		"behind it":       {"\n]\n", ":"},
		"in a member":     {"],\n\"a\":{", ":3: "},
		"something after": {"\n]}\n[]", ":4: want one object a file: [ stands behind it"},
		"messages twice":  {"],\n\"messages\":[]}", ":3: the object has messages twice"},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, begin+c.end)
			f, err := Open(path)
			require.NoError(t, err)
			frames, err := collect(f)
			require.ErrorContains(t, err, "read acp-devtools export "+path+c.want)
			require.Len(t, frames, 2, "no close frame")
		})
	}
}
