package main

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// overlapping starts commands of one directory at the same time and waits for them all. None may take
// so long that it waits for a holder who does not come.
func overlapping(t *testing.T, data string, commands ...[]string) {
	t.Helper()
	type started struct {
		cmd       *exec.Cmd
		out, errs bytes.Buffer
	}
	all := make([]*started, len(commands))
	for i, args := range commands {
		s := &started{cmd: stenoCommand(t.Context(), append(args, "--data", data)...)}
		s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.errs
		require.NoError(t, s.cmd.Start())
		all[i] = s
	}
	for i, s := range all {
		timer := time.AfterFunc(90*time.Second, func() { _ = s.cmd.Process.Kill() }) // its exit code says it
		_ = s.cmd.Wait()
		timer.Stop()
		require.Zero(t, s.cmd.ProcessState.ExitCode(), "steno %v\n%s%s", commands[i], s.out.String(), s.errs.String())
		require.NotEmpty(t, s.out.String())
	}
}

// Commands that overlap hand the directory on from one to the next: the first to come holds it, and
// when it ends another does.
func TestCommandsOverlap(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	ls, verify := []string{"ls", "--json"}, []string{"verify"}
	ok(t, "import", "--data", data, recording("goose-1.37.0.json"))
	for range 2 {
		overlapping(t, data, ls, verify, ls, ls, verify, ls)
	}
}

// A command that comes while the holder is ending finds nobody, and becomes the holder itself.
func TestCommandsFollowOneAnother(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	ok(t, "import", "--data", data, recording("goose-1.37.0.json"))
	first := stenoCommand(t.Context(), "tail", "--data", data)
	require.NoError(t, first.Start())
	for range 3 {
		time.Sleep(300 * time.Millisecond)
		next := stenoCommand(t.Context(), "tail", "--data", data)
		require.NoError(t, next.Start())
		time.Sleep(300 * time.Millisecond)
		require.NoError(t, first.Process.Signal(os.Interrupt))
		_ = first.Wait() // stopped
		first = next
	}
	require.NoError(t, first.Process.Signal(os.Interrupt))
	_ = first.Wait() // stopped
	ok(t, "verify", "--data", data)
}
