package main

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Whoever has not pressed Ctrl-C yet does not end by the first one what somebody else, or the clock, has stopped.
func TestTheSecondSignalIsTheUsersOwn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		timeout   time.Duration
		cancelled bool
	}{"asked by a signal": {0, false}, "cancelled by others": {0, true}, "out of time": {time.Millisecond, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			signals, cancelled := make(chan os.Signal), make(chan struct{})
			ctx, stop, done := untilTwo(t.Context(), signals, c.timeout, cancelled)
			defer done()
			if c.cancelled {
				close(cancelled)
				<-stop
			} else if c.timeout > 0 {
				<-stop
			}
			signals <- os.Interrupt
			<-stop
			select {
			case signals <- os.Interrupt:
			case <-ctx.Done():
				require.Fail(t, "it was ended by the first signal")
			}
			<-ctx.Done()
			require.EqualError(t, context.Cause(ctx), "a second signal")
		})
	}
}
