package holder

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// ErrHeld: another process holds the data directory.
var ErrHeld = errors.New("data directory is held by another process")

// lock is an flock: the kernel gives it back when the process ends, however it ends.
type lock struct{ file *os.File }

func (d Dir) take() (*lock, error) {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, fmt.Errorf("make data directory: %w", err)
	}
	f, err := os.OpenFile(d.lock(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock of data directory %s: %w", d, err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return &lock{f}, nil
	}
	_ = f.Close() // nothing was written to it
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, fmt.Errorf("lock data directory %s: %w", d, ErrHeld)
	}
	return nil, fmt.Errorf("lock data directory %s: %w", d, err)
}

func (l *lock) release() error {
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("release lock of data directory: %w", err)
	}
	return nil
}
