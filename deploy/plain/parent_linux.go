package plain

import "syscall"

// EndWithParent ends a process with the suite, even when that one is killed.
func EndWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
