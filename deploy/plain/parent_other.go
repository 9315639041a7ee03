//go:build !linux

package plain

import "syscall"

// endWithParent does nothing where the system offers nothing.
func endWithParent(*syscall.SysProcAttr) {}
