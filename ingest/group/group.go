// Package group starts a command as the leader of a process group of its own, so that what the command
// starts can be signalled with it, and nobody else ever is.
//
// A group has its leader's process id for a number, and the system gives that to others as soon as the leader
// was waited for and nobody of the group is left. So a leader that has exited is not waited for until its
// group need not be signalled any more: until then it keeps the number.
package group

import (
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"syscall"
)

// ErrUnknown: a command has exited, and nothing more is known of it before its release. Where a command ends
// before it is looked at, systems other than Linux may say no more.
var ErrUnknown = errors.New("how it has ended is not known before its release")

// Leader is a command that leads a process group. It is safe for concurrent use.
type Leader struct {
	cmd    *exec.Cmd
	exited func() (syscall.WaitStatus, error) // waits, once
	kill   func(pid int, s syscall.Signal) error

	mu       sync.Mutex
	released bool
}

// Start starts a command as the leader of a new process group. Release must follow.
func Start(cmd *exec.Cmd) (*Leader, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	l := &Leader{cmd: cmd, kill: syscall.Kill}
	l.exited = sync.OnceValues(l.wait)
	return l, nil
}

// Exited returns when the command has exited, and says how, or that it is ErrUnknown. What it has started may
// go on.
func (l *Leader) Exited() (syscall.WaitStatus, error) { return l.exited() }

// wait waits for the end of the command, and leaves it with the system: its group keeps its number.
func (l *Leader) wait() (syscall.WaitStatus, error) {
	status, err := await(l.cmd.Process.Pid)
	if err != nil {
		return 0, fmt.Errorf("wait for %q: %w", l.cmd.Path, err)
	}
	return status, nil
}

// Signal signals all processes of the group, the command included if it still runs. Where nobody is left
// it does nothing, and after Release neither.
func (l *Leader) Signal(s syscall.Signal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.released {
		_ = l.kill(-l.cmd.Process.Pid, s) // it fails where nobody is left to be signalled
	}
}

// Release waits until the command has exited, and gives back what the system keeps of it: the group is not
// signalled any more, and the command's ProcessState says how it has ended. A second Release does nothing.
func (l *Leader) Release() error {
	if _, err := l.exited(); err != nil && !errors.Is(err, ErrUnknown) {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.released {
		return nil
	}
	l.released = true
	if err := l.cmd.Wait(); l.cmd.ProcessState == nil {
		return fmt.Errorf("wait for %q: %w", l.cmd.Path, err)
	}
	return nil
}
