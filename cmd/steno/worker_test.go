package main

import (
	"bufio"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/files"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink/postgres"
	"github.com/steno-io/steno/sink/postgres/pgtest"
)

// startWorker starts a stage and waits until it says that it serves.
func startWorker(t *testing.T, stage, url string, flags ...string) *exec.Cmd {
	t.Helper()
	cmd := stenoCommand(t.Context(), append([]string{"worker", stage, "--nats", url}, flags...)...)
	errs, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewReader(errs)
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "serves on")
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(io.Discard, lines) // it ends with the process
	}()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-done })
	return cmd
}

// recorded gives the durable events that the streams hold of a capture.
func recorded(t *testing.T, s *natstest.Server, id schema.Identity) string {
	t.Helper()
	var lines strings.Builder
	for m, err := range topology.Read(minute(t), s.JS, topology.Events, schema.EventSubject(id, s.Info.Partitions), 1) {
		require.NoError(t, err)
		lines.Write(m.Data)
	}
	return lines.String()
}

// Workers are killed and stopped while files are imported to a NATS: what they store is the offline
// translation, once.
func TestWorkersOfACluster(t *testing.T) {
	s := natstest.Start(t)
	first := startWorker(t, "translate", s.URL(), "--lease", "1s")
	second := startWorker(t, "translate", s.URL(), "--lease", "1s")
	long := longRecording(t, 1000)
	ok(t, "import", "--nats", s.URL(), recording("goose-1.37.0.json"))
	require.NoError(t, first.Process.Kill())
	require.Error(t, first.Wait())
	ok(t, "import", "--nats", s.URL(), long)
	startWorker(t, "translate", s.URL(), "--lease", "1s")
	require.NoError(t, second.Process.Signal(syscall.SIGTERM))
	require.NoError(t, second.Wait())
	ok(t, "import", "--nats", s.URL(), recording("gemini-cli-0.46.0.json"))
	for _, path := range []string{recording("goose-1.37.0.json"), long, recording("gemini-cli-0.46.0.json")} {
		file, err := files.Open(path)
		require.NoError(t, err)
		id := schema.Identity{Namespace: "default", Workflow: "import", Run: file.Run(), Attempt: 1}
		require.Equal(t, durable(t, ok(t, "translate", path)), durable(t, recorded(t, s, id)), path)
	}
}

// Sinks are killed and stopped while records come: the ledger in PostgreSQL holds every event once, with
// its number.
func TestSinksOfACluster(t *testing.T) {
	s := natstest.Start(t)
	url := pgtest.Database(t)
	startWorker(t, "translate", s.URL(), "--lease", "1s")
	first := startWorker(t, "sink", s.URL(), "--ledger", url)
	second := startWorker(t, "sink", s.URL(), "--ledger", url)
	long := longRecording(t, 1000)
	ok(t, "import", "--nats", s.URL(), recording("goose-1.37.0.json"))
	require.NoError(t, first.Process.Kill())
	require.Error(t, first.Wait())
	ok(t, "import", "--nats", s.URL(), long)
	startWorker(t, "sink", s.URL(), "--ledger", url)
	require.NoError(t, second.Process.Signal(syscall.SIGTERM))
	require.NoError(t, second.Wait())

	ledger, err := postgres.Open(minute(t), url, postgres.Options{ReadOnly: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ledger.Close()) })
	for _, path := range []string{recording("goose-1.37.0.json"), long} {
		file, err := files.Open(path)
		require.NoError(t, err)
		id := schema.Identity{Namespace: "default", Workflow: "import", Run: file.Run(), Attempt: 1}
		for session, lines := range durable(t, ok(t, "translate", path)) {
			var got []string
			require.Eventually(t, func() bool {
				got = nil
				for e, err := range ledger.Events(minute(t), schema.Transcript{Identity: id, Session: session}, 0, 100_000) {
					if err != nil {
						return false
					}
					require.Equal(t, uint64(len(got))+1, e.Seq)
					got = append(got, string(e.Bytes))
				}
				return len(got) == len(lines)
			}, time.Minute, 50*time.Millisecond)
			require.Equal(t, numbered(t, lines), strings.Join(got, "\n")+"\n")
		}
	}
}

func TestWorkerUsage(t *testing.T) {
	for _, args := range [][]string{
		{"worker", "translate"}, {"worker", "translate", "--nats", "nats://127.0.0.1:1", "--name", "a b"},
		{"worker", "translate", "--nats", "nats://127.0.0.1:1", "--lease", "1500ms"},
		{"worker", "translate", "--nats", "nats://127.0.0.1:1", "--lease", "1h"},
		{"worker", "sink", "--nats", "nats://127.0.0.1:1"},
	} {
		_, stderr, code := steno(t, args...)
		require.Equal(t, exitUsage, code, stderr)
	}
	t.Setenv("STENO_LEASE", "61s")
	_, stderr, code := steno(t, "worker", "translate", "--nats", "nats://127.0.0.1:1")
	require.Equal(t, exitConfig, code, stderr)
	require.Contains(t, stderr, "want whole seconds, from 1s to 1m0s")
	t.Setenv("STENO_LEASE", "1s")
	_, stderr, code = steno(t, "worker", "translate", "--nats", "nats://127.0.0.1:1")
	require.Equal(t, exitUnavailable, code, stderr)
}
