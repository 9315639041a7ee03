package pgtest

import "syscall"

// endWithParent ends the server with the test binary, even when that one is killed.
func endWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGQUIT }
