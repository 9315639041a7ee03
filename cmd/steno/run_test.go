package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/headless"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
)

// runCommand asks the test agent.
func runCommand(t *testing.T, data, prompt string, flags ...string) *exec.Cmd {
	t.Helper()
	args := append([]string{"run", "--data", data, "--cwd", t.TempDir(), "--prompt", prompt}, flags...)
	return stenoCommand(t.Context(), append(args, "--", "env", "-u", asSteno, asAgent+"=exit", os.Args[0])...)
}

// ran waits for a run and gives what it printed, and how it ended.
func ran(t *testing.T, cmd *exec.Cmd) (r runResult, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
	}
	printed(t, out.String(), &r)
	return r, errs.String(), cmd.ProcessState.ExitCode()
}

func printed(t *testing.T, line string, r *runResult) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(line))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(r), line)
	require.Equal(t, 1, strings.Count(line, "\n"), "one object")
}

func TestRunIsRecordedAsAnEditorsConversation(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	r, stderr, code := ran(t, runCommand(t, data, "How many sacks?", "--permissions", "allow-once", "--label", "team=oats", "--workflow", "mill"))
	require.Zero(t, code, stderr)
	require.Contains(t, stderr, "mill agent: ready\n", "the agent's stderr is passed on")
	require.Equal(t, runResult{
		Text: "There are 14 sacks – café 😀.", FinalMessage: "There are 14 sacks – café 😀.", StopReason: "end_turn",
		SessionID: "s-1", Transcript: r.Transcript,
	}, r)
	require.Regexp(t, `^default/mill/[0-9a-f-]{36}/0/1/1$`, r.Transcript)
	_, _, err := client(t, recordCommand(t, data, "--workflow", "edited"), "How many sacks?")
	require.NoError(t, err)

	var run, edited []string
	var shown string
	for _, s := range list(t, data) {
		require.EqualValues(t, "ended", s.Status)
		if s.Empty {
			continue
		}
		said, lines := &edited, ok(t, "show", "--data", data, "--json", s.Key)
		if s.Key == r.Transcript {
			said, shown = &run, lines
			require.Equal(t, map[string]string{"team": "oats"}, s.Labels)
			require.Equal(t, "mill", s.Agent)
		}
		for _, e := range events(t, lines) {
			what := e.Kind.Tag()
			if raw, ok := e.Kind.(*schema.Raw); ok {
				what += " " + raw.Source
			}
			*said = append(*said, what)
		}
	}
	require.NotEmpty(t, run)
	require.Equal(t, edited, run, "the same events, whoever is the client")
	require.Contains(t, shown, `"source":"session/request_permission/decision","value":{"policy":"allow_once","toolCallId":"t1",`)
	require.Contains(t, shown, `"confirmedBy":"setting"`)
	connection := ok(t, "show", "--data", data, "--json", strings.TrimSuffix(r.Transcript, "/1")+"/0")
	require.Contains(t, connection, `"tap":"run"`)
	require.Contains(t, connection, `"permissions":"allow_once"`)
	require.Contains(t, connection, `"exit_code":0`)
	require.Contains(t, ok(t, "verify", "--data", data), " 0 unaccounted")
}

func TestHowRunsEnd(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	r, stderr, code := ran(t, runCommand(t, data, "die", "--permissions", "deny"))
	require.Equal(t, exitRuntime, code)
	require.Equal(t, "I am go", r.Text)
	require.Empty(t, r.StopReason)
	require.Equal(t, "the agent ended before it answered session/prompt with status 7", r.Error)
	require.Contains(t, stderr, "steno: run: "+r.Error)

	cmd := stenoCommand(t.Context(), "run", "--data", data, "--prompt-file", "-", "--permissions", "deny", "--", "/no/such/agent")
	cmd.Stdin = strings.NewReader("How many sacks?\n")
	r, stderr, code = ran(t, cmd)
	require.Equal(t, exitUnavailable, code, stderr)
	require.Contains(t, r.Error, `start agent "/no/such/agent"`)
	require.Regexp(t, `/0/1/0$`, r.Transcript, "there is no session: the record of the connection says why")

	blocked := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(blocked, nil, 0o600))
	r, stderr, code = ran(t, runCommand(t, blocked, "How many sacks?", "--permissions", "deny", "--when-full", "pass"))
	require.Zero(t, code, stderr)
	require.Contains(t, stderr, "steno run: NOT RECORDING:")
	require.Equal(t, "end_turn", r.StopReason)
	require.Empty(t, r.Transcript)
	out, stderr, code := steno(t, runCommand(t, blocked, "How many sacks?", "--permissions", "deny").Args[1:]...)
	require.Equal(t, exitRuntime, code)
	require.Empty(t, out)
	require.NotContains(t, stderr, "mill agent: ready")
}

func TestASignalCancelsTheTurn(t *testing.T) {
	t.Parallel()
	cmd := runCommand(t, t.TempDir(), "wait", "--permissions", "deny")
	errs, err := cmd.StderrPipe()
	require.NoError(t, err)
	var out bytes.Buffer
	cmd.Stdout = &out
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(errs)
	for lines.Scan() && lines.Text() != "mill agent: waiting" {
	}
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	for lines.Scan() {
	}
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	require.Equal(t, exitRuntime, exit.ExitCode())
	var r runResult
	printed(t, out.String(), &r)
	require.Equal(t, "cancelled", r.StopReason)
	require.Equal(t, "I wait.", r.Text)
}

func TestATimeoutCancelsTheTurn(t *testing.T) {
	t.Parallel()
	r, stderr, code := ran(t, runCommand(t, t.TempDir(), "wait", "--permissions", "deny", "--timeout", "2s"))
	require.Equal(t, exitRuntime, code, stderr)
	require.Contains(t, []string{"cancelled", ""}, r.StopReason, "an agent that was not there yet had no turn")
	require.NotEmpty(t, r.StopReason+r.Error)
}

// A run that is stopped before its agent is started starts none.
func TestASignalBeforeTheAgent(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	in, typing, err := os.Pipe()
	require.NoError(t, err)
	defer func() { require.NoError(t, errors.Join(typing.Close(), in.Close())) }()
	var out, errs bytes.Buffer
	code := make(chan int)
	go func() {
		code <- run(ctx, []string{"run", "--data", t.TempDir(), "--prompt-file", "-", "--permissions", "deny", "--", "false"}, stdio{in, &out, &errs})
	}()
	stop() // nobody types
	require.Equal(t, exitRuntime, <-code)
	require.Contains(t, errs.String(), "run: stopped: nothing was asked yet")
	require.Empty(t, out.String())
	require.ErrorIs(t, unlessStopped(ctx, nil), headless.ErrStopped)
	require.NoError(t, unlessStopped(t.Context(), nil))
}

// A record that could not be kept fails the run, and the result says so.
func TestARecordThatWasNotKept(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	a := &app{out: &output{to: &out}}
	kept := errors.New("sync journal: no room")
	err := a.runEnded(headless.Result{StopReason: "end_turn"}, kept, nil)
	require.Equal(t, exitRuntime, exitCode(err))
	require.ErrorIs(t, err, kept)
	var r runResult
	printed(t, out.String(), &r)
	require.Equal(t, runResult{StopReason: "end_turn", Error: "sync journal: no room"}, r)
}

// Somebody is asked over NATS, and the record says who it was.
func TestRunAsks(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	cmd := runCommand(t, t.TempDir(), "How many sacks?", "--nats", s.URL(), "--workflow", "mill", "--run", "asked",
		"--permissions", "ask", "--ask-fallback", "deny", "--ask-deadline", "5m")
	done := make(chan struct{})
	var r runResult
	var stderr string
	var code int
	go func() {
		defer close(done)
		r, stderr, code = ran(t, cmd)
	}()
	id := schema.Identity{Namespace: "default", Workflow: "mill", Run: "asked", Attempt: 1}
	command := func(n string) []byte {
		return []byte(`{"id":"` + n + `","issued_by":"nobody","kind":{"kind":"RespondToApproval","call_id":"t1","decision":{"decision":"Approve"}}}`)
	}
	require.Eventually(t, func() bool { // the run may not be there yet, nor its agent's question
		m, err := s.NC.Request(schema.InterveneSubject(id, "miller"), command(nats.NewInbox()[len("_INBOX."):]), 5*time.Second)
		return err == nil && string(m.Data) == `{"outcome":"Applied"}`
	}, time.Minute, 20*time.Millisecond)
	<-done
	require.Zero(t, code, stderr)
	require.Equal(t, "end_turn", r.StopReason)

	var around []string // the decision
	for m, err := range topology.Read(t.Context(), s.JS, topology.Raw, schema.RawSubject(id, s.Info.Partitions), 1) {
		require.NoError(t, err)
		f, err := schema.FrameFromHeader(m.Header, m.Data)
		require.NoError(t, err)
		if f.Type == schema.TypeDecision {
			require.Contains(t, string(f.Data), `{"request":0,"approved":true,"by":"miller","intervention":"`)
			around = append(around, "decided")
		} else if bytes.Contains(f.Data, []byte("request_permission")) || bytes.Contains(f.Data, []byte("optionId")) {
			around = append(around, string(f.From))
		}
	}
	require.Equal(t, []string{"agent", "decided", "client"}, around)
}

// Without a NATS of its own a run asks over the steno up of its directory, which is there before it.
func TestRunAsksOverTheDirectory(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	ask := []string{"--workflow", "mill", "--run", "asked", "--permissions", "ask", "--ask-fallback", "deny", "--ask-deadline", "5m"}
	_, said, code := steno(t, runCommand(t, data, "How many sacks?", ask...).Args[1:]...)
	require.Equal(t, exitUnavailable, code)
	require.Contains(t, said, "nobody can be asked: start steno up --data "+data+" before")
	require.NotContains(t, said, "mill agent: ready")

	up := startServing(t, "up", "--data", data, "--listen", "127.0.0.1:0")
	cmd := runCommand(t, data, "How many sacks?", ask...)
	done := make(chan struct{})
	var r runResult
	var stderr string
	go func() {
		defer close(done)
		r, stderr, code = ran(t, cmd)
	}()
	require.Eventually(t, func() bool { // the run may not be there yet, nor its agent's question
		_, _, code := steno(t, "approve", "--data", data, "default/mill/asked/0/1", "--call", "t1")
		return code == exitOK
	}, time.Minute, 20*time.Millisecond)
	<-done
	require.Zero(t, code, stderr)
	require.Equal(t, "end_turn", r.StopReason)
	shown := ok(t, "show", "--data", data, "--json", r.Transcript)
	require.Contains(t, shown, `"policy":"ask","toolCallId":"t1","offered":[{"optionId":"y","name":"Yes","kind":"allow_once"}],"outcome":{"optionId":"y","outcome":"selected"}`)
	require.Contains(t, shown, `"confirmedBy":"user"`)
	up.stop()
}

// An agent of version 2 is asked in its words, and its conversation recorded as any other.
func TestRunSpeaksVersion2(t *testing.T) {
	t.Parallel()
	const agent = `read -r hello; echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2,"info":{"name":"mill","version":"1"},"capabilities":{}}}'
read -r new; echo '{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s-1"}}'
read -r prompt; echo '{"jsonrpc":"2.0","id":2,"result":{"messageId":"u1"}}'
tell() { echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":'"$1"'}}}'; }
tell '"state_update","state":"running"'
tell '"user_message","messageId":"u1","content":[{"type":"text","text":"How many sacks?"}]'
tell '"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"Fifteen?"}'
tell '"agent_message","messageId":"m1","content":[{"type":"text","text":"Fourteen."}]'
tell '"state_update","state":"idle","stopReason":"end_turn"'
read -r none`
	data := t.TempDir()
	r, stderr, code := ran(t, stenoCommand(t.Context(), "run", "--data", data, "--prompt", "How many sacks?", "--permissions", "deny", "--", "sh", "-c", agent))
	require.Zero(t, code, stderr)
	require.Equal(t, runResult{Text: "Fourteen.", FinalMessage: "Fourteen.", StopReason: "end_turn", SessionID: "s-1", Transcript: r.Transcript}, r)
	shown := ok(t, "show", "--data", data, "--json", r.Transcript)
	require.Contains(t, shown, `"dialect":"2"`)
	require.Contains(t, shown, `"role":{"role":"Assistant"},"text":"Fourteen."`)
	require.Equal(t, 1, strings.Count(shown, `"kind":"Stop"`))
	_, said, code := steno(t, "run", "--data", data, "--prompt", "x", "--permissions", "deny", "--acp-version", "1", "--", "sh", "-c", agent)
	require.Equal(t, exitRuntime, code)
	require.Contains(t, said, "this client speaks version 1, the agent answered with version 2")
}

func TestRunUsage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "prompt")
	require.NoError(t, os.WriteFile(file, []byte("caf\xe9"), 0o600))
	for _, tt := range []struct{ args, says string }{
		{"--prompt x --permissions deny", "which agent?"},
		{"--prompt x -- agent", "give --permissions deny, allow-once, allow-always or ask"},
		{"--prompt x --permissions maybe -- agent", `parse policy "maybe"`},
		{"--permissions deny -- agent", "give one of --prompt and --prompt-file"},
		{"--prompt x --prompt-file y --permissions deny -- agent", "give one of --prompt and --prompt-file"},
		{"--prompt-file /no/such/file --permissions deny -- agent", "--prompt-file"},
		{"--prompt-file " + os.DevNull + " --permissions deny -- agent", "--prompt-file: empty"},
		{"--prompt-file " + file + " --permissions deny -- agent", "--prompt-file: not UTF-8"},
		{"--prompt x --cwd /no/such/dir --permissions deny -- agent", "--cwd /no/such/dir"},
		{"--prompt x --cwd " + file + " --permissions deny -- agent", "not a directory"},
		{"--prompt x --permissions deny --ask-fallback deny -- agent", "--ask-fallback is for --permissions ask"},
		{"--prompt x --permissions ask --nats nats://127.0.0.1:1 -- agent", "give --ask-fallback"},
		{"--prompt x --permissions ask --ask-fallback ask -- agent", "ask cannot stand in for itself"},
		{"--prompt x --permissions ask --ask-fallback deny --ask-deadline 0s -- agent", "--ask-deadline"},
		{"--prompt x --permissions deny --when-full perhaps -- agent", "--when-full"},
		{"--prompt x --permissions deny --timeout -1s -- agent", "--timeout"},
		{"--prompt x --permissions deny --acp-version 3 -- agent", "--acp-version 3: want 1 or 2"},
		{"--prompt x --permissions deny --acp-version 2 --fs -- agent", "they are version 1's"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			data := t.TempDir()
			stdout, stderr, code := steno(t, append([]string{"run", "--data", data}, strings.Fields(tt.args)...)...)
			require.Equal(t, exitUsage, code, stderr)
			require.Contains(t, stderr, tt.says)
			require.Empty(t, stdout)
			left, err := os.ReadDir(data)
			require.NoError(t, err)
			require.Empty(t, left, "nothing was begun")
		})
	}
}
