package journal

import (
	"context"
	"time"

	"github.com/fsnotify/fsnotify"
)

// listen sets up the notification at the first wait and reports whether it stood already: what was
// written before it stands has to be looked for once more. A system that gives no notification is
// no failure: the reader looks by the clock.
func (r *Reader) listen() (ready bool) {
	if r.bell != nil || r.own != nil || r.deaf {
		return true
	}
	n, err := fsnotify.NewWatcher()
	if err != nil {
		r.deaf = true
		return true
	}
	if err := n.Add(r.path); err != nil {
		r.deaf = true
		_ = n.Close() // it watches nothing
		return true
	}
	r.own = n
	return false
}

// wait returns when the file may have grown, the clock says to look, or ctx ends.
func (r *Reader) wait(ctx context.Context) error {
	var events chan fsnotify.Event
	var failures chan error
	if r.own != nil {
		events, failures = r.own.Events, r.own.Errors
	}
	timer := time.NewTimer(poll)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-r.bell:
	case <-events:
	case <-failures: // an overflow or worse: looking again is right in every case
	case <-timer.C:
	}
	return nil
}
