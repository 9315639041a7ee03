package tap

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// grouped runs an agent with a group of its own.
func grouped(t *testing.T, agent string) (stdout, stderr *os.File, signals chan os.Signal, end func() (Result, error)) {
	t.Helper()
	signals = make(chan os.Signal, 1)
	in, _ := pipe(t)
	stdout, theirs := pipe(t)
	stderr, theirErrs := pipe(t)
	var r Result
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		r, err = Run(t.Context(), Options{
			Command: agentCommand(agent), Env: agentEnv(), Stdin: in, Stdout: theirs, Stderr: theirErrs, Journal: &memory{},
			Grace: graceInTests, Signals: signals, Group: true,
		})
		_ = theirErrs.Close()
	}()
	return stdout, stderr, signals, func() (Result, error) { <-done; return r, err }
}

func TestAnAgentWithAGroupOfItsOwnLeavesNobodyBehind(t *testing.T) {
	out, errs, _, end := grouped(t, "parent")
	said, pid := all(out), all(errs)
	r, err := end()
	require.NoError(t, err)
	require.Equal(t, 4, r.ExitCode)
	require.Len(t, <-said, moreThanAPipe, "what it has said is passed on")
	child, err := strconv.Atoi(strings.TrimSpace(<-pid))
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child))
		return err != nil || strings.Contains(string(stat), ") Z ") // nobody need wait for it
	}, 20*time.Second, 5*time.Millisecond)
}

func TestSignalsThatAreGivenArePassedOn(t *testing.T) {
	out, _, signals, end := grouped(t, "signals")
	lines := bufio.NewReader(out)
	for _, s := range []syscall.Signal{0, syscall.SIGINT, syscall.SIGUSR1, syscall.SIGTERM} {
		want := "ready"
		if s != 0 {
			signals <- s
			want = signalName(s)
		}
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, want+"\n", line)
	}
	r, err := end()
	require.NoError(t, err)
	require.Equal(t, 5, r.ExitCode)
}
