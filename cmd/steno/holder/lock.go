package holder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/rs/zerolog"
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
	return d.flock(d.lock(), os.O_RDWR|os.O_CREATE, unix.LOCK_EX)
}

// takeTurn makes whoever calls it the next holder: no command takes the directory until the turn is released.
// The error wraps ErrHeld if another up waits.
func (d Dir) takeTurn() (*lock, error) {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, fmt.Errorf("make data directory: %w", err)
	}
	return d.flock(d.turn(), os.O_RDWR|os.O_CREATE, unix.LOCK_EX)
}

// noTurn gives an error that wraps ErrHeld where an up waits for the directory.
func (d Dir) noTurn() error {
	l, err := d.flock(d.turn(), os.O_RDONLY, unix.LOCK_SH) // commands that ask at the same time see no up in each other
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return l.release()
}

func (d Dir) flock(path string, flags, how int) (*lock, error) {
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock of data directory %s: %w", d, err)
	}
	err = unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	if err == nil {
		return &lock{f}, nil
	}
	_ = f.Close() // nothing was written to it
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, fmt.Errorf("lock data directory %s: %w", d, ErrHeld)
	}
	return nil, fmt.Errorf("lock data directory %s: %w", d, err)
}

// release unlocks before it closes: a child that this process has just forked has the open file, too, until it runs
// its own program, and would keep the lock as long.
func (l *lock) release() error {
	if err := errors.Join(unix.Flock(int(l.file.Fd()), unix.LOCK_UN), l.file.Close()); err != nil {
		return fmt.Errorf("release lock of data directory: %w", err)
	}
	return nil
}

// end releases the turn of an up, if it had it.
func (l *lock) end(log zerolog.Logger) {
	if l == nil {
		return
	}
	if err := l.release(); err != nil {
		log.Warn().Err(err).Msg("give the turn back")
	}
}
