package tmuxtest

import "syscall"

// endWithParent ends tmux with the test binary, even when that one is killed.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
