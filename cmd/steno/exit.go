package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/steno-io/steno/cmd/steno/holder"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/archive/s3"
	"github.com/steno-io/steno/sink/postgres"
	"github.com/steno-io/steno/translate/lease"
)

// Exit codes; the first that applies counts.
const (
	exitOK          = 0
	exitRuntime     = 1
	exitUsage       = 2
	exitChanged     = 10 // anything changed, missing or added
	exitGap         = 11 // consistent, but holding a gap frame
	exitSignature   = 12 // a signature is not good
	exitUnavailable = 69
	exitConfig      = 78
	exitSignal      = 128 // and the signal's number, as a shell says
	exitInterrupt   = exitSignal + 2
	exitPipe        = exitSignal + 13 // nobody reads the output any more
)

// exitError is an error with its exit code. Without a cause it has no text, because the command has
// said it; what it is joined with is still said.
type exitError struct {
	code  int
	cause error
}

func (e *exitError) Error() string {
	if e.cause == nil {
		return ""
	}
	return e.cause.Error()
}

func (e *exitError) Unwrap() error { return e.cause }

func usage(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// exitCode gives the exit code of an error.
func exitCode(err error) int {
	var e *exitError
	var signal stoppedBy
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &e):
		return e.code
	case errors.Is(err, errURL), errors.Is(err, s3.ErrAddress):
		return exitUsage
	case errors.Is(err, archive.ErrSignature):
		return exitSignature
	case errors.Is(err, archive.ErrBundle), errors.Is(err, archive.ErrUnfit):
		return exitChanged
	case errors.Is(err, holder.ErrGone), errors.Is(err, holder.ErrHeld), errors.Is(err, errUnreachable),
		errors.Is(err, postgres.ErrUnreachable), errors.Is(err, s3.ErrUnreachable), errors.Is(err, errFetch):
		return exitUnavailable
	case errors.Is(err, topology.ErrDrifted), errors.Is(err, topology.ErrMissing), errors.Is(err, topology.ErrPartitions),
		errors.Is(err, sink.ErrVersion), errors.Is(err, sink.ErrDenied), errors.Is(err, postgres.ErrName), errors.Is(err, lease.ErrName),
		errors.Is(err, s3.ErrDenied), errors.Is(err, s3.ErrBucket), errors.Is(err, s3.ErrUnfit), errors.Is(err, s3.ErrNoLock),
		errors.Is(err, errInbox):
		return exitConfig
	case errors.Is(err, syscall.EPIPE):
		return exitPipe
	case errors.As(err, &signal):
		return exitSignal + int(signal)
	case errors.Is(err, context.Canceled):
		return exitInterrupt
	}
	return exitRuntime
}
