package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// filesOf gives the bytes of all files in a directory, by name.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		all[name] = string(text)
		return err
	}))
	return all
}

// countFiles counts the files of a directory that another process writes into.
func countFiles(dir string) (n int) {
	_ = fs.WalkDir(os.DirFS(dir), ".", func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			n++
		}
		return nil // what has gone meanwhile is not counted
	})
	return n
}

// TestKilledSealers kills steno seal at random points of its work and starts it again each time: the archive is,
// byte for byte, the one of a sealer that nobody disturbed.
func TestKilledSealers(t *testing.T) {
	t.Parallel()
	data, dir := t.TempDir(), t.TempDir()
	key, whole, place := filepath.Join(dir, "mill.key"), filepath.Join(dir, "whole"), filepath.Join(dir, "killed")
	ok(t, "keygen", key)
	sacks, err := os.ReadFile("testdata/sacks.jsonl")
	require.NoError(t, err)
	files := []string{recording("a2a-go-2.4.0.jsonl")}
	for n := range max(3, kills(t)/2) { // another file is another capture
		file := filepath.Join(dir, fmt.Sprintf("sacks-%d.jsonl", n))
		require.NoError(t, os.WriteFile(file, append(sacks, strings.Repeat("\n", n)...), 0o600))
		files = append(files, file)
	}
	up := startUp(t, data)
	ok(t, append([]string{"import", "--data", data}, files...)...)
	seal := func(place string) []string {
		return []string{"seal", "--all", "--data", data, "--archive", place, "--signing-key", key}
	}
	ok(t, seal(whole)...)
	want := filesOf(t, whole)

	killed, early := 0, 0
	for have := 0; killed < kills(t); {
		until := have + 1 + rand.IntN(1+(len(want)-have)/(kills(t)-killed+1))
		cmd := stenoCommand(t.Context(), seal(place)...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		require.NoError(t, cmd.Start())
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		for running := true; running; {
			select {
			case err := <-done:
				require.NoError(t, err, errs.String())
				require.Equal(t, want, filesOf(t, place), "it said that it had sealed all")
				require.NoError(t, os.RemoveAll(place)) // the kills that are left are of another one
				running, early = false, early+1
			case <-time.After(time.Duration(rand.IntN(3000)) * time.Microsecond):
				if countFiles(place) < until {
					continue
				}
				if err := cmd.Process.Kill(); errors.Is(err, os.ErrProcessDone) {
					continue // it was whole just now
				} else {
					require.NoError(t, err)
				}
				<-done
				running, killed = false, killed+1
			}
		}
		have = min(countFiles(place), len(want))
	}
	t.Logf("killed %d times, %d files in the whole archive, %d archives were whole before all kills", killed, len(want), early)
	ok(t, seal(place)...)
	require.Equal(t, want, filesOf(t, place))
	require.Contains(t, ok(t, "verify", place), "\nverified: ")
	require.Zero(t, up.stop(t), up.errs.String())
}
