package journal

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// A writer holds an exclusive flock on its file while it lives. The kernel gives it back at the
// process's end however that comes, so that anyone can tell a living writer from a dead one. Go
// opens files close-on-exec: a tapped agent does not inherit the lock.

func lockFile(f *os.File) error {
	if err := flock(f, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("lock journal %s: %w", f.Name(), err)
	}
	return nil
}

// writerLives probes the lock with a shared one, which readers do not refuse each other.
func writerLives(f *os.File) (bool, error) {
	err := flock(f, unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("probe lock of journal %s: %w", f.Name(), err)
	}
	if err := flock(f, unix.LOCK_UN); err != nil {
		return false, fmt.Errorf("release probe of journal %s: %w", f.Name(), err)
	}
	return false, nil
}

func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
