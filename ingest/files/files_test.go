package files

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// write puts a file where its name says nothing.
func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "input")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// collect ranges over a file's frames up to the end or the error.
func collect(f *File) (frames []schema.Frame, last error) {
	for frame, err := range f.Frames() {
		if err != nil {
			return frames, err
		}
		frames = append(frames, frame)
	}
	return frames, nil
}

func mustRead(t *testing.T, path string) []schema.Frame {
	t.Helper()
	f, err := Open(path)
	require.NoError(t, err)
	frames, err := collect(f)
	require.NoError(t, err)
	return frames
}

// short writes frames as "seq from type data".
func short(frames []schema.Frame) string {
	var b strings.Builder
	for _, f := range frames {
		fmt.Fprintf(&b, "%d %s %s %s\n", f.Seq, f.From, f.Type, f.Data)
	}
	return b.String()
}

const (
	open  = `control open {"protocol":"acp","tap":"import"}` + "\n"
	shut  = `control close {"reason":"eof"}` + "\n"
	ask   = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`
	reply = `{"jsonrpc":"2.0","id":1,"result":{}}`
)

func TestBracketIsPutAroundAFileThatHasNone(t *testing.T) {
	path := write(t, `{"from":"client","at":"2026-01-01T00:00:00Z","text":"a"}`+"\n\n"+`{"from":"agent","at":"2026-01-01T00:00:09Z","text":"b"}`)
	frames := mustRead(t, path)
	require.Equal(t, "1 "+open+"2 client data a\n3 agent data b\n4 "+shut, short(frames))
	require.Equal(t, schema.Frame{
		Seq: 1, At: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), From: "control", Type: "open", Protocol: "acp", End: "none",
		Data: []byte(`{"protocol":"acp","tap":"import"}`),
	}, frames[0])
	require.Equal(t, schema.Frame{
		Seq: 4, At: time.Date(2026, 1, 1, 0, 0, 9, 0, time.UTC), From: "control", Type: "close", Protocol: "acp", End: "none",
		Data: []byte(`{"reason":"eof"}`),
	}, frames[3])
}

func TestBracketOfTheFileIsKept(t *testing.T) {
	opened := `{"type":"open","text":"{\"protocol\":\"a2a\",\"peer\":\"p\"}"}` + "\n"
	exchange := `{"from":"client","exchange":"e","no":1,"chan":"request","http":{"method":"POST"},"text":"x"}` + "\n" +
		`{"type":"close","exchange":"e","text":"{\"reason\":\"eof\",\"exchange\":\"e\"}"}` + "\n"
	closed := `{"type":"close","text":"{\"reason\":\"operator\"}"}` + "\n"

	f, err := Open(write(t, opened+exchange+closed+`{"from":"agent","text":"late"}`))
	require.NoError(t, err)
	require.Equal(t, schema.A2A, f.Protocol())
	frames, err := collect(f)
	require.NoError(t, err)
	require.Equal(t, `1 control open {"protocol":"a2a","peer":"p"}
2 client data x
3 control close {"reason":"eof","exchange":"e"}
4 control close {"reason":"operator"}
5 agent data late
`, short(frames))
	require.Equal(t, schema.Frame{
		Seq: 2, At: time.UnixMilli(2).UTC(), From: "client", Type: "data", Protocol: "a2a", End: "none",
		Exchange: "e", No: 1, Chan: "request", HTTP: []byte(`{"method":"POST"}`), Data: []byte("x"),
	}, frames[1])

	// The close of an exchange does not close the capture.
	frames = mustRead(t, write(t, opened+exchange))
	require.Equal(t, `4 control close {"reason":"eof"}`+"\n", short(frames[3:]))
}

func TestStoredNumbersAndHashesAreLeftBehind(t *testing.T) {
	frames := mustRead(t, write(t, `{"seq":500,"from":"client","text":"a","blob":"`+strings.Repeat("b", 64)+`","salt":"`+
		strings.Repeat("0", 32)+`","writer":"j:7","chain":"`+strings.Repeat("c", 64)+`"}`))
	require.Equal(t, schema.Frame{
		Seq: 2, At: time.UnixMilli(500).UTC(), From: "client", Type: "data", Protocol: "acp", End: "lf", Data: []byte("a"),
	}, frames[1])
}

func TestEveryReadingIsTheSame(t *testing.T) {
	path := write(t, ask+"\n"+reply+"\n")
	f, err := Open(path)
	require.NoError(t, err)
	first, err := collect(f)
	require.NoError(t, err)
	second, err := collect(f)
	require.NoError(t, err)
	require.Equal(t, first, second)
	sum := sha256.Sum256([]byte(ask + "\n" + reply + "\n"))
	require.Equal(t, hex.EncodeToString(sum[:]), f.SHA256())
	require.Equal(t, schema.RunOf(f.SHA256()), f.Run())

	// The name and place of a file are not in its frames.
	other := filepath.Join(t.TempDir(), "x.json")
	require.NoError(t, os.Rename(path, other))
	require.Equal(t, first, mustRead(t, other))
}

func TestTakerMayStop(t *testing.T) {
	f, err := Open(write(t, ask+"\n"+reply+"\n"))
	require.NoError(t, err)
	for stop := 1; stop <= 4; stop++ {
		n := 0
		for _, err := range f.Frames() {
			require.NoError(t, err)
			if n++; n == stop {
				break
			}
		}
		require.Equal(t, stop, n)
	}
}

func TestFileThatChangesIsNotClosed(t *testing.T) {
	path := write(t, ask+"\n"+reply+"\n")
	f, err := Open(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(ask+"\n"+strings.Replace(reply, "{}", "[]", 1)+"\n"), 0o600))
	frames, err := collect(f)
	require.ErrorIs(t, err, ErrChanged)
	require.Len(t, frames, 3)
	require.NoError(t, os.Remove(path))
	frames, err = collect(f)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.Empty(t, frames)
}

func TestBreakInTheMiddleKeepsWhatStandsBefore(t *testing.T) {
	for name, c := range map[string]struct{ content, want string }{
		"capture file": {`{"from":"client","text":"a"}` + "\n" + `{"from":"agent","text":"b"}` + "\n" + `{"from":"age`, ":3: want a JSON object"},
		"lines":        {ask + "\n" + reply + "\n" + `{"jsonrpc":"2.0","meth`, ":3: want one JSON-RPC message a line"},
		"export":       {`{"messages":[` + msg(1, toAgent) + ",\n" + msg(2, toEditor) + ",\n" + `{"seq":3,"raw":"x`, ":3: message 3 (seq 3): "},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, c.content)
			f, err := Open(path)
			require.NoError(t, err)
			frames, err := collect(f)
			require.ErrorContains(t, err, path+c.want)
			require.Len(t, frames, 3) // open and two
			require.Equal(t, schema.FromAgent, frames[2].From)
		})
	}
}

func TestWhatIsNoneOfTheFormats(t *testing.T) {
	for name, c := range map[string]struct{ content, want string }{
		"empty":              {"", ": the file has no frames"},
		"only a mark":        {"\xEF\xBB\xBF", ": the file has no frames"},
		"blank":              {"\n \r\n\t\n", ": the file has no frames"},
		"binary":             {"\n\x89PNG\r\n\x1a\n\x00\x00", `:2: want a steno capture file`},
		"one long binary":    {strings.Repeat("\x00", 1<<20), `the line begins with "\x00`},
		"text":               {"hello\n", `the line begins with "hello\n"`},
		"page":               {"<html>\n", `the line begins with "<html>\n"`},
		"other object":       {"\n\n{\"a\":1,\"messages\":{}}", `:3: want a steno capture file`},
		"cut before a word":  {"{\n\"version\": 1,\n\"to", `:3: want a steno capture file`},
		"array":              {"[\n{}]", `:1: want one JSON-RPC message a line`},
		"export, no message": {`{"messages":[]}`, `: the file has no frames`},
		"first frame broken": {`{"from":"client"}`, `:1: the line has neither text nor b64`},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, c.content)
			_, err := Open(path)
			require.ErrorContains(t, err, path)
			require.ErrorContains(t, err, c.want)
			require.Equal(t, strings.Contains(c.want, "no frames"), strings.Contains(err.Error(), ErrEmpty.Error()))
		})
	}
	_, err := Open(t.TempDir())
	require.ErrorContains(t, err, "want a regular file")
	_, err = Open(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestBytesInABlobAreNotInTheFile(t *testing.T) {
	f, err := Open(write(t, `{"from":"client","text":"a"}`+"\n"+`{"from":"agent","blob":"`+strings.Repeat("b", 64)+`"}`))
	require.NoError(t, err)
	frames, err := collect(f)
	require.ErrorContains(t, err, ":2: its bytes are in blob bbbb")
	require.Len(t, frames, 2)
	_, err = Open(write(t, `{"from":"client","text":"a"}`+"\n"))
	require.NoError(t, err)
}

func TestCloseFrameMustBeReadable(t *testing.T) {
	f, err := Open(write(t, `{"from":"client","text":"a"}`+"\n"+`{"type":"close","text":"{\"exchange\":1}"}`))
	require.NoError(t, err)
	_, err = collect(f)
	require.ErrorContains(t, err, ":2: the payload of a close frame")
}

func TestErrorsOfA2AFilesNameLineAndWhatWasExpected(t *testing.T) {
	first := `{"from":"client","protocol":"a2a","exchange":"e","chan":"request","text":"{}"}` + "\n"
	for name, c := range map[string]struct{ line, want string }{
		"unknown chan":      {`{"from":"agent","exchange":"e","chan":"sse","text":""}`, `chan "sse": want request, response, stream, push or card`},
		"no exchange":       {`{"from":"agent","chan":"stream","text":""}`, `member "exchange" is missing: want the id of the HTTP exchange that this stream belongs to`},
		"odd exchange":      {`{"from":"agent","exchange":"a b","chan":"stream","text":""}`, `exchange`},
		"stderr":            {`{"from":"stderr","exchange":"e","text":""}`, `from "stderr": want client or agent`},
		"no of text":        {`{"from":"agent","exchange":"e","no":"1","chan":"stream","text":""}`, `member "no": want a JSON number, got "1"`},
		"http of text":      {`{"from":"agent","exchange":"e","chan":"response","http":"200","text":""}`, `member "http": want a JSON object, got "200"`},
		"http evidence":     {`{"type":"http","exchange":"e","text":"[]"}`, `the payload of a http frame: want one JSON object, got []`},
		"ACP in between":    {`{"from":"agent","protocol":"acp","text":""}`, `one file is one capture of one protocol`},
		"close of nonsense": {`{"type":"close","exchange":"e","text":"{\"exchange\":1}"}`, `the payload of a close frame`},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, first+c.line+"\n")
			f, err := Open(path)
			require.NoError(t, err)
			_, err = collect(f)
			require.ErrorContains(t, err, path+":2: ")
			require.ErrorContains(t, err, c.want)
		})
	}
	path := write(t, `{"from":"client","exchange":"e","chan":"request","text":"{}"}`+"\n")
	_, err := Open(path)
	require.ErrorContains(t, err, path+`:1: exchange, no, chan and http are members of A2A frames, and the file is of ACP: want "protocol":"a2a" on its first line`)
}
