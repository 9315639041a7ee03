package stage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/schema/topology"
)

// Waits between tries: doubled from the first to the longest.
const (
	firstWait   = 20 * time.Millisecond
	longestWait = 2 * time.Second
)

// retry does something until it works. It returns ctx's error, or one that another try cannot mend.
func (w *Worker) retry(ctx context.Context, what string, do func() error) error {
	for try := 1; ; try++ {
		err := do()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if hopeless(err) {
			return fmt.Errorf("%s: %w", what, err)
		}
		w.counts.retries.Add(1)
		w.log.Warn().Err(err).Int("try", try).Msg(what)
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
}

// hopeless tells the errors after which the worker must be made anew.
func hopeless(err error) bool {
	for _, target := range []error{nats.ErrConnectionClosed, jetstream.ErrStreamNotFound, jetstream.ErrBucketNotFound,
		topology.ErrMissing, topology.ErrDrifted} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// pause waits before the try after the given one.
func pause(ctx context.Context, try int) error {
	wait := longestWait
	if try < 8 {
		wait = min(wait, firstWait<<(try-1))
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
