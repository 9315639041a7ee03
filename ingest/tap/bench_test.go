package tap

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
)

// BenchmarkRoundTrip is a line to the agent and back: without a tap, and through one with a real
// journal that is synced as in use.
func BenchmarkRoundTrip(b *testing.B) {
	b.Run("direct", func(b *testing.B) {
		cmd := exec.Command(os.Args[0], "lines")
		cmd.Env = agentEnv()
		in, err := cmd.StdinPipe()
		require.NoError(b, err)
		out, err := cmd.StdoutPipe()
		require.NoError(b, err)
		require.NoError(b, cmd.Start())
		roundTrips(b, in, out)
		require.NoError(b, cmd.Wait())
	})
	b.Run("tap", func(b *testing.B) {
		w, err := journal.Create(journal.Options{Dir: b.TempDir(), Head: journal.Head{
			Identity: schema.Identity{Namespace: "default", Workflow: "w", Run: "r", Attempt: 1},
		}})
		require.NoError(b, err)
		ctx, cancel := context.WithCancel(b.Context())
		synced := make(chan error, 1)
		go func() { synced <- w.Run(ctx) }()
		stdin, in, err := os.Pipe()
		require.NoError(b, err)
		out, stdout, err := os.Pipe()
		require.NoError(b, err)
		done := make(chan error, 1)
		go func() {
			_, err := Run(ctx, Options{Command: agentCommand("lines"), Env: agentEnv(), Stdin: stdin, Stdout: stdout, Journal: w})
			done <- err
		}()
		roundTrips(b, in, out)
		require.NoError(b, <-done)
		cancel()
		require.NoError(b, <-synced)
		require.NoError(b, w.Close())
		require.NoError(b, out.Close())
	})
}

func roundTrips(b *testing.B, in io.WriteCloser, out io.Reader) {
	line := append(make([]byte, 0, 200), `{"jsonrpc":"2.0","method":"session/update","params":{"pad":"`...)
	for len(line) < 196 {
		line = append(line, 'x')
	}
	line = append(line, "\"}}\n"...)
	answer := bufio.NewReader(out)
	var slowest time.Duration
	b.ResetTimer()
	for b.Loop() {
		sent := time.Now()
		if _, err := in.Write(line); err != nil {
			b.Fatal(err)
		}
		if _, err := answer.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
		slowest = max(slowest, time.Since(sent))
	}
	b.StopTimer()
	b.ReportMetric(float64(slowest.Microseconds()), "µs-slowest")
	require.NoError(b, in.Close())
}

// BenchmarkThroughput is one large answer through a tap with a real journal.
func BenchmarkThroughput(b *testing.B) {
	w, err := journal.Create(journal.Options{Dir: b.TempDir(), Head: journal.Head{
		Identity: schema.Identity{Namespace: "default", Workflow: "w", Run: "r", Attempt: 1},
	}, Max: 1 << 40})
	require.NoError(b, err)
	stdin, in, err := os.Pipe()
	require.NoError(b, err)
	out, stdout, err := os.Pipe()
	require.NoError(b, err)
	done := make(chan error, 1)
	go func() {
		_, err := Run(b.Context(), Options{Command: agentCommand("flood"), Env: agentEnv(), Stdin: stdin, Stdout: stdout, Journal: w})
		done <- err
	}()
	buf := make([]byte, 1<<20)
	b.SetBytes(int64(len(buf)))
	for b.Loop() {
		if _, err := io.ReadFull(out, buf); err != nil {
			b.Fatal(err)
		}
	}
	require.NoError(b, out.Close())
	require.NoError(b, in.Close())
	require.NoError(b, <-done)
	require.NoError(b, w.Close())
}
