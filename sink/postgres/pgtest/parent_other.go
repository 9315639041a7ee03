//go:build !linux

package pgtest

import "syscall"

// endWithParent does nothing where the system offers nothing.
func endWithParent(*syscall.SysProcAttr) {}
