package plain

import "syscall"

// endWithParent ends a process with the suite, even when that one is killed.
func endWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
