package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/cmd/steno/holder"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/postgres/pgtest"
)

// sql executes a statement in a database.
func sql(t *testing.T, database, statement string) {
	t.Helper()
	conn, err := pgx.Connect(minute(t), database)
	require.NoError(t, err)
	defer conn.Close(context.Background()) //nolint:errcheck // the test is over
	_, err = conn.Exec(minute(t), statement)
	require.NoError(t, err, statement)
}

// readerOf gives the URL of the database for a user who may read the ledger's tables, and no more.
func readerOf(t *testing.T, database string) string {
	t.Helper()
	u, err := url.Parse(database)
	require.NoError(t, err)
	name := "reader_" + strings.TrimPrefix(u.Path, "/")
	sql(t, database, fmt.Sprintf(`CREATE ROLE %s LOGIN PASSWORD 'r'; GRANT USAGE ON SCHEMA steno TO %[1]s; GRANT SELECT ON ALL TABLES IN SCHEMA steno TO %[1]s`, name))
	u.User = url.UserPassword(name, "r")
	return u.String()
}

// halfOf writes the file's first lines and the beginning of another one.
func halfOf(t *testing.T, path string, lines int) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	half := filepath.Join(t.TempDir(), "half.jsonl")
	require.NoError(t, os.WriteFile(half, []byte(strings.Join(strings.SplitAfter(string(text), "\n")[:lines], "")+"{"), 0o600))
	return half
}

// listed gives the lines of ls --json by key, without when they were stored.
func listed(t *testing.T, ndjson string) map[string]string {
	t.Helper()
	lines := map[string]string{}
	for line := range strings.Lines(ndjson) {
		var s sink.Summary
		require.NoError(t, json.Unmarshal([]byte(line), &s))
		at, err := json.Marshal(s.AddedAt)
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(line, `"added_at":`+string(at)))
		lines[s.Key] = strings.Replace(line, string(at), `""`, 1)
	}
	return lines
}

// eventLines are the lines that are durable events.
func eventLines(t *testing.T, ndjson string) (lines []string) {
	t.Helper()
	for line := range strings.Lines(ndjson) {
		if e, err := schema.DecodeEvent([]byte(line)); err == nil && !e.Ephemeral {
			lines = append(lines, line)
		}
	}
	return lines
}

// testSearchOfACluster searches both. The cluster's index is filled behind its ledger.
func testSearchOfACluster(t *testing.T, on func([]string, ...string) []string, here, there []string) {
	for until := minute(t); ; {
		_, stderr, code := steno(t, on(there, "search", "the")...)
		require.Zero(t, code, stderr)
		if !strings.Contains(stderr, "not indexed yet") {
			break
		}
		require.NoError(t, until.Err())
	}
	for _, text := range []string{"the", "permission dialog", `"permission dialog"`, "orders", "sacks", "changelog.md", "no such words"} {
		found := func(where []string) (out []string) {
			for _, h := range hits(t, ok(t, on(where, "search", "--json", "--limit", "0", text)...)) {
				out = append(out, fmt.Sprint(h.Summary.Key, " ", h.Seq, h.At, h.Kind, h.Role, h.Tool, h.Snippet, h.Matches))
			}
			slices.Sort(out) // what was said at once is in the order of the ledger's ids
			return out
		}
		require.Equal(t, found(here), found(there), text)
		require.Equal(t, listed(t, ok(t, on(here, "ls", "--json", "--text", text)...)), listed(t, ok(t, on(there, "ls", "--json", "--text", text)...)), text)
	}
	require.NotEmpty(t, ok(t, on(there, "search", "sacks")...))
	require.Equal(t, listed(t, ok(t, on(here, "ls", "--json", "--agent", "GOO", "--status", "ended")...)),
		listed(t, ok(t, on(there, "ls", "--json", "--agent", "GOO", "--status", "ended")...)))
}

// What commands say of a cluster's ledger in PostgreSQL is what they say of a data directory's, in which
// the same was recorded. They need nothing on this machine, and no right but that to read.
func TestCommandsReadACluster(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	t.Setenv("XDG_DATA_HOME", nowhere)
	s, database := natstest.Start(t), pgtest.Database(t)
	startWorker(t, "translate", s.URL(), "--lease", "1s")
	numberer := startWorker(t, "sink", s.URL(), "--ledger", database)
	there := []string{"--nats", s.URL(), "--ledger", readerOf(t, database)}
	data := t.TempDir()
	here := []string{"--data", data}
	defer startUp(t, data).kill(t) // else each command would start a pipeline of its own
	on := func(where []string, args ...string) []string { return slices.Concat(args, where) }

	// What was recorded. The last one breaks off in the middle of a turn.
	half := halfOf(t, "testdata/sacks.jsonl", 9)
	for _, path := range []string{recording("goose-1.37.0.json"), recording("a2a-go-2.4.0.jsonl"), recording("gemini-cli-0.46.0.json"), half} {
		want := exitOK
		if path == half {
			want = exitRuntime
		}
		for _, args := range [][]string{on(here, "import", path), {"import", "--nats", s.URL(), path}} {
			_, stderr, code := steno(t, args...)
			require.Equal(t, want, code, stderr)
		}
	}

	// verify waits until all is numbered, so it comes first.
	require.Equal(t, ok(t, on(here, "verify", "--json")...), ok(t, on(there, "verify", "--json")...))
	require.Equal(t, ok(t, on(here, "verify")...), ok(t, on(there, "verify")...))

	list := ok(t, on(there, "ls", "--json")...)
	require.Equal(t, listed(t, ok(t, on(here, "ls", "--json")...)), listed(t, list))
	require.Equal(t, listed(t, ok(t, on(here, "ls", "--json", "--peer", "orders")...)), listed(t, ok(t, on(there, "ls", "--json", "--peer", "orders")...)))
	require.Contains(t, ok(t, on(there, "ls")...), "orders slow")

	for key := range listed(t, list) {
		require.Equal(t, ok(t, on(here, "show", key, "--json")...), ok(t, on(there, "show", key, "--json")...), key)
		require.Equal(t, ok(t, on(here, "show", key, "--times", "--raw", "--full")...), ok(t, on(there, "show", key, "--times", "--raw", "--full")...), key)
		require.Equal(t, ok(t, on(here, "replay", key, "--json", "--idle-limit", "1us")...), ok(t, on(there, "replay", key, "--json", "--idle-limit", "1us")...), key)
	}
	for _, args := range [][]string{{"show"}, {"show", "orders"}, {"replay", "--idle-limit", "1us"}, {"export", "--format", "html"}, {"export", "orders", "--format", "md"}, {"export", "orders", "--frames"}} {
		require.Equal(t, ok(t, on(here, args...)...), ok(t, on(there, args...)...), args)
	}
	for _, key := range []string{"orders", "no such key"} { // of neither
		_, mine, code := steno(t, on(here, "show", key+" -")...)
		_, theirs, same := steno(t, on(there, "show", key+" -")...)
		require.Equal(t, mine, theirs)
		require.Equal(t, code, same)
	}

	testSearchOfACluster(t, on, here, there)
	testTailOfACluster(t, on, here, there)
	testWatchOfACluster(t, there)

	require.Contains(t, ok(t, on(there, "doctor")...), "none: all partitions are translated, and all records are numbered")
	var h health
	require.NoError(t, json.Unmarshal([]byte(ok(t, on(there, "doctor", "--json")...)), &h))
	require.Equal(t, "NATS at "+s.URL(), h.NATS)
	require.EqualValues(t, len(listed(t, list)), h.Ledger.Transcripts)
	require.Empty(t, h.Data)

	testClusterIsBehind(t, numberer, s, on, there)

	// A changed byte is found.
	startWorker(t, "sink", s.URL(), "--ledger", database)
	ok(t, on(there, "verify")...)
	sql(t, database, `UPDATE steno.events SET event = convert_to(replace(convert_from(event, 'UTF8'), 'How many sacks', 'How many socks'), 'UTF8') WHERE position('How many sacks'::bytea IN event) > 0`)
	stdout, _, code := steno(t, on(there, "verify")...)
	require.Equal(t, exitChanged, code)
	require.Contains(t, stdout, "ocks?")

	// So is a whole capture that the ledger had, and has no more: nobody waits for it.
	sql(t, database, `DELETE FROM steno.events; DELETE FROM steno.transcripts; DELETE FROM steno.captures`)
	stdout, _, code = steno(t, on(there, "verify")...)
	require.Equal(t, exitChanged, code)
	require.Contains(t, stdout, "missing: ")
	require.NoDirExists(t, nowhere)
}

// testTailOfACluster follows an ended transcript, and the one that broke off until an operator closes it.
func testTailOfACluster(t *testing.T, on func([]string, ...string) []string, here, there []string) {
	require.Equal(t, eventLines(t, ok(t, on(here, "tail", "orders", "--until-end", "--json", "--raw")...)),
		eventLines(t, ok(t, on(there, "tail", "orders", "--until-end", "--json", "--raw")...)))
	tail := stenoCommand(minute(t), on(there, "tail", "sacks", "--until-end", "--json")...)
	out, err := tail.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, tail.Start())
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	await := func(want string) {
		t.Helper()
		for found := false; !found; found = strings.Contains(lines.Text(), want) {
			require.True(t, lines.Scan(), "want %q", want)
		}
	}
	await(`"text":"How many sacks?"`)
	await(`{"snapshot":`) // it has caught up, and the owner has said what is open
	require.Contains(t, ok(t, on(there, "close", "sacks", "--json", "--reason", "power cut")...), `"added":true`)
	require.Contains(t, ok(t, on(here, "close", "sacks", "--json", "--reason", "power cut")...), `"added":true`)
	await(`{"end":{`)
	require.NoError(t, tail.Wait())
	require.Contains(t, ok(t, on(there, "close", "sacks", "--json")...), `"added":false`)
	require.Contains(t, ok(t, on(there, "ls")...), "ended")
	ok(t, on(there, "verify")...)
}

// impatient is a command in this process that soon gives up what does not get on.
func impatient(there []string, stdout *strings.Builder) *app {
	return &app{out: &output{to: stdout}, nats: there[1], database: there[3], patience: 100 * time.Millisecond}
}

// testClusterIsBehind kills the sink: doctor and verify say what does not get on, and do not wait for ever.
func testClusterIsBehind(t *testing.T, numberer *exec.Cmd, s *natstest.Server, on func([]string, ...string) []string, there []string) {
	require.NoError(t, numberer.Process.Kill())
	require.Error(t, numberer.Wait())
	ok(t, "import", "--nats", s.URL(), recording("codex-acp-0.16.0.json"))
	stdout, _, code := steno(t, on(there, "doctor")...)
	require.Equal(t, exitRuntime, code)
	require.Contains(t, stdout, "the ledger has not taken all records of 1 partition")

	a := impatient(there, &strings.Builder{})
	session, err := a.openCluster(minute(t))
	require.NoError(t, err)
	defer func() { require.NoError(t, session.close()) }()
	report, err := a.prove(minute(t), session, nil)
	require.NoError(t, err)
	require.ErrorIs(t, session.stalled, holder.ErrStalled)
	require.ErrorContains(t, session.stalled, "is a steno worker sink running?")
	require.NotZero(t, report.Events)
	require.Equal(t, exitOK, report.ExitCode(), "what the ledger has yet to take is not missing from it")
}

// Every partition has its lease, and nobody translates: doctor says that frames wait, and verify that its
// proof is not of all.
func TestFramesThatWaitBehindADeadLease(t *testing.T) {
	t.Parallel()
	s, database := natstest.Start(t), pgtest.Database(t)
	startWorker(t, "sink", s.URL(), "--ledger", database)
	there := []string{"--nats", s.URL(), "--ledger", database}
	leases, err := s.JS.KeyValue(minute(t), topology.Leases)
	require.NoError(t, err)
	for p := range s.Info.Partitions {
		_, err := leases.Put(minute(t), fmt.Sprintf("partition.%d", p), []byte("gone"))
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool {
		stdout, _, code := steno(t, append([]string{"doctor"}, there...)...)
		return code == exitOK && strings.Contains(stdout, "all partitions are translated")
	}, time.Minute, 20*time.Millisecond, "nothing waits yet")
	store(t, s, schema.Identity{Namespace: "default", Workflow: "w", Run: "r", Attempt: 1}, schema.Frame{
		At: time.Unix(1, 0).UTC(), From: schema.FromControl, Type: schema.TypeOpen, End: schema.EndNone,
		Data: []byte(`{"protocol":"acp"}`), Writer: schema.Writer{Offset: 1},
	})
	stdout, _, code := steno(t, append([]string{"doctor"}, there...)...)
	require.Equal(t, exitRuntime, code)
	require.Contains(t, stdout, "frames of 1 partition (")
	require.Contains(t, stdout, "wait: no translator answers for partition")
	var said strings.Builder
	err = impatient(there, &said).verify(minute(t), nil, time.Time{}, false)
	require.ErrorContains(t, err, "no translator answers for partition")
	require.Equal(t, exitRuntime, exitCode(err))
	require.Contains(t, said.String(), "verified as far as it is numbered, which is not all: ")
}

func TestAClusterThatCannotBeRead(t *testing.T) {
	s, database := natstest.Start(t), pgtest.Database(t)
	there := []string{"--nats", s.URL(), "--ledger", database}
	for _, command := range []string{"ls", "show", "export", "tail", "replay", "verify", "doctor", "close x"} {
		_, stderr, code := steno(t, slices.Concat(strings.Fields(command), there)...)
		require.Equal(t, exitConfig, code, stderr)
		require.Contains(t, stderr, "no tables of steno are there; a sink makes them (start steno worker sink)")
	}
	sink := startWorker(t, "sink", s.URL(), "--ledger", database)
	stdout, _, code := steno(t, append([]string{"doctor"}, there...)...)
	require.Equal(t, exitRuntime, code)
	require.Contains(t, strings.Join(strings.Fields(stdout), " "), "no translator has 32 partitions (0-31)")
	require.NoError(t, sink.Process.Kill())
	require.Error(t, sink.Wait())

	_, stderr, code := steno(t, "show", "--nats", s.URL(), "--ledger", database)
	require.Equal(t, exitRuntime, code)
	require.Contains(t, stderr, "nothing is recorded yet")
	sql(t, database, `UPDATE steno.version SET version = 99`)
	_, stderr, code = steno(t, append([]string{"ls"}, there...)...)
	require.Equal(t, exitConfig, code)
	require.Contains(t, stderr, "a newer steno made them")

	bare := natstest.StartWith(t, natstest.Options{Bare: true})
	sql(t, database, `UPDATE steno.version SET version = 4`)
	for _, tt := range []struct {
		nats, ledger string
		code         int
		says         string
	}{
		{s.URL(), "postgres://steno:geheim@127.0.0.1:1/steno", exitUnavailable, "PostgreSQL is not reachable"},
		{"nats://127.0.0.1:1", database, exitUnavailable, "NATS is not reachable"},
		{s.URL(), "postgres://steno:geheim@127.0.0.1:port/steno", exitUsage, "--ledger: "},
		{bare.URL(), database, exitConfig, topology.ErrMissing.Error()},
	} {
		_, stderr, code := steno(t, "ls", "--nats", tt.nats, "--ledger", tt.ledger)
		require.Equal(t, tt.code, code, stderr)
		require.Contains(t, stderr, tt.says)
		require.NotContains(t, stderr, "geheim")
	}
}

// Where a command reads: a cluster needs a NATS and a ledger, and what stands on the command line counts
// more than what does not.
func TestWhatACommandReads(t *testing.T) {
	const nats, ledger = "nats://127.0.0.1:1", "postgres://steno@127.0.0.1:1/steno"
	for _, tt := range []struct {
		name, args string
		env        [2]string // NATS and ledger
		config     string
		cluster    bool
		code       int
		says       string
	}{
		{name: "flags", args: "--nats " + nats + " --ledger " + ledger, cluster: true},
		{name: "environment", env: [2]string{nats, ledger}, cluster: true},
		{name: "one of each", args: "--ledger " + ledger, env: [2]string{nats, ""}, cluster: true},
		{name: "a context", args: "--context prod --ledger " + ledger, cluster: true},
		{name: "config file", config: "nats = \"" + nats + "\"\n[ls]\nledger = \"" + ledger + "\"\n", cluster: true},
		{name: "no NATS in the config file", config: "ledger = \"" + ledger + "\"\n", code: exitConfig, says: "config.toml: ledger: --ledger: of which NATS?"},
		{name: "a directory before the environment", args: "--data /d", env: [2]string{nats, ledger}},
		{name: "the NATS of taps", env: [2]string{nats, ""}},
		{name: "nothing"},
		{name: "no ledger", args: "--nats " + nats, code: exitUsage, says: "which database? give --ledger"},
		{name: "no NATS", args: "--ledger " + ledger, code: exitUsage, says: "of which NATS?"},
		{name: "no NATS in the environment", env: [2]string{"", ledger}, code: exitConfig, says: "STENO_LEDGER"},
		{name: "both", args: "--data /d --nats " + nats + " --ledger " + ledger, code: exitUsage, says: "reads a data directory, or a cluster"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for i, name := range []string{"STENO_NATS", "STENO_LEDGER"} {
				if tt.env[i] != "" {
					t.Setenv(name, tt.env[i])
				}
			}
			config := t.TempDir()
			t.Setenv("XDG_CONFIG_HOME", config)
			require.NoError(t, os.MkdirAll(filepath.Join(config, "steno"), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(config, "steno", "config.toml"), []byte(tt.config), 0o600))
			a := &app{stdio: stdio{err: &strings.Builder{}}, out: &output{to: &strings.Builder{}}}
			cmd, rest, err := a.root().Find(append([]string{"ls"}, strings.Fields(tt.args)...))
			require.NoError(t, err)
			require.NoError(t, cmd.ParseFlags(rest))
			err = a.fillIn(cmd)
			require.Equal(t, tt.code, exitCode(err), "%v", err)
			if tt.says != "" {
				require.ErrorContains(t, err, tt.says)
				return
			}
			require.Equal(t, tt.cluster, a.clustered())
		})
	}
}

func TestRanges(t *testing.T) {
	require.Equal(t, "0-2, 5, 7-8", ranges([]uint32{0, 1, 2, 5, 7, 8}))
	require.Empty(t, ranges(nil))
}
