package journal

import (
	"bufio"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// writer starts a writer process and gives its journal's path and its next lines.
func writer(t *testing.T, args ...string) (cmd *exec.Cmd, path string, lines *bufio.Scanner) {
	t.Helper()
	cmd = exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), childEnv+"="+t.TempDir())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines = bufio.NewScanner(out)
	require.True(t, lines.Scan())
	return cmd, lines.Text(), lines
}

// Whatever was appended before a kill -9 is read; a follower sees the writer's end.
func TestKilledWriter(t *testing.T) {
	for range 10 {
		cmd, path, lines := writer(t, "block", "0", "1000000")
		alive, err := look(path)
		require.NoError(t, err)
		require.True(t, alive.Alive)

		entries := make(chan int, 1)
		r := open(t, path)
		go func() {
			n := 0
			for ; ; n++ {
				e, err := r.Next(t.Context())
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil || string(e.Data) != string(numbered(n)) {
					n = -1
					break
				}
			}
			entries <- n
		}()
		time.AfterFunc(time.Duration(rand.IntN(50))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		appended := 0
		for lines.Scan() {
			n, err := strconv.Atoi(lines.Text())
			if err == nil { // the last line may be cut
				appended = max(appended, n)
			}
		}
		require.Error(t, cmd.Wait())
		got := <-entries
		require.GreaterOrEqual(t, got, appended)
		require.Len(t, readAll(t, open(t, path)), got)
		dead, err := look(path)
		require.NoError(t, err)
		require.False(t, dead.Alive)
	}
}

// A real disk limit, with the write that meets it cut in the middle by the kernel.
func TestFileSizeLimit(t *testing.T) {
	const limit = 50_001
	for _, policy := range []WhenFull{Block, Pass} {
		cmd, path, lines := writer(t, string(policy), strconv.Itoa(limit), "100")
		var last string
		for lines.Scan() {
			last = lines.Text()
		}
		err := cmd.Wait()
		r := open(t, path)
		list := readAll(t, r)
		require.Zero(t, r.Torn(), "what could not be written whole was cut off")
		for i, e := range list {
			if i < 15 {
				require.Equal(t, string(numbered(i)), string(e.Data))
			}
		}
		require.Error(t, err, "both know that something was not kept")
		require.Contains(t, last, "file too large")
		require.Contains(t, last, path)
		if policy == Block {
			require.Contains(t, last, "append")
			continue
		}
		require.True(t, strings.Contains(last, "gap"), last)
	}
}
