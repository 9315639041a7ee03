package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// demoMark is the file that marks a directory as the demo's own; whoever has its flock makes and
	// removes runs in it.
	demoMark = "steno-demo"
	// demoRun is the file of a run that its demo has the flock on while it runs.
	demoRun = "demo"
	// holderLock is the file of a data directory that its holder has the flock on.
	holderLock = "lock"
)

// demoDir makes a data directory for one run of the demo under base, and removes those of earlier runs
// that no process uses any more. release ends the run; the directory stays until the next demo.
func demoDir(base string, now time.Time) (dir string, release func() error, err error) {
	if err := ownDirectory(base); err != nil {
		return "", nil, err
	}
	sweeping, err := flock(filepath.Join(base, demoMark), unix.LOCK_EX)
	if err != nil {
		return "", nil, fmt.Errorf("make demo directory: %w", err)
	}
	defer func() { err = errors.Join(err, sweeping.Close()) }()
	if err := sweepRuns(base); err != nil {
		return "", nil, err
	}
	dir = filepath.Join(base, fmt.Sprintf("%s-%d", now.UTC().Format("20060102T150405.000"), os.Getpid()))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", nil, fmt.Errorf("make demo directory: %w", err)
	}
	running, err := flock(filepath.Join(dir, demoRun), unix.LOCK_EX|unix.LOCK_NB)
	if err != nil {
		return "", nil, fmt.Errorf("make demo directory: %w", err)
	}
	return dir, running.Close, nil
}

// ownDirectory makes base, or finds it to be the demo's own.
func ownDirectory(base string) error {
	entries, err := os.ReadDir(base)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("make demo directory: %w", err)
	}
	if _, err := os.Stat(filepath.Join(base, demoMark)); err != nil && len(entries) > 0 {
		return fmt.Errorf("make demo directory: %s is there and is not the demo's; name another with --data", base)
	}
	if err := os.MkdirAll(base, 0o700); err != nil {
		return fmt.Errorf("make demo directory: %w", err)
	}
	return nil
}

// sweepRuns removes the runs that neither their demo nor any other command uses.
func sweepRuns(base string) error {
	entries, err := os.ReadDir(base)
	if err != nil {
		return fmt.Errorf("remove earlier demos: %w", err)
	}
	for _, entry := range entries {
		dir := filepath.Join(base, entry.Name())
		if _, err := os.Stat(filepath.Join(dir, demoRun)); err != nil {
			continue // not a run
		}
		if err := sweepRun(dir); err != nil && !errors.Is(err, unix.EWOULDBLOCK) {
			return fmt.Errorf("remove earlier demo: %w", err)
		}
	}
	return nil
}

// sweepRun removes a run; the error wraps EWOULDBLOCK if a process uses it.
func sweepRun(dir string) (err error) {
	for _, name := range []string{demoRun, holderLock} {
		f, err := flock(filepath.Join(dir, name), unix.LOCK_EX|unix.LOCK_NB)
		if err != nil {
			return err
		}
		defer f.Close() // nothing was written to it
	}
	return os.RemoveAll(dir)
}

// flock opens a file, making it if need be, and takes its lock, which closing it gives back.
func flock(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
	}
	return f, nil
}
