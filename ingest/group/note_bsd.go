//go:build freebsd || netbsd || openbsd || dragonfly

package group

import "golang.org/x/sys/unix"

// noteExit asks for the end of a process, and comes with its status.
const noteExit = unix.NOTE_EXIT
