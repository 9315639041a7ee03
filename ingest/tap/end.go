package tap

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// end is one end of a pipe, socket or terminal that is waited for by poll. The client's ends are shared
// with other processes, whose open file they are: making them non-blocking would change them for those
// too. So a write to a shared end is at most atomicWrite long: it cannot block after poll.
type end struct {
	fd  int
	own bool
}

func newEnd(f *os.File, own bool) (end, error) {
	e := end{fd: int(f.Fd()), own: own}
	if !own {
		return e, nil
	}
	if err := unix.SetNonblock(e.fd, true); err != nil {
		return e, fmt.Errorf("make %s non-blocking: %w", f.Name(), err)
	}
	return e, nil
}

// What a wait was ended by.
type waker int

const (
	byFile waker = iota
	byFinish
	byAbort
	byTime
)

// await waits until the end is ready for the events, broken, or a bell rings.
func (e end) await(events int16, abort, finish bell) (waker, error) {
	return e.awaitFor(events, abort, finish, -1)
}

// awaitFor is await for a time at most, in whole milliseconds; below 0 for any.
func (e end) awaitFor(events int16, abort, finish bell, wait time.Duration) (waker, error) {
	deadline := time.Now().Add(wait)
	fds := [3]unix.PollFd{
		{Fd: int32(e.fd), Events: events},
		{Fd: abort.fd(), Events: unix.POLLIN},
		{Fd: finish.fd(), Events: unix.POLLIN},
	}
	for {
		left := -1
		if wait >= 0 {
			left = int(max(time.Until(deadline).Milliseconds(), 0))
		}
		n, err := unix.Poll(fds[:], left)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, fmt.Errorf("poll: %w", err)
		case n == 0:
			return byTime, nil
		case fds[1].Revents != 0:
			return byAbort, nil
		case fds[2].Revents != 0:
			return byFinish, nil
		case fds[0].Revents&unix.POLLNVAL != 0:
			return 0, fmt.Errorf("poll: %w", unix.EBADF)
		case fds[0].Revents != 0:
			return byFile, nil
		}
	}
}

// broken reports whether nobody reads any more what is written to a pipe.
func (e end) broken() bool {
	fds := [1]unix.PollFd{{Fd: int32(e.fd), Events: unix.POLLOUT}}
	_, err := unix.Poll(fds[:], 0)
	return err == nil && fds[0].Revents&unix.POLLERR != 0
}

func (e end) read(b []byte) (int, error) {
	for {
		n, err := unix.Read(e.fd, b)
		if !errors.Is(err, unix.EINTR) {
			return max(n, 0), err
		}
	}
}

func (e end) write(b []byte) (int, error) {
	if !e.own {
		b = b[:min(len(b), atomicWrite)]
	}
	for {
		n, err := unix.Write(e.fd, b)
		if !errors.Is(err, unix.EINTR) {
			return max(n, 0), err
		}
	}
}

// pending is how many bytes can be read at once.
func (e end) pending() (int, error) {
	n, err := unix.IoctlGetInt(e.fd, fionread)
	if err != nil {
		return 0, fmt.Errorf("ask for pending bytes: %w", err)
	}
	return n, nil
}

// bell wakes every wait once rung: its writing end is closed.
type bell struct{ r, w *os.File }

// noBell never rings.
var noBell bell

func newBell() (bell, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return bell{}, fmt.Errorf("make pipe: %w", err)
	}
	return bell{r, w}, nil
}

func (b bell) ring() { _ = b.w.Close() } // again: it has rung already

func (b bell) close() {
	b.ring()
	_ = b.r.Close() // it carries no bytes
}

func (b bell) fd() int32 {
	if b.r == nil {
		return -1 // poll passes over it
	}
	return int32(b.r.Fd())
}
