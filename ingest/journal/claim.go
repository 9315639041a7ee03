package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ErrClaimed marks a journal that another process publishes.
var ErrClaimed = errors.New("another process publishes the journal")

// Claim makes this process the only one that publishes the journal with that id, until the claim is
// released or the process ends. The error wraps ErrClaimed where somebody else is that.
func Claim(dir, id string) (release func() error, err error) {
	path := ClaimPath(dir, id)
	f, err := os.OpenFile(filepath.Clean(path), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("claim journal %s: %w", id, err)
	}
	err = flock(f, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = ErrClaimed
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("claim journal %s: %w", id, err), f.Close())
	}
	return f.Close, nil // and with the file the lock
}
