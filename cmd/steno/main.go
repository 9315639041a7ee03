// Command steno records what AI agents say to each other and to their users.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// version is set by the linker in releases.
var version = "dev"

func main() {
	// A reader of the output that goes away ends the command by the error of its next write, in good
	// order: by default the signal would kill it, and with it the pipeline that others work through.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := untilSignal()
	code := run(ctx, os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// untilSignal is a context that ends with the first SIGINT, SIGTERM or SIGHUP, which its cause names. The
// second one ends the process at once. A terminal that goes sends SIGHUP: what holds a directory hands it
// over then, too.
func untilSignal() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, stopSignals()...)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case s := <-signals:
			signal.Stop(signals)
			if s, ok := s.(syscall.Signal); ok {
				cancel(stoppedBy(s))
			}
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil); <-done; signal.Stop(signals) }
}

// stopSignals are those that ask a command to stop. What was started to ignore SIGHUP, as by nohup, goes on
// ignoring it.
func stopSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// stoppedBy is the cause of a context that a signal has ended.
type stoppedBy syscall.Signal

// Error implements error.
func (s stoppedBy) Error() string { return "stopped: " + syscall.Signal(s).String() }

// Is makes it a cancellation like any other.
func (s stoppedBy) Is(target error) bool { return target == context.Canceled }
