package tap

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// passed are the signals that go on to the agent. Those that cannot be caught end the tap alone.
var passed = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGCONT,
	syscall.SIGWINCH, syscall.SIGUSR1, syscall.SIGUSR2,
}

// muted are caught and dropped: they say what a write's error says too, and would end the process
// before it can be handled. Caught, not ignored: an ignored signal stays ignored in the agent.
var muted = []os.Signal{syscall.SIGPIPE, syscall.SIGXFSZ}

type caught struct{ c, muted chan os.Signal }

// catchSignals leaves alone what the process was started to ignore (as nohup does), and with it the agent.
func catchSignals() caught {
	s := caught{c: make(chan os.Signal, 64), muted: make(chan os.Signal, 1)}
	for _, one := range passed {
		if !signal.Ignored(one) {
			signal.Notify(s.c, one)
		}
	}
	for _, one := range muted {
		if !signal.Ignored(one) {
			signal.Notify(s.muted, one)
		}
	}
	return s
}

func (s caught) stop() {
	signal.Stop(s.c)
	signal.Stop(s.muted)
}

// ends reports whether a signal asks a process to end.
func ends(s os.Signal) bool {
	return s == syscall.SIGINT || s == syscall.SIGTERM || s == syscall.SIGHUP || s == syscall.SIGQUIT
}

// passOn gives a signal to the agent. What a terminal's keys send goes to the whole foreground process
// group, so the agent has it already, unless it has a group of its own, and many agents take a second
// Ctrl-C for "at once".
func (c *conversation) passOn(s syscall.Signal) {
	fromKeys := s == syscall.SIGINT || s == syscall.SIGQUIT || s == syscall.SIGTSTP
	if !fromKeys || c.agent.leader != nil || !inForeground() {
		c.agent.signal(s)
	}
	if s == syscall.SIGTSTP { // the shell waits for its child to stop; SIGCONT wakes both
		_ = syscall.Kill(syscall.Getpid(), syscall.SIGSTOP) // a process may always signal itself
	}
}

// inForeground reports whether the process belongs to the foreground group of its terminal.
func inForeground() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false // it has no terminal
	}
	defer func() { _ = tty.Close() }()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
