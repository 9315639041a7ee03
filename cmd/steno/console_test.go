package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/postgres/pgtest"
)

// served is a process that serves a console.
type served struct {
	t    *testing.T
	cmd  *exec.Cmd
	url  string
	said *bufio.Scanner
}

// startServing starts a command with a console and waits until it says where that is.
func startServing(t *testing.T, args ...string) *served {
	t.Helper()
	s := &served{t: t, cmd: stenoCommand(minute(t), args...)}
	errs, err := s.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, s.cmd.Start())
	s.said = bufio.NewScanner(errs)
	s.url = s.hears("console on ")
	return s
}

// hears waits for a line and gives what stands behind the words.
func (s *served) hears(words string) string {
	s.t.Helper()
	for s.said.Scan() {
		if _, rest, ok := strings.Cut(s.said.Text(), words); ok {
			return rest
		}
	}
	require.Fail(s.t, "it never says "+words)
	return ""
}

func (s *served) get(path string) (status int, body string) {
	s.t.Helper()
	response, err := http.Get(s.url + path) //nolint:noctx // the test ends it
	require.NoError(s.t, err)
	data, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	require.NoError(s.t, response.Body.Close())
	return response.StatusCode, string(data)
}

// rows are the list's, as ls --json prints them.
func (s *served) rows() string {
	s.t.Helper()
	_, body := s.get("/v1/transcripts")
	var list struct{ Transcripts []json.RawMessage }
	require.NoError(s.t, json.Unmarshal([]byte(body), &list))
	var b strings.Builder
	for _, row := range list.Transcripts {
		b.WriteString(string(row) + "\n")
	}
	return b.String()
}

// stop ends it as an operator does.
func (s *served) stop() {
	s.t.Helper()
	require.NoError(s.t, s.cmd.Process.Signal(syscall.SIGTERM))
	for s.said.Scan() { // its last words
	}
	require.NoError(s.t, s.cmd.Wait())
}

// What up serves is what the other commands print; streams end when it is stopped.
func TestUpServesTheConsole(t *testing.T) {
	data := t.TempDir()
	up := startServing(t, "up", "--data", data, "--listen", "127.0.0.1:0")
	ok(t, "import", "--data", data, "testdata/sacks.jsonl")
	rows := ok(t, "ls", "--data", data, "--json")
	require.Equal(t, rows, up.rows())
	var newest sink.Summary
	require.NoError(t, json.Unmarshal([]byte(rows[:strings.IndexByte(rows, '\n')]), &newest))
	at := "/v1/transcripts/" + newest.Key
	_, page := up.get(at + "/events")
	shown := strings.Split(strings.TrimSpace(ok(t, "show", "--data", data, "--json", newest.Key)), "\n")
	require.True(t, strings.HasPrefix(page, `{"events":[`+strings.Join(shown, ",")+`],"next_after":`))
	_, text := up.get(at + "/stream?until=end")
	require.Equal(t, len(shown), strings.Count(text, "event: event\n"))
	require.True(t, strings.HasSuffix(text, "event: end\ndata: {\"status\":\"ended\",\"head\":22}\n\n"))

	_, _, code := steno(t, "up", "--data", t.TempDir(), "--listen", strings.TrimPrefix(up.url, "http://"))
	require.Equal(t, exitRuntime, code)
	_, said, _ := steno(t, "console", "--data", t.TempDir(), "--listen", strings.TrimPrefix(up.url, "http://"))
	require.Contains(t, said, "something serves on 127.0.0.1:")
	require.Contains(t, said, "--listen 127.0.0.1:0 takes any free port")

	response, err := http.Get(up.url + at + "/stream") //nolint:noctx // stopping ends it
	require.NoError(t, err)
	up.stop()
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(t, err, "the stream ends in good order")
	require.NoError(t, response.Body.Close())
	require.Contains(t, ok(t, "verify", "--data", data), "0 unaccounted")
}

// A console without an up runs the pipeline itself, hands it over to one, and goes on.
func TestAConsoleOutlivesTheHolder(t *testing.T) {
	data := t.TempDir()
	ok(t, "import", "--data", data, "testdata/sacks.jsonl")
	console := startServing(t, "console", "--data", data, "--listen", "127.0.0.1:0", "--namespace", "default")
	rows := console.rows()
	require.Equal(t, 2, strings.Count(rows, "\n"))
	up := startServing(t, "up", "--data", data, "--listen", "127.0.0.1:0", "--allow-host", "mill.test")
	require.Equal(t, rows, up.rows())
	ok(t, "import", "--data", data, "--namespace", "foreign", "--run", "r", "testdata/sacks.jsonl")
	require.Equal(t, 4, strings.Count(up.rows(), "\n"))
	require.Equal(t, rows, console.rows())
	key := "/v1/transcripts/foreign/import/r/0/1/1"
	status, _ := up.get(key)
	require.Equal(t, http.StatusOK, status)
	status, foreign := console.get(key)
	require.Equal(t, http.StatusNotFound, status)
	_, unknown := console.get("/v1/transcripts/default/import/r/0/1/1")
	require.Equal(t, unknown, foreign)
	status, ready := console.get("/readyz")
	require.Equal(t, http.StatusOK, status, ready)
	up.stop()
	console.stop()
}

func TestTheConsoleOfACluster(t *testing.T) {
	s, database := natstest.Start(t), pgtest.Database(t)
	startWorker(t, "translate", s.URL(), "--lease", "1s")
	startWorker(t, "sink", s.URL(), "--ledger", database)
	there := []string{"--nats", s.URL(), "--ledger", database}
	ok(t, "import", "--nats", s.URL(), "testdata/sacks.jsonl")
	ok(t, append([]string{"verify"}, there...)...) // waits until all is numbered
	console := startServing(t, append([]string{"console", "--listen", "127.0.0.1:0"}, there...)...)
	require.Equal(t, ok(t, append([]string{"ls", "--json"}, there...)...), console.rows())
	console.stop()
}

func TestTheDemoLeavesTheConsoleOpen(t *testing.T) {
	demo := startServing(t, "demo", "--data", t.TempDir(), "--speed", "0", "--keep", "--listen", "127.0.0.1:0")
	require.Contains(t, demo.rows(), `"agent":"orders"`)
	demo.stop()
}

func TestWhereAConsoleListens(t *testing.T) {
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"console", "--listen", "off"}, "want host:port"},
		{[]string{"up", "--listen", "7070"}, "or off"},
		{[]string{"demo", "--keep", "--listen", "x:y"}, "or off"},
		{[]string{"console", "--namespace", "a/b"}, "--namespace"},
		{[]string{"console", "--grace", "-1s"}, "--grace"},
		{[]string{"console", "--nats", "nats://127.0.0.1:1"}, "which database?"},
	} {
		_, said, code := steno(t, tt.args...)
		require.Equal(t, exitUsage, code, said)
		require.Contains(t, said, tt.says)
	}
	all, err := net.Listen("tcp", "0.0.0.0:0")
	require.NoError(t, err)
	defer all.Close() //nolint:errcheck // nothing came
	var said bytes.Buffer
	(&app{stdio: stdio{err: &said}}).sayOpen("console", all)
	require.Contains(t, said.String(), "steno console: warning: other machines reach")
}
