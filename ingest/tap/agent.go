package tap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/steno-io/steno/ingest/group"
)

// agent is the tapped process with our ends of its pipes. Without a group of its own it stays in the
// tap's, as it would be in its client's: whoever signals the group reaches both.
type agent struct {
	cmd                   *exec.Cmd
	leader                *group.Leader      // of a group of its own; nil: it has none
	status                syscall.WaitStatus // valid after sweep
	stdin, stdout, stderr *os.File
}

func start(o Options) (*agent, error) {
	a := &agent{cmd: exec.Command(o.Command[0], o.Command[1:]...)}
	a.cmd.Dir, a.cmd.Env = o.Dir, o.Env
	var theirs [3]*os.File
	var err error
	if theirs[0], a.stdin, err = os.Pipe(); err == nil {
		if a.stdout, theirs[1], err = os.Pipe(); err == nil {
			a.stderr, theirs[2], err = os.Pipe()
		}
	}
	if err == nil {
		a.cmd.Stdin, a.cmd.Stdout, a.cmd.Stderr = theirs[0], theirs[1], theirs[2]
		if o.Group {
			a.leader, err = group.Start(a.cmd)
		} else {
			err = a.cmd.Start()
		}
	}
	for _, f := range theirs {
		if f != nil {
			_ = f.Close() // the agent has its own
		}
	}
	if err != nil {
		for _, f := range []*os.File{a.stdin, a.stdout, a.stderr} {
			if f != nil {
				_ = f.Close() // nothing went through it
			}
		}
		return nil, fmt.Errorf("%w %q: %w", ErrStart, o.Command[0], err)
	}
	return a, nil
}

// startCode is the shell's exit code for a command that could not be started.
func startCode(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return 127
	}
	return 126
}

// wait returns when the agent has exited; how is no error.
func (a *agent) wait() (err error) {
	if a.leader != nil {
		if _, err = a.leader.Exited(); errors.Is(err, group.ErrUnknown) {
			err = nil // sweep knows it
		}
	} else if err = a.cmd.Wait(); a.cmd.ProcessState != nil {
		a.status, err = a.cmd.ProcessState.Sys().(syscall.WaitStatus), nil
	}
	if err != nil {
		return fmt.Errorf("wait for agent %q: %w", a.cmd.Path, err)
	}
	return nil
}

// signal passes a signal on; an agent that has just gone does not need it.
func (a *agent) signal(s syscall.Signal) {
	if a.leader != nil {
		a.leader.Signal(s)
		return
	}
	_ = a.cmd.Process.Signal(s)
}

// sweep kills what an agent that is gone has left of its own group, which is not signalled any more then; so
// how it ended is known.
func (a *agent) sweep() error {
	if a.leader == nil {
		return nil
	}
	a.leader.Signal(syscall.SIGKILL)
	if err := a.leader.Release(); err != nil {
		return fmt.Errorf("wait for agent %q: %w", a.cmd.Path, err)
	}
	a.status = a.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return nil
}

// result is valid after sweep.
func (a *agent) result() Result {
	if a.status.Signaled() {
		return Result{ExitCode: 128 + int(a.status.Signal()), Signal: signalName(a.status.Signal())}
	}
	return Result{ExitCode: a.status.ExitStatus()}
}

func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return s.String()
}
