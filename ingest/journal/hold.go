package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// diskFull reports whether a write failed for want of room, which somebody may make. A sync that
// fails so is another matter: what it was to make durable may be gone.
func diskFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}

// hold counts an append that begins to wait. The turn is held.
func (w *Writer) hold(full error) {
	if w.held++; w.held == 1 {
		w.say(Blocked, full)
	}
}

// release counts an append that no longer waits; err says that it is not written all the same. The
// conversation goes on when nobody waits: a small chunk may find room where a large one does not.
// The turn is held.
func (w *Writer) release(err error) {
	if w.held--; w.held == 0 && err == nil {
		w.say(Resumed, nil)
	}
}

// wait waits before the next look for room. Its error is the end of ctx; the append no longer waits then.
func (w *Writer) wait(ctx context.Context, full error) error {
	select {
	case <-ctx.Done():
	case <-time.After(lookAgain):
		return nil
	}
	err := fmt.Errorf("append to journal %s: %w: %w", w.path, full, context.Cause(ctx))
	w.leave(err)
	return err
}

// leave is release for whoever does not hold the turn.
func (w *Writer) leave(err error) {
	w.turn <- struct{}{}
	defer w.give()
	w.release(err)
}
