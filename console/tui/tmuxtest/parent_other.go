//go:build !linux

package tmuxtest

import "syscall"

// endWithParent does nothing where the system offers nothing.
func endWithParent() *syscall.SysProcAttr { return nil }
