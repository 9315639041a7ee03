//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package group

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// await returns when a child has exited, which still has to be waited for, and says how. Of one that had
// exited before, some of these systems tell nothing more: ErrUnknown.
func await(pid int) (syscall.WaitStatus, error) {
	queue, err := unix.Kqueue()
	if err != nil {
		return 0, err
	}
	defer func() { _ = unix.Close(queue) }() // it holds nothing
	unix.CloseOnExec(queue)
	watch := make([]unix.Kevent_t, 1)
	unix.SetKevent(&watch[0], pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	watch[0].Fflags = noteExit
	told := make([]unix.Kevent_t, 1)
	for n := 0; n == 0; watch = nil { // an interrupted call has taken it over
		n, err = unix.Kevent(queue, watch, told, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			n = 0
		case errors.Is(err, unix.ESRCH):
			return 0, ErrUnknown
		case err != nil:
			return 0, err
		}
	}
	if told[0].Flags&unix.EV_ERROR == 0 {
		return syscall.WaitStatus(told[0].Data), nil
	}
	if cause := syscall.Errno(told[0].Data); cause != unix.ESRCH {
		return 0, cause
	}
	return 0, ErrUnknown
}
