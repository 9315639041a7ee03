//go:build !linux

package plain

import "syscall"

// EndWithParent does nothing where the system offers nothing.
func endWithParent(*syscall.SysProcAttr) {}
