package journal

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// SyncEvery is how long a chunk may stand in the page cache only. It survives the death of the
// process at once, and that of the machine after this time.
const SyncEvery = 100 * time.Millisecond

// Run makes what is appended durable every SyncEvery while there is something new, until ctx ends,
// and then once more. A failed sync fails every later append under Block and ends Run; under Pass it
// is reported and Run goes on.
func (w *Writer) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return w.flush()
		case <-w.dirty:
		}
		select {
		case <-ctx.Done():
		case <-time.After(SyncEvery):
		}
		if err := w.flush(); err != nil {
			return err
		}
	}
}

// flush syncs without holding the turn: appends go on meanwhile.
func (w *Writer) flush() error {
	err := w.file.Sync()
	if err == nil {
		return nil
	}
	err = fmt.Errorf("sync journal %s: %w", w.path, err)
	w.turn <- struct{}{}
	defer w.give()
	if w.closed { // Close has synced
		return nil
	}
	w.say(Failed, err)
	if w.policy == Pass {
		return nil
	}
	w.failed = errors.Join(w.failed, err)
	return err
}

// Close writes down an open gap, syncs, closes the file and with it gives the lock back. Run should
// have returned. A second Close does nothing.
func (w *Writer) Close() error {
	w.turn <- struct{}{}
	defer w.give()
	if w.closed {
		return nil
	}
	w.closed = true
	defer close(w.ended)
	gap := w.fillGap(w.last)
	err := w.file.Sync()
	if err != nil {
		err = fmt.Errorf("sync journal %s: %w", w.path, err)
	}
	return errors.Join(gap, err, w.file.Close())
}
