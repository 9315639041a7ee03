package files

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

func TestSideOfALine(t *testing.T) {
	content := "\xEF\xBB\xBF" + strings.Join([]string{
		`{"jsonrpc":"2.0","id":0,"method":"session/prompt","params":{}}`,
		``,
		`{"jsonrpc":"2.0","method":"session/update","params":{}}`,
		`{"id":0,"method":"session/request_permission"}`, // the same id on both sides
		`> {"id":0,"result":{}}`,                         // marked: it answers the agent's
		`{"id":0,"error":{"code":1}}`,                    // now only the client's is open
		`{"id":null,"method":"session/cancel"}`,
		`<{"id":"a","method":"_vendor/ask"}`, // learned from a marked line
		`{"id":"a","result":null}` + "\r",
		`< panic: not JSON`,
		`>  [{"id":7,"method":"x"},{"method":"y"}]`,
		`{"id":7,"result":1}`,
	}, "\n")
	frames := mustRead(t, write(t, content))
	require.Equal(t, "1 "+open+`2 client data {"jsonrpc":"2.0","id":0,"method":"session/prompt","params":{}}
3 agent data {"jsonrpc":"2.0","method":"session/update","params":{}}
4 agent data {"id":0,"method":"session/request_permission"}
5 client data {"id":0,"result":{}}
6 agent data {"id":0,"error":{"code":1}}
7 client data {"id":null,"method":"session/cancel"}
8 agent data {"id":"a","method":"_vendor/ask"}
9 client data {"id":"a","result":null}`+"\r"+`
10 agent data panic: not JSON
11 client data  [{"id":7,"method":"x"},{"method":"y"}]
12 agent data {"id":7,"result":1}
13 `+shut, short(frames))
	require.Equal(t, schema.Frame{
		Seq: 3, At: time.UnixMilli(3).UTC(), From: "agent", Type: "data", Protocol: "acp", End: "lf",
		Data: []byte(`{"jsonrpc":"2.0","method":"session/update","params":{}}`),
	}, frames[2])
	require.Equal(t, schema.EndNone, frames[11].End, "the last line has no line feed")
}

func TestSideThatStaysOpenIsRefused(t *testing.T) {
	const what = "write > before it if the client sent it, < if the agent did"
	for name, c := range map[string]struct{ line, want string }{
		"both sides send it": {`{"method":"$/cancel_request","params":{}}`, `both sides send "$/cancel_request": ` + what},
		"vendor method":      {`{"id":3,"method":"cursor/ask"}`, `"cursor/ask" is no method of ACP, so it does not tell who sent it: ` + what},
		"both asked":         {`{"id":0,"result":{}}`, `both sides have a request with the id 0 open: ` + what},
		"nobody asked":       {`{"id":9,"result":{}}`, `no request with the id 9 is open before this answer: ` + what},
		"another type of id": {`{"id":"0","result":{}}`, `no request with the id "0" is open before this answer: ` + what},
		"answer without id":  {`{"id":null,"error":{}}`, `want a JSON-RPC message: a method, or an id with a result or an error`},
		"neither":            {`{"id":0}`, `want a JSON-RPC message`},
		"a batch":            {`[{"id":5,"method":"session/new"}]`, `a batch does not tell who sent it: ` + what},
		"not an object":      {`7`, `want a JSON-RPC message`},
		"no JSON":            {`npm warn`, `want one JSON-RPC message a line, or any text behind > or <`},
		"two":                {`{"method":"session/cancel"}{}`, `"{}" stands behind the message`},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, `{"id":0,"method":"session/prompt"}`+"\n"+`{"id":0,"method":"fs/read_text_file"}`+"\n\n"+c.line+"\n")
			f, err := Open(path)
			require.NoError(t, err)
			frames, err := collect(f)
			require.ErrorContains(t, err, "read JSON-RPC lines "+path+":4: ")
			require.ErrorContains(t, err, c.want)
			require.Len(t, frames, 3)
		})
	}
}

func TestAnAnsweredRequestIsNoLongerOpen(t *testing.T) {
	path := write(t, ask+"\n"+reply+"\n"+reply+"\n")
	f, err := Open(path)
	require.NoError(t, err)
	_, err = collect(f)
	require.ErrorContains(t, err, ":3: no request with the id 1 is open")
}

// The lines of a real recording, without its directions, give the same frames as the recording.
func TestSidesOfARealRecording(t *testing.T) {
	for _, path := range recordings {
		want := mustRead(t, path)
		var content strings.Builder
		for _, f := range want {
			if f.Type == schema.TypeData {
				content.Write(f.Data)
				content.WriteByte('\n')
			}
		}
		got := mustRead(t, write(t, content.String()))
		for i := range want {
			want[i].At, got[i].At = time.Time{}, time.Time{} // lines have no times
		}
		want[0].Data, got[0].Data = nil, nil // only the export knows the agent's command line
		require.Equal(t, want, got, path)
	}
}
