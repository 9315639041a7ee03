package tap

import "golang.org/x/sys/unix"

const (
	// atomicWrite is what a pipe that poll calls writable takes without blocking: one page.
	atomicWrite = 4096
	fionread    = unix.TIOCINQ
)
