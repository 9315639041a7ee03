package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/steno-io/steno/cmd/steno/holder"
)

func TestADemoRemovesOnlyWhatNobodyUses(t *testing.T) {
	base, now := filepath.Join(t.TempDir(), "steno-demo"), time.Unix(1, 0)
	running, end, err := demoDir(base, now)
	require.NoError(t, err)
	second, release, err := demoDir(base, now.Add(time.Second))
	require.NoError(t, err)
	require.DirExists(t, running, "its demo is running")
	require.NoError(t, release())

	held, err := holder.Acquire(t.Context(), holder.Options{Dir: holder.Dir(second), Kind: holder.Command, Catalogue: protocols()})
	require.NoError(t, err)
	third, release, err := demoDir(base, now.Add(2*time.Second))
	require.NoError(t, err)
	require.DirExists(t, second, "another command holds it")
	require.NoError(t, release())
	ended := make(chan error, 1)
	ctx, stop := untilSignal()
	go func() {
		_, err := held.Run(ctx)
		ended <- err
	}()
	stop()
	require.NoError(t, <-ended)

	_, release, err = demoDir(base, now.Add(3*time.Second))
	require.NoError(t, err)
	require.DirExists(t, running)
	require.NoDirExists(t, second)
	require.NoDirExists(t, third)
	require.NoError(t, errors.Join(release(), end()))
}

func TestADemoTouchesNoDirectoryOfOthers(t *testing.T) {
	base := t.TempDir()
	mine := filepath.Join(base, "nats", "mine")
	require.NoError(t, os.MkdirAll(mine, 0o700))
	_, _, err := demoDir(base, time.Now())
	require.ErrorContains(t, err, "is not the demo's")
	require.NoError(t, os.WriteFile(filepath.Join(base, demoMark), nil, 0o600))
	_, release, err := demoDir(base, time.Now())
	require.NoError(t, err)
	require.NoError(t, release())
	require.DirExists(t, mine, "it is no run")
}

func TestTwoDemosAtOnce(t *testing.T) {
	data := filepath.Join(t.TempDir(), "d")
	t.Setenv("STENO_DATA", data)
	kept := stenoCommand(t.Context(), "demo", "--keep", "--listen", "127.0.0.1:0", "--speed", "0") // 7070 may be another's
	require.NoError(t, kept.Start())
	require.Eventually(t, func() bool {
		dirs, err := filepath.Glob(data + "-demo/*/holder.json")
		require.NoError(t, err)
		return len(dirs) == 1
	}, time.Minute, 50*time.Millisecond)
	dirs, err := filepath.Glob(data + "-demo/*/holder.json")
	require.NoError(t, err)
	require.Contains(t, ok(t, "demo", "--speed", "0"), " 0 unaccounted")
	require.FileExists(t, dirs[0], "the first one goes on")
	require.NoError(t, kept.Process.Signal(unix.SIGTERM))
	_ = kept.Wait() // where it was stopped decides its code
	require.Contains(t, []int{0, 143}, kept.ProcessState.ExitCode())
}
