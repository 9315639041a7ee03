package group

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// lead starts a shell's script with a pipe for its output.
func lead(t *testing.T, script string) (*Leader, *bufio.Reader) {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Stdout = w
	l, err := Start(cmd)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	t.Cleanup(func() {
		l.Signal(syscall.SIGKILL)
		require.NoError(t, l.Release())
		require.NoError(t, r.Close())
	})
	return l, bufio.NewReader(r)
}

// ours reports whether the process is still a child that nobody has waited for.
func ours(pid int) bool {
	return unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil) == nil
}

func TestHowALeaderEnds(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]struct {
		code   int
		signal syscall.Signal
	}{
		"exit 0":                {0, -1},
		"exit 3":                {3, -1},
		"exit 255":              {255, -1},
		"kill -TERM $$; exit 1": {-1, syscall.SIGTERM},
		"kill -KILL $$; exit 1": {-1, syscall.SIGKILL},
	} {
		l, _ := lead(t, script)
		status, err := l.Exited()
		require.NoError(t, err, script)
		require.Equal(t, want.code, status.ExitStatus(), script)
		require.Equal(t, want.signal, status.Signal(), script)
		require.True(t, ours(l.cmd.Process.Pid), "its number is nobody else's yet")
		again, err := l.Exited()
		require.NoError(t, err)
		require.Equal(t, status, again)

		require.NoError(t, l.Release())
		require.False(t, ours(l.cmd.Process.Pid), "nothing is left of it")
		require.Equal(t, status, l.cmd.ProcessState.Sys(), script)
		require.NoError(t, l.Release())
	}
}

func TestWhatALeaderLeavesIsSignalled(t *testing.T) {
	t.Parallel()
	l, out := lead(t, "sleep 600 & echo there; exit 4")
	status, err := l.Exited()
	require.NoError(t, err)
	require.Equal(t, 4, status.ExitStatus())
	line, err := out.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "there\n", line)
	l.Signal(syscall.SIGKILL)
	rest, err := io.ReadAll(out) // it ends when nobody holds the pipe any more
	require.NoError(t, err)
	require.Empty(t, rest)
}

// Where the system does not say how a leader has ended, it is not waited for all the same until its release.
func TestALeaderOfWhichNothingIsKnown(t *testing.T) {
	t.Parallel()
	l, out := lead(t, "sleep 600 & echo there; exit 4")
	l.exited = sync.OnceValues(func() (syscall.WaitStatus, error) {
		_, err := l.wait()
		return 0, errors.Join(err, ErrUnknown)
	})
	_, err := l.Exited()
	require.ErrorIs(t, err, ErrUnknown)
	require.True(t, ours(l.cmd.Process.Pid), "its number is nobody else's yet")
	line, err := out.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "there\n", line)
	l.Signal(syscall.SIGKILL)
	_, err = io.ReadAll(out) // it ends when nobody holds the pipe any more
	require.NoError(t, err)
	require.NoError(t, l.Release())
	require.Equal(t, 4, l.cmd.ProcessState.ExitCode())
}

// However a signal and the end meet, no number is signalled that is not the group's own.
func TestNobodyElseIsSignalled(t *testing.T) {
	t.Parallel()
	for range 20 {
		l, _ := lead(t, "read x; exit 0")
		signals := 0
		l.kill = func(pid int, s syscall.Signal) error {
			signals++
			assert.Equal(t, -l.cmd.Process.Pid, pid)
			assert.True(t, ours(-pid), "its leader was waited for")
			return syscall.Kill(pid, s)
		}
		var both sync.WaitGroup
		both.Go(func() {
			for range 50 {
				l.Signal(0)
			}
			l.Signal(syscall.SIGKILL)
		})
		both.Go(func() { assert.NoError(t, l.Release()) })
		both.Wait()
		before := signals
		l.Signal(syscall.SIGKILL)
		require.Equal(t, before, signals, "after its release")
	}
}

func TestACommandThatCannotBeStartedLeadsNothing(t *testing.T) {
	t.Parallel()
	_, err := Start(exec.Command("/no/such/command"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
