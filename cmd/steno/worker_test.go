package main

import (
	"bufio"
	"context"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/files"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink/archive"
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
	t.Parallel()
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
// its number, and the archive all of it.
func TestSinksOfACluster(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	url := pgtest.Database(t)
	place, key := filepath.Join(t.TempDir(), "archive"), filepath.Join(t.TempDir(), "mill.key")
	public := strings.TrimSpace(ok(t, "keygen", key))
	flags := []string{"--ledger", url, "--archive", place, "--signing-key", key, "--seal-idle", "1s"}
	startWorker(t, "translate", s.URL(), "--lease", "1s")
	first := startWorker(t, "sink", s.URL(), flags...)
	second := startWorker(t, "sink", s.URL(), flags...)
	long := longRecording(t, 1000)
	ok(t, "import", "--nats", s.URL(), recording("goose-1.37.0.json"))
	require.NoError(t, first.Process.Kill())
	require.Error(t, first.Wait())
	ok(t, "import", "--nats", s.URL(), long)
	startWorker(t, "sink", s.URL(), flags...)
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
		isSealed(t, place, ledger, id)
	}
	require.Contains(t, ok(t, "verify", place, "--key", public), " of 2 captures, ")
}

// isSealed waits until all that a ledger has of a capture is in an archive.
func isSealed(t *testing.T, place string, ledger *postgres.Ledger, id schema.Identity) {
	t.Helper()
	store, err := archive.OpenDir(place, false)
	require.NoError(t, err)
	stored, err := ledger.Capture(minute(t), id)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		last, err := archive.Archived{Store: store}.Last(minute(t), id)
		return err == nil && last != nil && last.Last >= stored.Last.Frame
	}, time.Minute, 50*time.Millisecond)
}

// What whoever starts a sink must mend ends it, and is said: two of one name, a login that is refused, a role
// that may only read.
func TestASinkThatCannotServeEnds(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	url := pgtest.Database(t)
	startWorker(t, "sink", s.URL(), "--ledger", url, "--name", "mill")
	db, err := pgx.Connect(minute(t), url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close(context.Background())) })
	entered := false
	for ctx := minute(t); !entered; {
		require.NoError(t, db.QueryRow(ctx, `SELECT EXISTS (SELECT FROM steno.sinks WHERE id = 'mill')`).Scan(&entered))
	}
	ends := func(says string, args ...string) {
		t.Helper()
		_, stderr, code := steno(t, append([]string{"worker", "sink", "--nats", s.URL()}, args...)...)
		require.Equal(t, exitConfig, code, stderr)
		require.Contains(t, stderr, says)
	}
	ends("own partitions as sink mill: another sink of this name lives", "--ledger", url, "--name", "mill")
	ends("authentication failed", "--ledger", strings.Replace(url, db.Config().Password, "another", 1))

	name := db.Config().Database
	_, err = db.Exec(minute(t), `CREATE ROLE reads_`+name+`; GRANT USAGE ON SCHEMA steno TO reads_`+name+`;
GRANT SELECT ON ALL TABLES IN SCHEMA steno TO reads_`+name+`; ALTER DATABASE `+name+` SET role TO reads_`+name)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := db.Exec(context.Background(), `ALTER DATABASE `+name+` RESET role; DROP OWNED BY reads_`+name+`; DROP ROLE reads_`+name)
		require.NoError(t, err)
	})
	ends("needs CREATE on the database", "--ledger", url)
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
