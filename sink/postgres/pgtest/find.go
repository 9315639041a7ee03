package pgtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

var errNoServer = errors.New("find PostgreSQL: no initdb in $PATH nor under /usr/lib/postgresql/*/bin; these tests need the real " +
	"server's programs (Debian: apt-get install -y --no-install-recommends postgresql)")

// binaries finds the folder with the server's programs, which Debian keeps out of $PATH.
func binaries() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", errNoServer
	}
	return filepath.Dir(found[len(found)-1]), nil
}

// owner is whom the server runs as, because it refuses to be root's; nil = the user of the test.
func owner() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, fmt.Errorf("find a user for PostgreSQL, which refuses to run as root: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}
