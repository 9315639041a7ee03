package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/postgres/pgtest"
)

// asSteno makes the test binary the command itself, so that tests can start and kill real processes.
const asSteno = "STENO_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asSteno) != "":
		main()
	case os.Getenv(asAgent) != "":
		os.Exit(testAgent(os.Stdin, os.Stdout, os.Stderr))
	default:
		if err := os.Setenv("XDG_CONFIG_HOME", "/nonexistent"); err != nil {
			panic(err)
		}
		os.Exit(pgtest.Main(m))
	}
}

// steno runs a command in this process, where starting one for each would take longer than most commands do; it
// gives the output and the exit code. What is to be killed or sent a signal is started by stenoCommand.
func steno(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context()) // without a deadline, as a command's: with one the client library sets none of its own
	defer cancel(nil)
	late := time.AfterFunc(3*time.Minute, func() { cancel(context.DeadlineExceeded) })
	defer late.Stop()
	in, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer in.Close() //nolint:errcheck // nothing was written to it
	var out, errs spoken
	code = run(ctx, append([]string{}, args...), stdio{in, &out, &errs}) // of none it would take the test's
	return out.String(), errs.String(), code
}

// spoken keeps what a command says, from whichever of its goroutines.
type spoken struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *spoken) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *spoken) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func stenoCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), asSteno+"=1")
	return cmd
}

// ok runs a command that must succeed.
func ok(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, code := steno(t, args...)
	require.Zero(t, code, "steno %v\n%s%s", args, stdout, stderr)
	return stdout
}

func recording(name string) string { return filepath.Join("recordings", name) }

func list(t *testing.T, data string) (all []sink.Summary) {
	t.Helper()
	for line := range strings.Lines(ok(t, "ls", "--data", data, "--json")) {
		var s sink.Summary
		require.NoError(t, json.Unmarshal([]byte(line), &s))
		all = append(all, s)
	}
	return all
}

func events(t *testing.T, ndjson string) (all []schema.Event) {
	t.Helper()
	for line := range strings.Lines(ndjson) {
		e, err := schema.DecodeEvent([]byte(line))
		require.NoError(t, err)
		all = append(all, e)
	}
	return all
}

// durable gives the durable lines of a translation, by session.
func durable(t *testing.T, ndjson string) map[uint32][]string {
	t.Helper()
	by := map[uint32][]string{}
	for line := range strings.Lines(ndjson) {
		e, err := schema.DecodeEvent([]byte(line))
		require.NoError(t, err)
		if !e.Ephemeral {
			by[e.Session] = append(by[e.Session], strings.TrimSuffix(line, "\n"))
		}
	}
	return by
}

// numbered puts the numbers 1, 2, 3 … into a session's durable lines.
func numbered(t *testing.T, lines []string) string {
	t.Helper()
	var b strings.Builder
	for i, line := range lines {
		with, err := schema.WithStoreSeq([]byte(line), uint64(i)+1)
		require.NoError(t, err)
		b.Write(with)
		b.WriteByte('\n')
	}
	return b.String()
}
