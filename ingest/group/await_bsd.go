//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package group

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// await returns when a child has exited, which still has to be waited for, and says how. Of one that had
// exited before, some of these systems tell nothing: known is false then.
func await(pid int) (status syscall.WaitStatus, known bool, err error) {
	queue, err := unix.Kqueue()
	if err != nil {
		return 0, false, err
	}
	defer func() { _ = unix.Close(queue) }() // it holds nothing
	unix.CloseOnExec(queue)
	watch := make([]unix.Kevent_t, 1)
	unix.SetKevent(&watch[0], pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	watch[0].Fflags = noteExit
	told := make([]unix.Kevent_t, 1)
	for {
		n, err := unix.Kevent(queue, watch, told, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ESRCH):
			return 0, false, nil
		case err != nil:
			return 0, false, err
		case n == 0:
			continue
		case told[0].Flags&unix.EV_ERROR != 0 && syscall.Errno(told[0].Data) == unix.ESRCH:
			return 0, false, nil
		case told[0].Flags&unix.EV_ERROR != 0:
			return 0, false, syscall.Errno(told[0].Data)
		}
		return syscall.WaitStatus(told[0].Data), true, nil
	}
}
