package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/cmd/steno/bench"
	"github.com/steno-io/steno/sink/postgres"
	"github.com/steno-io/steno/sink/postgres/pgtest"
)

// benchRows runs rows in their tiny form and gives what they print, a member map for each.
func benchRows(t *testing.T, args ...string) []map[string]any {
	t.Helper()
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	var rows []map[string]any
	for line := range strings.Lines(ok(t, append([]string{"bench", "--tiny", "--json"}, args...)...)) {
		var r map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &r), line)
		rows = append(rows, r)
	}
	require.NotEmpty(t, rows)
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)
	return rows
}

// Every row has all members; where more is better its ratio is that of figure to ceiling.
func TestBenchPrintsEachRow(t *testing.T) {
	for _, name := range bench.Names() {
		t.Run(name, func(t *testing.T) {
			for _, r := range benchRows(t, name) {
				require.Len(t, r, 6, r)
				require.True(t, strings.HasPrefix(r["row"].(string), name), r)
				require.NotEmpty(t, r["unit"])
				require.Contains(t, r, "goal")
				figure, ceiling := r["figure"].(float64), r["ceiling"].(float64)
				if ratio, ok := r["ratio"].(float64); ok {
					require.True(t, strings.HasSuffix(r["unit"].(string), "/s"), r)
					require.Positive(t, figure)
					require.InEpsilon(t, figure/ceiling, ratio, 1e-9)
				} else {
					require.Nil(t, r["ratio"])
				}
			}
		})
	}
}

// The database of --ledger is left as it was found, and one that has a ledger is refused.
func TestBenchTheSinkIntoPostgreSQL(t *testing.T) {
	url := pgtest.Database(t)
	for range 2 {
		rows := benchRows(t, "sink", "--ledger", url)
		require.Len(t, rows, 2)
		require.Contains(t, rows[1]["row"], "PostgreSQL")
	}
	openPostgres(t, url)
	_, stderr, code := steno(t, "bench", "sink", "--tiny", "--ledger", url)
	require.Equal(t, exitRuntime, code)
	require.Contains(t, stderr, "has a schema steno")
	openPostgres(t, url)
}

func TestBenchTable(t *testing.T) {
	stdout, stderr, code := steno(t, "bench", "translate", "--tiny")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "translate acp allocations")
	require.Contains(t, stdout, " on ") // the machine
	_, stderr, code = steno(t, "bench")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "which row? one of translate, ")
}

func TestQuantity(t *testing.T) {
	for want, v := range map[string]float64{"0.50": 0.5, "99.99": 99.99, "100": 100, "1,000": 1000, "1,234,568": 1234567.8, "-1,000": -1000, "-100": -100} {
		require.Equal(t, want, quantity(&v))
	}
	require.Empty(t, quantity(nil))
}

// A bench that is stopped ends with the code of a shell, and leaves nothing behind.
func TestBenchIsStopped(t *testing.T) {
	for _, name := range bench.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			temp := t.TempDir()
			cmd := stenoCommand(t.Context(), "bench", name)
			cmd.Env = append(cmd.Env, "TMPDIR="+temp)
			var errs bytes.Buffer
			cmd.Stderr = &errs
			require.NoError(t, cmd.Start())
			require.Eventually(t, func() bool { return processorTime(cmd.Process.Pid) >= time.Second/4 }, time.Minute, 10*time.Millisecond)
			require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
			require.Error(t, cmd.Wait())
			require.Equal(t, exitInterrupt, cmd.ProcessState.ExitCode(), errs.String())
			require.Empty(t, errs.String())
			left, err := os.ReadDir(temp)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

// processorTime is how long a process has run on a processor; 0 if that cannot be read. A process that has to wait for
// one at its start has come as far in that time as any other.
func processorTime(pid int) time.Duration {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest) // from the third one on
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * (time.Second / 100) // USER_HZ
}

// openPostgres makes the tables of a ledger.
func openPostgres(t *testing.T, url string) {
	t.Helper()
	l, err := postgres.Open(minute(t), url, postgres.Options{})
	require.NoError(t, err)
	require.NoError(t, l.Close())
}
