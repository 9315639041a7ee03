//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package tap

const (
	// atomicWrite is what a pipe that poll calls writable takes without blocking: POSIX's PIPE_BUF.
	atomicWrite = 512
	fionread    = 0x4004667f // _IOR('f', 127, int), the same on all of them
)
