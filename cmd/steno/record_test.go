package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/cmd/steno/holder"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
)

// editor talks to an agent as an editor does.
type editor struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Reader
	seen  bytes.Buffer // every byte that it saw
	errs  bytes.Buffer
	id    int // of the next request
}

// edit starts the agent and a session with it.
func edit(t *testing.T, cmd *exec.Cmd) *editor {
	t.Helper()
	e := &editor{t: t, cmd: cmd}
	var err error
	e.in, err = cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = &e.errs
	require.NoError(t, cmd.Start())
	e.lines = bufio.NewReader(io.TeeReader(out, &e.seen))
	e.request(`"method":"initialize","params":{"protocolVersion":1}`)
	e.until(`"id":0`)
	e.request(`"method":"session/new","params":{"cwd":"/mill","mcpServers":[]}`)
	e.until(`"id":1`)
	return e
}

func (e *editor) send(format string, args ...any) {
	e.t.Helper()
	_, err := fmt.Fprintf(e.in, format+"\n", args...)
	require.NoError(e.t, err)
}

func (e *editor) request(members string, args ...any) {
	e.t.Helper()
	e.send(`{"jsonrpc":"2.0","id":%d,%s}`, e.id, fmt.Sprintf(members, args...))
	e.id++
}

func (e *editor) until(part string) {
	for {
		line, err := e.lines.ReadString('\n')
		if strings.Contains(line, part) || err != nil {
			return
		}
	}
}

// begin begins a turn, up to the agent's question.
func (e *editor) begin(prompt string) {
	e.t.Helper()
	e.request(`"method":"session/prompt","params":{"sessionId":"s-1","prompt":[{"type":"text","text":%q}]}`, prompt)
	if prompt != "die" {
		e.until(`request_permission`)
	}
}

// finish allows what the agent asked for, and waits for the end of the turn.
func (e *editor) finish() {
	e.t.Helper()
	e.send(`{"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"y"}}}`)
	e.until(`stopReason`)
}

// leave closes the agent's input and waits for its end.
func (e *editor) leave() error {
	e.t.Helper()
	require.NoError(e.t, e.in.Close())
	_, err := io.Copy(io.Discard, e.lines)
	require.NoError(e.t, err)
	return e.cmd.Wait() // it ends the copying to errs
}

// client holds a whole conversation and gives every byte that it saw.
func client(t *testing.T, cmd *exec.Cmd, prompts ...string) (stdout, stderr string, err error) {
	t.Helper()
	e := edit(t, cmd)
	for _, prompt := range prompts {
		e.begin(prompt)
		if prompt == "die" {
			break
		}
		e.finish()
	}
	err = e.leave()
	return e.seen.String(), e.errs.String(), err
}

func agentCommand() *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asAgent+"=exit")
	return cmd
}

// recordCommand puts steno record in front of the agent.
func recordCommand(t *testing.T, data string, flags ...string) *exec.Cmd {
	args := append([]string{"record", "--data", data}, flags...)
	args = append(args, "--", "env", "-u", asSteno, asAgent+"=exit", os.Args[0])
	cmd := stenoCommand(t.Context(), args...)
	return cmd
}

func TestRecordChangesNothingAndKeepsEverything(t *testing.T) {
	data := t.TempDir()
	bareOut, bareErr, err := client(t, agentCommand(), "How many sacks?", "And now?")
	require.NoError(t, err)
	out, errs, err := client(t, recordCommand(t, data, "--label", "team=oats", "--workflow", "mill"), "How many sacks?", "And now?")
	require.NoError(t, err)
	require.Equal(t, bareOut, out, "the client sees the same bytes as without the tap")
	require.Equal(t, bareErr, errs)

	transcripts := list(t, data)
	require.Len(t, transcripts, 2)
	session := transcripts[0]
	if session.Empty {
		session = transcripts[1]
	}
	require.Equal(t, "mill", session.Agent)
	require.Equal(t, "/mill", session.Cwd)
	require.Equal(t, map[string]string{"team": "oats"}, session.Labels)
	require.Equal(t, "s-1", session.SessionID)
	require.EqualValues(t, "ended", session.Status)
	require.Equal(t, "How many sacks?", session.Title)
	require.Equal(t, "EndTurn", string(session.Stop))

	var said []string
	for _, e := range events(t, ok(t, "show", "--data", data, "--json")) { // without a key, the newest
		if m, ok := e.Kind.(*schema.Message); ok {
			said = append(said, string(m.Role)+"/"+string(m.Channel)+": "+m.Text)
		}
	}
	turn := []string{"Assistant/thought: Let me look.", "Assistant/answer: There are 14 sacks – café 😀."}
	require.Equal(t, append(append([]string{"User/answer: How many sacks?"}, turn...), append([]string{"User/answer: And now?"}, turn...)...), said)

	connection := ok(t, "show", "--data", data, "--json", strings.TrimSuffix(session.Key, "/1")+"/0")
	require.Contains(t, connection, `"source":"stderr"`)
	require.Contains(t, connection, `"source":"acp/noise"`, "the last line, without a line feed")
	require.Contains(t, connection, `"exit_code":0`)
	require.Contains(t, ok(t, "verify", "--data", data), " 0 unaccounted")
}

func TestRecordPassesOnTheExitStatus(t *testing.T) {
	data := t.TempDir()
	_, _, err := client(t, recordCommand(t, data), "die")
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 7, exit.ExitCode())
	connection := list(t, data)[0].Key
	connection = connection[:strings.LastIndexByte(connection, '/')] + "/0"
	require.Contains(t, ok(t, "show", "--data", data, "--json", connection), `"exit_code":7`)
	shown := ok(t, "show", "--data", data, "--json", "s-1")
	require.Contains(t, shown, `"text":"I am go"`)
	require.Contains(t, shown, `"flags":["partial"]`)
}

func TestAKilledTapLosesNothingThatWasPassedOn(t *testing.T) {
	data := t.TempDir()
	cmd := recordCommand(t, data)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())

	transcripts := list(t, data)
	require.Len(t, transcripts, 1)
	require.EqualValues(t, "abandoned", transcripts[0].Status)
	var answers []string
	for _, e := range events(t, ok(t, "show", "--data", data, "--json", "/0")) {
		if raw, ok := e.Kind.(*schema.Raw); ok && raw.Source == "initialize/response" {
			answers = append(answers, string(raw.Value))
		}
	}
	require.Equal(t, []string{strings.TrimSuffix(line, "\n")}, answers)
}

func TestRecordIntoARunningUpIsFollowedLive(t *testing.T) {
	data := t.TempDir()
	up := startUp(t, data)
	defer up.kill(t)
	out, _, err := client(t, recordCommand(t, data), "How many sacks?")
	require.NoError(t, err)
	require.Contains(t, out, "stopReason")
	require.Eventually(t, func() bool {
		return len(list(t, data)) == 2 && list(t, data)[0].Status == "ended"
	}, 20*time.Second, 200*time.Millisecond)
}

// What an outage left in a directory is published by the next tap there, without anybody else.
func TestTheNextTapPublishesWhatAnOutageLeft(t *testing.T) {
	t.Parallel()
	data, s := t.TempDir(), natstest.Start(t)
	s.Stop()
	_, errs, err := client(t, recordCommand(t, data, "--nats", s.URL(), "--workflow", "mill", "--run", "away"), "How many sacks?")
	require.NoError(t, err)
	require.Contains(t, errs, "steno up on "+data+" publishes it, or the next steno record to the same NATS")
	s.Restart(t)
	_, _, err = client(t, recordCommand(t, data, "--nats", s.URL(), "--workflow", "mill", "--run", "back"), "And now?")
	require.NoError(t, err)
	var frames [2]uint64
	for i, run := range []string{"away", "back"} {
		id := schema.Identity{Namespace: "default", Workflow: "mill", Run: run, Attempt: 1}
		m, there, err := topology.Last(t.Context(), s.JS, topology.Raw, schema.RawSubject(id, s.Info.Partitions))
		require.NoError(t, err)
		require.True(t, there, run)
		f, err := schema.FrameFromHeader(m.Header, nil)
		require.NoError(t, err)
		require.Equal(t, schema.TypeClose, f.Type)
		frames[i] = f.Seq
	}
	require.Equal(t, frames[0], frames[1])
}

func TestWhereNothingCanBeRecorded(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(blocked, nil, 0o600)) // a file where the directory should be
	_, errs, err := client(t, recordCommandIn(t, blocked, "--when-full", "pass"), "How many sacks?")
	require.NoError(t, err)
	require.Contains(t, errs, "NOT RECORDING")

	cmd := recordCommandIn(t, blocked)
	output, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(output), "the agent is not started")
	require.NotContains(t, string(output), "mill agent")
}

func recordCommandIn(t *testing.T, data string, flags ...string) *exec.Cmd {
	return recordCommand(t, data, flags...)
}

// process is a steno up that runs beside the test.
type process struct {
	data string
	cmd  *exec.Cmd
	errs *bytes.Buffer
}

func startUp(t *testing.T, data string, flags ...string) *process {
	t.Helper()
	if !slices.Contains(flags, "--listen") { // its port may be another test's
		flags = append(flags, "--listen", "off")
	}
	p := &process{data: data, cmd: stenoCommand(t.Context(), append([]string{"up", "--data", data}, flags...)...), errs: &bytes.Buffer{}}
	p.cmd.Stderr = p.errs
	require.NoError(t, p.cmd.Start())
	return p
}

func (p *process) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Kill())
	_ = p.cmd.Wait() // killed
}

// stop ends it as an operator does, once it holds the directory, and gives its exit code.
func (p *process) stop(t *testing.T) int {
	t.Helper()
	require.Eventually(t, func() bool { // stopped before, it would say by which signal
		address, err := holder.Dir(p.data).ReadAddress()
		return err == nil && address.PID == p.cmd.Process.Pid
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	_ = p.cmd.Wait() // its code says it
	return p.cmd.ProcessState.ExitCode()
}

func TestPassRunsTheAgentWhateverKeepsItFromBeingRecorded(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config.toml")
	require.NoError(t, os.WriteFile(config, []byte("[record]\nlabel = oops"), 0o600))
	for _, flags := range [][]string{
		{"--config", config}, {"--label", "x"}, {"--workflow", "a b"}, {"--log-level", "loud"},
	} {
		cmd := recordCommand(t, t.TempDir(), append(flags, "--when-full", "pass")...)
		out, errs, err := client(t, cmd, "How many sacks?")
		require.NoError(t, err, flags)
		require.Contains(t, errs, "NOT RECORDING", flags)
		require.Contains(t, out, "stopReason", flags)

		output, err := recordCommand(t, t.TempDir(), flags...).CombinedOutput()
		require.Error(t, err)
		require.NotContains(t, string(output), "mill agent", flags)
	}
	t.Setenv("STENO_JOURNAL_MAX", "lots")
	t.Setenv("STENO_WHEN_FULL", "pass")
	_, errs, err := client(t, recordCommand(t, t.TempDir()), "How many sacks?")
	require.NoError(t, err)
	require.Contains(t, errs, "NOT RECORDING: STENO_JOURNAL_MAX")
}

func TestAnAgentThatIsNotFound(t *testing.T) {
	_, stderr, code := steno(t, "record", "--data", t.TempDir(), "--", "no-such-agent")
	require.Equal(t, 127, code)
	require.Contains(t, stderr, "give the agent's full path: desktop programs have no shell PATH")
}
