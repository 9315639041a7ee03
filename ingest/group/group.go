// Package group starts a command as the leader of a process group of its own, so that what the command
// starts can be signalled with it.
package group

import (
	"os/exec"
	"syscall"
)

// Lead makes a command that is not started yet the leader of a new process group.
func Lead(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
}

// Signal signals all processes of the group that a started command leads, the command included if it
// still runs. While one of them lives nobody else gets the group's number; a group of which nobody was
// left when the command had been waited for must not be signalled any more.
func Signal(cmd *exec.Cmd, s syscall.Signal) {
	_ = syscall.Kill(-cmd.Process.Pid, s) // it fails where nobody is left to be signalled
}

// Left reports whether a command that was just waited for has left anybody in its group.
func Left(cmd *exec.Cmd) bool {
	return syscall.Kill(-cmd.Process.Pid, 0) == nil
}
