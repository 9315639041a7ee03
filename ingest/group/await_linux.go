package group

import (
	"errors"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// How a child has ended, in a siginfo's code.
const (
	cldExited = 1
	cldKilled = 2
	cldDumped = 3
)

// child is what a siginfo says of a child, behind its three numbers and what aligns it to a pointer.
//
//	signo errno code [padding] pid uid status …
type child struct {
	_ [3]int32
	_ [0]uintptr
	ended
}

type ended struct {
	_      [0]uintptr
	_      int32 // pid
	_      uint32
	status int32
}

// await returns when a child has exited, which still has to be waited for, and says how.
func await(pid int) (syscall.WaitStatus, error) {
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EINTR) {
			return 0, err
		}
	}
	code := (*child)(unsafe.Pointer(&info)).status
	switch info.Code {
	case cldKilled:
		return syscall.WaitStatus(code), nil
	case cldDumped:
		return syscall.WaitStatus(code | 0x80), nil
	}
	return syscall.WaitStatus(code << 8), nil
}
