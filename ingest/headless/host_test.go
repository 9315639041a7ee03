package headless

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// What was not advertised is refused, and both are kept.
func TestUnadvertisedRequestsAreRefused(t *testing.T) {
	t.Parallel()
	methods := []string{
		"fs/read_text_file", "fs/write_text_file", "terminal/create", "terminal/output", "terminal/wait_for_exit",
		"terminal/kill", "terminal/release", "elicitation/create", "mcp/message", "_vendor/ask", "cursor/ask", "session/prompt",
	}
	var steps []string
	want := ""
	for i, method := range methods {
		steps = append(steps, `ask `+method+` {"sessionId":"s-1","path":"/etc/passwd"}`)
		want += fmt.Sprintf(`["q%d": -32601]`, i+1)
	}
	o := options(t, ended(steps...))
	r, err := try(t, o)
	require.NoError(t, err)
	require.Equal(t, want, r.Text)
	for i, method := range methods {
		asked, refused := kept(o).at("agent", `"method":"`+method+`"`), kept(o).at("client", fmt.Sprintf(`"id":"q%d"`, i+1))
		require.GreaterOrEqual(t, asked, 0)
		require.Less(t, asked, refused)
	}
	require.Contains(t, kept(o).data[schema.FromClient], `"message":"this client does not advertise the capability serving this method"`)
}

// What an agent asks for when its turn has ended nobody does, whether it was advertised or not.
func TestNothingIsServedBehindTheEnd(t *testing.T) {
	t.Parallel()
	o := options(t, nil)
	o.FS, o.Terminal = true, true
	o.Command = append(o.Command, ended(`ask fs/write_text_file {"sessionId":"s-1","path":"`+o.Cwd+`/within","content":"x"}`)...)
	o.Command = append(o.Command,
		`post 7 fs/write_text_file {"sessionId":"s-1","path":"`+o.Cwd+`/behind","content":"x"}`,
		`post 8 terminal/create {"sessionId":"s-1","command":"touch","args":["`+o.Cwd+`/started"]}`)
	_, err := try(t, o)
	require.NoError(t, err)
	require.GreaterOrEqual(t, kept(o).at("agent", "started"), 0, "it is recorded")
	files, err := filepath.Glob(o.Cwd + "/*")
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(o.Cwd, "within")}, files)
}

// One capability does not bring the other.
func TestCapabilitiesAreApart(t *testing.T) {
	t.Parallel()
	for fs, want := range map[bool]string{true: `["q1": -32002]["q2": -32601]`, false: `["q1": -32601]["q2": -32002]`} {
		o := options(t, nil)
		o.FS, o.Terminal = fs, !fs
		o.Command = append(o.Command, ended(
			`ask fs/read_text_file {"sessionId":"s-1","path":"`+filepath.Join(o.Cwd, "none")+`"}`,
			`ask terminal/output {"sessionId":"s-1","terminalId":"none"}`)...)
		r, err := try(t, o)
		require.NoError(t, err)
		require.Equal(t, want, r.Text)
		require.Contains(t, kept(o).data[schema.FromClient],
			fmt.Sprintf(`{"fs":{"readTextFile":%t,"writeTextFile":%t},"terminal":%t}`, fs, fs, !fs))
	}
}

func openTestHost(t *testing.T) (*host, Options) {
	t.Helper()
	o := options(t, nil)
	h, err := openHost(o)
	require.NoError(t, err)
	h.most = 1000
	t.Cleanup(func() { h.killAll(); require.NoError(t, h.close()) })
	return h, o
}

// params makes a request's params.
func params(t *testing.T, v object) *client {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	c := &client{}
	_, err = c.reader.Read(text)
	require.NoError(t, err)
	return c
}

func TestReadTextFile(t *testing.T) {
	t.Parallel()
	h, o := openTestHost(t)
	write(t, o, "sacks.txt", "one\ntwo\nthree\nfour")
	write(t, o, "empty.txt", "")
	write(t, o, "image.png", "\x89PNG\xff")
	write(t, o, "long.txt", strings.Repeat("x", h.most+1))
	require.NoError(t, os.Mkdir(filepath.Join(o.Cwd, "store"), 0o700))
	require.NoError(t, syscall.Mkfifo(filepath.Join(o.Cwd, "pipe"), 0o600))
	require.NoError(t, os.Symlink("sacks.txt", filepath.Join(o.Cwd, "inner")))
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(o.Cwd, "link")))
	require.NoError(t, os.Symlink("/etc", filepath.Join(o.Cwd, "etc")))
	require.NoError(t, os.Symlink("..", filepath.Join(o.Cwd, "up")))
	for _, test := range []struct {
		path        string // under the directory, if it is not absolute
		line, limit any
		want        string
		code        int
	}{
		{path: "sacks.txt", want: "one\ntwo\nthree\nfour"},
		{path: "inner", want: "one\ntwo\nthree\nfour"},
		{path: "store/../sacks.txt", want: "one\ntwo\nthree\nfour"},
		{path: "sacks.txt", line: 2, want: "two\nthree\nfour"},
		{path: "sacks.txt", line: 0, limit: 1, want: "one\n"},
		{path: "sacks.txt", line: 2, limit: 2, want: "two\nthree\n"},
		{path: "sacks.txt", line: 4, limit: 9, want: "four"},
		{path: "sacks.txt", line: 5, want: ""},
		{path: "sacks.txt", limit: 0, want: ""},
		{path: "empty.txt", want: ""},
		{path: "sacks.txt", line: -1, code: -32602},
		{path: "sacks.txt", limit: "2", code: -32602},
		{path: "none.txt", code: -32002},
		{path: "store", code: -32603},
		{path: "pipe", code: -32603},
		{path: "image.png", code: -32603},
		{path: "long.txt", code: -32603},
		{path: "link", code: -32603},
		{path: "etc/passwd", code: -32603},
		{path: "up/x", code: -32603},
		{path: "/etc/passwd", code: -32602},
		{path: "..", code: -32602},
		{path: "../x", code: -32602},
		{path: "store/../../x", code: -32602},
	} {
		t.Run(fmt.Sprint(test.path, test.line, test.limit), func(t *testing.T) {
			path := test.path
			if !filepath.IsAbs(path) {
				path = o.Cwd + "/" + path
			}
			v := object{"path": path}
			if test.line != nil {
				v["line"] = test.line
			}
			if test.limit != nil {
				v["limit"] = test.limit
			}
			result, bad := h.readText(params(t, v).reader.Root())
			if test.code != 0 {
				require.NotNil(t, bad, "%v", result)
				require.Equal(t, test.code, bad.Code, bad.Message)
				return
			}
			require.Nil(t, bad)
			require.Equal(t, object{"content": test.want}, result)
		})
	}
	for _, path := range []any{"sacks.txt", "", 7, nil} {
		_, bad := h.readText(params(t, object{"path": path}).reader.Root())
		require.NotNil(t, bad)
		require.Equal(t, -32602, bad.Code)
	}
}

func TestWriteTextFile(t *testing.T) {
	t.Parallel()
	h, o := openTestHost(t)
	write(t, o, "sacks.txt", "a long text that was there before")
	outside := filepath.Join(t.TempDir(), "outside")
	require.NoError(t, os.WriteFile(outside, []byte("safe"), 0o600))
	require.NoError(t, os.Symlink(outside, filepath.Join(o.Cwd, "link")))
	require.NoError(t, os.Symlink(filepath.Dir(outside), filepath.Join(o.Cwd, "out")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(o.Cwd, "pipe"), 0o600))
	for path, code := range map[string]int{
		"sacks.txt": 0, "new.txt": 0, "store/deep/new.txt": 0,
		"link": -32603, "out/outside": -32603, "out/new/x": -32603, "pipe": -32603, ".": -32603,
		"../x": -32602, outside: -32602,
	} {
		full := path
		if !filepath.IsAbs(path) {
			full = o.Cwd + "/" + path
		}
		_, bad := h.writeText(params(t, object{"path": full, "content": "14 – café\n"}).reader.Root())
		if code != 0 {
			require.NotNil(t, bad, path)
			require.Equal(t, code, bad.Code, bad.Message)
			continue
		}
		require.Nil(t, bad, path)
		text, err := os.ReadFile(full)
		require.NoError(t, err)
		require.Equal(t, "14 – café\n", string(text))
	}
	text, err := os.ReadFile(outside)
	require.NoError(t, err)
	require.Equal(t, "safe", string(text))
	list, err := os.ReadDir(filepath.Dir(outside))
	require.NoError(t, err)
	require.Len(t, list, 1)
	for _, content := range []any{nil, 7, strings.Repeat("x", h.most+1)} {
		_, bad := h.writeText(params(t, object{"path": o.Cwd + "/sacks.txt", "content": content}).reader.Root())
		require.NotNil(t, bad)
		require.Equal(t, -32602, bad.Code)
	}
}

// A directory that is given by a link is served by either name.
func TestDirectoryBehindALink(t *testing.T) {
	t.Parallel()
	o := options(t, nil)
	real := o.Cwd
	write(t, o, "sacks.txt", "14")
	o.Cwd = filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(real, o.Cwd))
	h, err := openHost(o)
	require.NoError(t, err)
	defer func() { require.NoError(t, h.close()) }()
	for _, top := range []string{o.Cwd, real} {
		_, bad := h.readText(params(t, object{"path": top + "/sacks.txt"}).reader.Root())
		require.Nil(t, bad)
	}
	o.Cwd = "."
	_, err = openHost(o)
	require.ErrorContains(t, err, "not absolute")
}

func TestTerminal(t *testing.T) {
	t.Parallel()
	o := options(t, nil)
	o.Terminal = true
	ask := func(method, members string) string {
		return "ask terminal/" + method + ` {"sessionId":"s-1"` + members + "}"
	}
	const first = `,"terminalId":"terminal-1"`
	o.Command = append(o.Command, ended(
		ask("create", `,"command":"sh","args":["-c","printf \"$SACKS in \"; pwd >&2; exit 3"],"env":[{"name":"SACKS","value":"14"}],"cwd":"`+o.Cwd+`"`),
		ask("wait_for_exit", first), ask("output", first), ask("kill", first), ask("release", first), ask("output", first),
		ask("create", `,"command":"sleep","args":["600"]`), ask("output", `,"terminalId":"terminal-2"`),
		`post 7 terminal/wait_for_exit {"sessionId":"s-1","terminalId":"terminal-2"}`,
		`line {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":7}}`, "hear",
		`post 8 terminal/wait_for_exit {"sessionId":"s-1","terminalId":"terminal-2"}`,
		`line {"jsonrpc":"2.0","id":9,"method":"terminal/kill","params":{"terminalId":"terminal-2"}}`, "hear", "hear",
		ask("create", `,"command":"no-such-command-here"`), ask("create", `,"command":"true","cwd":"/"`), ask("create", `,"args":[]`),
		ask("create", `,"command":"true","args":[1]`), ask("create", `,"command":"true","env":[{"name":"x"}]`), ask("create", `,"command":"true","outputByteLimit":-1`),
	)...)
	r, err := try(t, o)
	require.NoError(t, err)
	real, err := filepath.EvalSymlinks(o.Cwd)
	require.NoError(t, err)
	require.Contains(t, r.Text, `["q1": {"terminalId":"terminal-1"}]["q2": {"exitCode":3,"signal":null}]`+
		`["q3": {"exitStatus":{"exitCode":3,"signal":null},"output":"14 in `+real+`\n","truncated":false}]["q4": {}]["q5": {}]["q6": -32002]`+
		`["q7": {"terminalId":"terminal-2"}]["q8": {"output":"","truncated":false}][7: -32800]`)
	require.Contains(t, r.Text, `[9: {}]`)
	require.Contains(t, r.Text, `[8: {"exitCode":null,"signal":"SIGKILL"}]`)
	require.True(t, strings.HasSuffix(r.Text, `["q9": -32002]["q10": -32602]["q11": -32602]["q12": -32602]["q13": -32602]["q14": -32602]`), r.Text)
}

// Terminals that nobody has released end with the run, and all that was started in them.
func TestTerminalsAreKilledAtTheEnd(t *testing.T) {
	t.Parallel()
	o := options(t, nil)
	o.Terminal = true
	o.Command = append(o.Command, ended(
		`ask terminal/create {"sessionId":"s-1","command":"sh","args":["-c","sleep 600 & echo $! > child; echo $$ > shell; wait"]}`,
		`ask terminal/create {"sessionId":"s-1","command":"sh","args":["-c","sleep 600 & echo $! > orphan"]}`,
		`ask terminal/wait_for_exit {"sessionId":"s-1","terminalId":"terminal-2"}`,
		`ask terminal/create {"sessionId":"s-1","command":"sh","args":["-c","until test -s shell; do sleep 0.02; done"]}`,
		`ask terminal/wait_for_exit {"sessionId":"s-1","terminalId":"terminal-3"}`)...)
	_, err := try(t, o)
	require.NoError(t, err)
	for _, name := range []string{"child", "shell", "orphan"} {
		text, err := os.ReadFile(filepath.Join(o.Cwd, name))
		require.NoError(t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		require.NoError(t, err)
		require.Eventually(t, func() bool { return gone(pid) }, 20*time.Second, 5*time.Millisecond, name)
	}
}

func TestTerminalsAreBounded(t *testing.T) {
	t.Parallel()
	h, o := openTestHost(t)
	require.NoError(t, os.Symlink("/", filepath.Join(o.Cwd, "out")))
	_, bad := h.create(params(t, object{"command": "true", "cwd": o.Cwd + "/out/etc"}).reader.Root())
	require.NotNil(t, bad)
	require.Equal(t, -32602, bad.Code)
	for range maxTerminals {
		_, bad := h.create(params(t, object{"command": "true"}).reader.Root())
		require.Nil(t, bad)
	}
	_, bad = h.create(params(t, object{"command": "true"}).reader.Root())
	require.NotNil(t, bad)
	_, bad = h.release(params(t, object{"terminalId": "terminal-1"}).reader.Root())
	require.Nil(t, bad)
	_, bad = h.create(params(t, object{"command": "true"}).reader.Root())
	require.Nil(t, bad)
	h.killAll()
	_, bad = h.create(params(t, object{"command": "true"}).reader.Root())
	require.NotNil(t, bad, "none after the end")
	require.Contains(t, bad.Message, "the run has ended")
}

func TestScreen(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		limit     int
		pieces    []string
		want      string
		truncated bool
		ended     bool
	}{
		"all":                     {8, []string{"abc", "def"}, "abcdef", false, false},
		"exactly":                 {6, []string{"abc", "def"}, "abcdef", false, false},
		"the end":                 {4, []string{"abc", "def"}, "cdef", true, false},
		"long since":              {4, []string{strings.Repeat("x", 1000), "abc"}, "xabc", true, false},
		"nothing":                 {0, []string{"abc"}, "", true, false},
		"between characters":      {4, []string{"aé😀"}, "😀", true, false},
		"in a character":          {5, []string{"é😀"}, "😀", true, false},
		"a character in pieces":   {8, []string{"caf\xc3", "\xa9"}, "café", false, false},
		"half a character so far": {8, []string{"caf\xc3"}, "caf", false, false},
		"half a character ever":   {8, []string{"caf\xc3"}, "caf\uFFFD", false, true},
		"no UTF-8":                {8, []string{"a\xffb"}, "a\uFFFDb", false, false},
		"no character at all":     {8, []string{"\xbf\xbf\xbf\xbf\xbf"}, "\uFFFD", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &screen{limit: test.limit}
			for _, p := range test.pieces {
				n, err := s.Write([]byte(p))
				require.NoError(t, err)
				require.Equal(t, len(p), n)
			}
			text, truncated := s.text(!test.ended)
			require.Equal(t, test.want, text)
			require.Equal(t, test.truncated, truncated)
			require.LessOrEqual(t, len(s.held), 2*test.limit)
		})
	}
}
