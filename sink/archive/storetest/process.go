package storetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink/archive"
)

// asRacer is set for a process that races for names; it is the address of the store.
const asRacer = "STENO_STORETEST_RACER"

// Main is TestMain of a package that runs the suite.
func Main(m *testing.M, open Open) {
	address := os.Getenv(asRacer)
	if address == "" {
		os.Exit(m.Run())
	}
	if err := racer(open, address); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// contested is how many names processes race for.
const contested = 100

func contest(n int) string { return fmt.Sprintf("n/w/%d", n) }

// racer says that it is ready, waits for a line, and prints the names that it has put.
func racer(open Open, address string) error {
	s, err := open(context.Background(), address)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	for n := range contested {
		err := s.Put(context.Background(), contest(n), fmt.Append(nil, os.Getpid()))
		switch {
		case err == nil:
			fmt.Println(contest(n))
		case !errors.Is(err, archive.ErrExists):
			return err
		}
	}
	return nil
}

func putRacedByProcesses(t *testing.T, s *suite) {
	type process struct {
		*exec.Cmd
		in  io.WriteCloser
		out *bufio.Reader
	}
	var all []process
	for range 2 {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), asRacer+"="+s.address)
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		all = append(all, process{cmd, in, bufio.NewReader(out)})
	}
	for _, p := range all {
		ready, err := p.out.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "ready\n", ready)
	}
	for _, p := range all {
		_, err := io.WriteString(p.in, "go\n")
		require.NoError(t, err)
	}
	won := map[string]string{}
	for _, p := range all {
		out, err := io.ReadAll(p.out)
		require.NoError(t, err)
		require.NoError(t, p.Wait())
		for name := range strings.Lines(string(out)) {
			name = strings.TrimSuffix(name, "\n")
			require.Empty(t, won[name], "both have put it")
			won[name] = fmt.Sprint(p.Process.Pid)
		}
	}
	require.Len(t, won, contested)
	for name, by := range won {
		require.Equal(t, by, s.read(t, name))
	}
}
