package tap

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// terminal makes a pseudo terminal.
func terminal(t *testing.T) (keys, tty *os.File) {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, keys.Close()) })
	require.NoError(t, unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tty.Close()) })
	return keys, tty
}

// Ctrl-C reaches the whole foreground group: the agent gets it once, not a second time from the tap.
// What is sent to the tap alone is passed on there too.
func TestKeysOfATerminal(t *testing.T) {
	keys, tty := terminal(t)
	cmd := exec.Command(os.Args[0], t.TempDir(), "signals")
	cmd.Env = append(os.Environ(), roleEnv+"=tap")
	cmd.Stdin, cmd.Stderr = tty, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewReader(out)
	next := func() string {
		s, err := lines.ReadString('\n')
		require.NoError(t, err)
		return strings.TrimSpace(s)
	}
	require.Equal(t, "ready", next())
	for _, key := range []struct{ bytes, want string }{{"\x03", "SIGINT"}, {"\x1c", "SIGQUIT"}} {
		_, err = keys.WriteString(key.bytes)
		require.NoError(t, err)
		require.Equal(t, key.want, next())
	}
	require.NoError(t, cmd.Process.Signal(syscall.SIGUSR1))
	require.Equal(t, "SIGUSR1", next(), "nothing came twice")
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, "SIGTERM", next())
	require.Error(t, cmd.Wait())
	require.Equal(t, 5, cmd.ProcessState.ExitCode())
}
