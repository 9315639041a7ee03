package holder

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Commands without an answer want the directory as soon as it is free. They leave it to an up that waits.
func TestAnUpThatWaitsIsTheNextHolder(t *testing.T) {
	dir := Dir(t.TempDir())
	first := start(t, options(t, dir, Command))
	var over atomic.Bool
	commands := make(chan int)
	go func() {
		held := 0
		for dir.noTurn() == nil && !over.Load() { // one that looked before may still come between
			time.Sleep(time.Millisecond)
		}
		for !over.Load() {
			h, err := Acquire(t.Context(), options(t, dir, Command))
			if err != nil {
				continue // what else it may be, the up finds too
			}
			held++
			_, _ = h.Run(within(t)) // handed over, as the first one
		}
		commands <- held
	}()
	up, err := TakeOver(within(t), options(t, dir, Up))
	over.Store(true)
	require.NoError(t, err)
	require.Zero(t, <-commands, "holders between the first one and the up")
	require.NoError(t, up.stop(false))
	require.Equal(t, result{handedOver: true}, first.wait(t))
}

// The turn is only a turn: it is over when the up has the directory, and when it ends without.
func TestTheTurnOfAnUpEnds(t *testing.T) {
	dir := Dir(t.TempDir())
	up, err := TakeOver(t.Context(), options(t, dir, Up))
	require.NoError(t, err)
	_, err = TakeOver(t.Context(), options(t, dir, Up))
	require.ErrorContains(t, err, "steno up runs there already")
	require.NoError(t, up.stop(false))
	start(t, options(t, dir, Command)).end(t)

	turn, err := dir.takeTurn()
	require.NoError(t, err)
	_, err = Acquire(t.Context(), options(t, dir, Command))
	require.ErrorIs(t, err, ErrHeld)
	_, err = dir.takeTurn()
	require.ErrorIs(t, err, ErrHeld)
	require.NoError(t, turn.release())
	start(t, options(t, dir, Command)).end(t)
}

// Between fork and exec a child shares the lock's open file, as a duplicate does.
func TestTheLockEndsThoughAChildHasItsFile(t *testing.T) {
	dir := Dir(t.TempDir())
	first, err := dir.take()
	require.NoError(t, err)
	child, err := unix.Dup(int(first.file.Fd()))
	require.NoError(t, err)
	defer unix.Close(child) //nolint:errcheck // nothing was written to it
	require.NoError(t, first.release())
	second, err := dir.take()
	require.NoError(t, err)
	require.NoError(t, second.release())
}
