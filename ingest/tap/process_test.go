package tap

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
)

// process is a tap in a process of its own.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	dir   string
	stdin io.WriteCloser
	out   *bufio.Reader
}

func startTap(t *testing.T, agent ...string) *process {
	t.Helper()
	p := &process{t: t, dir: t.TempDir()}
	p.cmd = exec.Command(os.Args[0], append([]string{p.dir}, agent...)...)
	p.cmd.Env = append(os.Environ(), roleEnv+"=tap")
	p.cmd.Stderr = os.Stderr
	var err error
	p.stdin, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	p.out = bufio.NewReader(out)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // ended already in most tests
	return p
}

func (p *process) line() string {
	p.t.Helper()
	s, err := p.out.ReadString('\n')
	require.NoError(p.t, err)
	return strings.TrimSuffix(s, "\n")
}

func (p *process) exitCode() int {
	p.t.Helper()
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(p.t, err)
	}
	return p.cmd.ProcessState.ExitCode()
}

// kept reads the tap's journal: bytes by side, and the close entry.
func (p *process) kept() (data map[schema.From]string, end *schema.CloseInfo) {
	p.t.Helper()
	list, err := journal.List(p.dir)
	require.NoError(p.t, err)
	require.Len(p.t, list, 1)
	r, err := journal.Open(list[0].Path)
	require.NoError(p.t, err)
	defer func() { require.NoError(p.t, r.Close()) }()
	data = map[schema.From]string{}
	for {
		e, err := r.Next(p.t.Context())
		if errors.Is(err, io.EOF) {
			return data, end
		}
		require.NoError(p.t, err)
		if e.Type == schema.TypeClose {
			end = &schema.CloseInfo{}
			require.NoError(p.t, json.Unmarshal(e.Data, end))
			continue
		}
		data[e.From] += string(e.Data)
	}
}

func TestSignalsArePassedOn(t *testing.T) {
	heard := make(chan os.Signal, 1) // what this process hears, those that it starts do not ignore, not even under nohup
	signal.Notify(heard, syscall.SIGHUP)
	defer signal.Stop(heard)
	word := filepath.Join(t.TempDir(), "word")
	p := startTap(t, "signals", word)
	require.Equal(t, "ready", p.line())
	for _, s := range []syscall.Signal{
		syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGWINCH, syscall.SIGUSR1, syscall.SIGUSR2,
	} {
		require.NoError(t, p.cmd.Process.Signal(s))
		require.Equal(t, signalName(s), p.line())
	}
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTSTP))
	var status unix.WaitStatus
	_, err := unix.Wait4(p.cmd.Process.Pid, &status, unix.WUNTRACED, nil)
	require.NoError(t, err)
	require.True(t, status.Stopped(), "a shell waits for its child to stop")
	require.Eventually(t, func() bool {
		said, err := os.ReadFile(word)
		return err == nil && string(said) == "SIGTSTP"
	}, 20*time.Second, time.Millisecond, "SIGCONT takes back a SIGTSTP that the agent has not taken yet")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGCONT))
	require.ElementsMatch(t, []string{"SIGTSTP", "SIGCONT"}, []string{p.line(), p.line()})
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, "SIGTERM", p.line())
	require.Equal(t, 5, p.exitCode())
	data, end := p.kept()
	require.Contains(t, data[schema.FromAgent], "SIGWINCH\n")
	require.Equal(t, &schema.CloseInfo{Reason: schema.ReasonEOF, ExitCode: code(5)}, end)
}

func TestAgentsSignalIsTheTapsExitCode(t *testing.T) {
	p := startTap(t, "die", "9")
	require.Equal(t, 137, p.exitCode())
	_, end := p.kept()
	require.Equal(t, &schema.CloseInfo{Reason: schema.ReasonEOF, Signal: "SIGKILL"}, end)
}

// The tap is killed: its agent reads the end of its input, and all that was passed on is kept.
func TestKilledTap(t *testing.T) {
	word := filepath.Join(t.TempDir(), "word")
	p := startTap(t, "eof", word)
	_, err := fmt.Fprintln(p.stdin, "last words")
	require.NoError(t, err)
	require.Equal(t, "last words", p.line())
	require.NoError(t, p.cmd.Process.Kill())
	require.Equal(t, -1, p.exitCode())
	require.Eventually(t, func() bool {
		_, err := os.Stat(word)
		return err == nil
	}, 20*time.Second, 5*time.Millisecond, "the agent sees the end")
	said, err := os.ReadFile(word)
	require.NoError(t, err)
	require.Equal(t, `"" <nil>`, string(said))
	data, end := p.kept()
	require.Equal(t, "last words\n", data[schema.FromClient])
	require.Equal(t, "last words\n", data[schema.FromAgent])
	require.Nil(t, end)
}

// The agent is gone and the client does not read: a further signal is for the tap itself.
func TestSignalEndsATapThatIsHeldUp(t *testing.T) {
	p := startTap(t, "full")
	_, err := p.out.ReadByte() // the agent runs
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = p.cmd.Process.Wait()
	}()
	for {
		select {
		case <-ended:
			_, end := p.kept()
			require.NotNil(t, end)
			require.Equal(t, code(6), end.ExitCode)
			require.Equal(t, "pass on the agent's last output: SIGTERM", end.Error)
			return
		case <-time.After(20 * time.Millisecond):
			_ = p.cmd.Process.Signal(syscall.SIGTERM) // the agent ignores it while it lives
		}
	}
}
