package tap

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// What the client sends is kept, and comes to the agent and back, byte for byte.
func TestBytesAreUnchanged(t *testing.T) {
	for name, pieces := range map[string][]string{
		"lines":           {"{\"jsonrpc\":\"2.0\"}\n", "{}\n"},
		"no final LF":     {"{}\n{\"a\":1}"},
		"invalid UTF-8":   {"\xff\xfe\x00\xc3\x28\n", "\xed\xa0\x80"},
		"split character": {"{\"text\":\"gr\xc3", "\xbc\xc3\x9f\xf0\x9f", "\x98\x80\"}\n"},
		"CR, BOM, blank":  {"\xef\xbb\xbf{}\r\n\r\n\n\n", "\r"},
		"4 MiB line":      {strings.Repeat("0123456789abcdef", 4<<20/16), "\n", "{}\n"},
		"nothing":         {},
	} {
		t.Run(name, func(t *testing.T) {
			j := &memory{}
			c := runTap(t, j, "echo")
			out, errs := all(c.stdout), all(c.stderr)
			for _, p := range pieces {
				_, err := c.stdin.WriteString(p)
				require.NoError(t, err)
			}
			require.NoError(t, c.stdin.Close())
			r, err := c.wait()
			require.NoError(t, err)
			require.Equal(t, Result{}, r)
			want := strings.Join(pieces, "")
			require.True(t, want == <-out)
			require.True(t, want == j.kept(schema.FromClient))
			require.True(t, want == j.kept(schema.FromAgent))
			require.Empty(t, <-errs)
			require.Equal(t, []schema.CloseInfo{{Reason: schema.ReasonEOF, ExitCode: code(0)}}, j.closed)
		})
	}
}

func TestWithoutJournal(t *testing.T) {
	c := runTap(t, nil, "echo")
	_, err := c.stdin.WriteString("hello\n")
	require.NoError(t, err)
	require.Equal(t, "hello", c.line())
	require.NoError(t, c.stdin.Close())
	_, err = c.wait()
	require.NoError(t, err)
}

func TestExit(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	require.NoError(t, os.WriteFile(plain, []byte("no program"), 0o600))
	for name, test := range map[string]struct {
		command []string
		want    Result
		close   schema.CloseInfo
		err     error
	}{
		"ok":       {agentCommand("exit", "0"), Result{}, schema.CloseInfo{ExitCode: code(0)}, nil},
		"code":     {agentCommand("exit", "3"), Result{ExitCode: 3}, schema.CloseInfo{ExitCode: code(3)}, nil},
		"high":     {agentCommand("exit", "255"), Result{ExitCode: 255}, schema.CloseInfo{ExitCode: code(255)}, nil},
		"killed":   {agentCommand("die", "9"), Result{137, "SIGKILL"}, schema.CloseInfo{Signal: "SIGKILL"}, nil},
		"ended":    {agentCommand("die", "15"), Result{143, "SIGTERM"}, schema.CloseInfo{Signal: "SIGTERM"}, nil},
		"missing":  {[]string{"no-such-agent-here"}, Result{ExitCode: 127}, schema.CloseInfo{ExitCode: code(127)}, errStart},
		"no path":  {[]string{"/no/such/agent"}, Result{ExitCode: 127}, schema.CloseInfo{ExitCode: code(127)}, errStart},
		"no agent": {[]string{plain}, Result{ExitCode: 126}, schema.CloseInfo{ExitCode: code(126)}, errStart},
	} {
		t.Run(name, func(t *testing.T) {
			j := &memory{}
			in, _ := pipe(t)
			_, out := pipe(t)
			r, err := Run(t.Context(), Options{Command: test.command, Env: agentEnv(), Stdin: in, Stdout: out, Journal: j})
			require.Equal(t, test.want, r)
			require.Len(t, j.closed, 1)
			test.close.Reason = schema.ReasonEOF
			if test.err != nil {
				require.ErrorContains(t, err, "start agent \""+test.command[0])
				test.close.Error = err.Error()
			} else {
				require.NoError(t, err)
			}
			require.Equal(t, test.close, j.closed[0])
		})
	}
	r, err := Run(t.Context(), Options{})
	require.Error(t, err)
	require.Equal(t, 127, r.ExitCode)
}

var errStart = errors.New("it cannot be started")

func TestStderrIsPassedOnBesideStdout(t *testing.T) {
	j := &memory{}
	c := runTap(t, j, "both")
	out, errs := all(c.stdout), all(c.stderr)
	_, err := c.wait()
	require.NoError(t, err)
	for from, have := range map[schema.From]string{schema.FromAgent: <-out, schema.FromStderr: <-errs} {
		require.Equal(t, 1000, strings.Count(have, "\n"))
		require.True(t, have == j.kept(from))
	}
}

// The client has said everything; the agent answers at length afterwards.
func TestHalfClose(t *testing.T) {
	c := runTap(t, &memory{}, "tally")
	out := all(c.stdout)
	_, err := c.stdin.WriteString("12345")
	require.NoError(t, err)
	require.NoError(t, c.stdin.Close())
	_, err = c.wait()
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(<-out, strings.Repeat("x", 1<<20)+"\n5 bytes"))
}

func TestAgentClosesItsOutputEarly(t *testing.T) {
	j := &memory{}
	c := runTap(t, j, "early")
	errs := all(c.stderr)
	require.Equal(t, "bye\n", <-all(c.stdout), "the client sees the end while the agent works on")
	_, err := c.stdin.WriteString("more\n")
	require.NoError(t, err)
	require.NoError(t, c.stdin.Close())
	r, err := c.wait()
	require.NoError(t, err)
	require.Equal(t, 7, r.ExitCode)
	require.Equal(t, "still here\n", <-errs)
	require.Equal(t, "more\n", j.kept(schema.FromClient))
}

func TestAgentClosesItsInput(t *testing.T) {
	c := runTap(t, &memory{}, "deaf")
	require.Equal(t, "closed", c.line())
	var err error
	for err == nil { // until the tap has met it too
		_, err = c.stdin.WriteString("anybody?\n")
	}
	require.ErrorIs(t, err, syscall.EPIPE)
	c.cancel(errors.New("enough"))
	_, err = c.wait()
	require.ErrorContains(t, err, "enough")
}

func TestClientGoesAway(t *testing.T) {
	c := runTap(t, &memory{}, "flood")
	require.NoError(t, c.stdout.Close())
	r, err := c.wait()
	require.NoError(t, err)
	require.Equal(t, "SIGPIPE", r.Signal, "the agent ends as it would without the tap")
}

func TestKeptBeforePassedOn(t *testing.T) {
	gate := make(chan struct{})
	j := &memory{appending: func(_ context.Context, from schema.From, _ []byte) error {
		if from == schema.FromAgent {
			<-gate
		}
		return nil
	}}
	c := runTap(t, j, "echo")
	_, err := c.stdin.WriteString("hello\n")
	require.NoError(t, err)
	require.NoError(t, c.stdout.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	_, err = c.stdout.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, c.stdout.SetReadDeadline(time.Time{}))
	close(gate)
	require.Equal(t, "hello", c.line())
	require.NoError(t, c.stdin.Close())
	_, err = c.wait()
	require.NoError(t, err)
}
