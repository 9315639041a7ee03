package publish

import (
	"context"
	"sync"
	"time"

	"github.com/steno-io/steno/schema"
)

// Bounds of what waits between cutting and appending. A frame larger than the bound passes alone.
const (
	queueFrames = 4 * maxBatch
	queueBytes  = 8 << 20
)

// queue holds the frames that wait while an append is in flight. One goroutine puts, one takes.
type queue struct {
	mu     sync.Mutex
	frames []schema.Frame
	bytes  int
	err    error // why no more come; nil while they do

	came chan struct{} // a token: something was put, or the end
	went chan struct{} // a token: something was taken
}

func newQueue() *queue {
	return &queue{came: make(chan struct{}, 1), went: make(chan struct{}, 1)}
}

// put adds frames and waits while the queue is at a bound.
func (q *queue) put(ctx context.Context, frames []schema.Frame) error {
	for {
		q.mu.Lock()
		room := len(q.frames) == 0 || len(q.frames) < queueFrames && q.bytes < queueBytes
		if room {
			q.frames = append(q.frames, frames...)
			for i := range frames {
				q.bytes += len(frames[i].Data)
			}
		}
		q.mu.Unlock()
		if room {
			token(q.came)
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-q.went:
		}
	}
}

// end says that no more frames come, and why: io.EOF is the orderly end.
func (q *queue) end(err error) {
	q.mu.Lock()
	q.err = err
	q.mu.Unlock()
	token(q.came)
}

// take gives all waiting frames. With none it waits, at most for idle if that is above 0; then it
// gives none and no error. Once the queue is empty and ended it gives the reason.
func (q *queue) take(ctx context.Context, idle time.Duration) ([]schema.Frame, error) {
	var timeout <-chan time.Time
	if idle > 0 {
		timer := time.NewTimer(idle)
		defer timer.Stop()
		timeout = timer.C
	}
	for {
		q.mu.Lock()
		frames, err := q.frames, q.err
		q.frames, q.bytes = nil, 0
		q.mu.Unlock()
		if len(frames) > 0 {
			token(q.went)
			return frames, nil
		}
		if err != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-timeout:
			return nil, nil
		case <-q.came:
		}
	}
}

func token(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
