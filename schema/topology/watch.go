package topology

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Bucket opens a bucket of keys. The client library waits for the server's answer for as long as ctx lasts: Bucket
// ends after 5 s, with an error that wraps context.DeadlineExceeded, for the server may have gone meanwhile.
func Bucket(ctx context.Context, js jetstream.JetStream, name string) (jetstream.KeyValue, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	kv, err := js.KeyValue(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", name, err)
	}
	return kv, nil
}

// Watch watches keys of a bucket until Stop, or ctx's end. The client library waits for the server to take a
// watch for as long as ctx lasts, and hears nothing if the server went meanwhile: Watch ends after 5 s then, with
// an error that wraps context.DeadlineExceeded.
func Watch(ctx context.Context, kv jetstream.KeyValue, keys string, options ...jetstream.WatchOpt) (jetstream.KeyWatcher, error) {
	ctx, stop := context.WithCancelCause(ctx)
	late := time.AfterFunc(answerWithin, func() { stop(context.DeadlineExceeded) })
	watch, err := kv.Watch(ctx, keys, options...)
	if !late.Stop() { // it was taken too late: late ends it, if it has not yet
		stop(context.DeadlineExceeded)
		err = context.Cause(ctx)
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		stop(nil)
		return nil, fmt.Errorf("watch keys %s of %s: %w", keys, kv.Bucket(), err)
	}
	return &watcher{watch, stop}, nil
}

type watcher struct {
	jetstream.KeyWatcher
	end context.CancelCauseFunc
}

// Stop implements jetstream.KeyWatcher.
func (w *watcher) Stop() error {
	defer w.end(nil)
	return w.KeyWatcher.Stop()
}

// Entries lists the keys of a bucket as they are, without those that were deleted. The error wraps
// context.DeadlineExceeded, too, where the server says nothing for 5 s.
func Entries(ctx context.Context, kv jetstream.KeyValue, keys string) iter.Seq2[jetstream.KeyValueEntry, error] {
	return func(yield func(jetstream.KeyValueEntry, error) bool) {
		fail := func(err error) { yield(nil, fmt.Errorf("list keys %s of %s: %w", keys, kv.Bucket(), err)) }
		watch, err := Watch(ctx, kv, keys, jetstream.IgnoreDeletes())
		if err != nil {
			yield(nil, err)
			return
		}
		defer func() { _ = watch.Stop() }() // the connection may be gone
		for {
			select {
			case <-ctx.Done():
				fail(ctx.Err())
				return
			case <-time.After(answerWithin):
				fail(context.DeadlineExceeded)
				return
			case e, ok := <-watch.Updates():
				if !ok {
					fail(jetstream.ErrConsumerDeleted)
					return
				}
				if e == nil || !yield(e, nil) { // nil: all that is there
					return
				}
			}
		}
	}
}
