package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema"
)

// Run makes what is written durable, and publishes it where the site has a connection, until the capture
// is closed and all of it is stored: then it returns nil. Streams that cannot be reached, or are not there
// yet, are waited for. It returns an error when ctx ends before, when the disk fails, or when a frame can
// never be stored; what is not stored then waits in the journal, for Recover or another Run. Only one may
// go on at a time.
func (c *Capture) Run(ctx context.Context) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	syncing, stop := context.WithCancel(ctx)
	synced := make(chan error, 1)
	go func() {
		err := c.journal.Run(syncing)
		if err != nil {
			fail(err)
		}
		synced <- err
	}()
	err := c.publish(ctx)
	stop()
	if failed := <-synced; !errors.Is(err, failed) {
		err = errors.Join(err, failed)
	}
	if err != nil {
		return fmt.Errorf("run capture %s: %w; what is not stored waits in %s", c.journal.Head().Identity, err, c.Journal())
	}
	return nil
}

// publish returns when all is stored; of a site without a connection when all is journalled.
func (c *Capture) publish(ctx context.Context) error {
	if c.site.Conn != nil {
		c.feed.change(func(f *feed) { f.ended = false })
		defer c.feed.change(func(f *feed) { f.ended = true })
		return c.site.publish(ctx, c.Journal(), c.journal.Head(), func(p *publish.Publisher) {
			c.feed.change(func(f *feed) { f.publisher = p })
		})
	}
	select {
	case <-c.journal.Ended():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Stored waits until all frames whose Write has returned are stored on the stream, and tells the capture's
// final identity and the number of its last frame. It needs Run, and waits for it. The error is ctx's, or
// wraps ErrUnpublished: the site has no connection, or Run has ended before.
func (c *Capture) Stored(ctx context.Context) (id schema.Identity, frame uint64, err error) {
	asked := c.journal.Head().Identity
	if c.site.Conn == nil {
		return asked, 0, fmt.Errorf("wait for %s: %w: its site has no connection", asked, ErrUnpublished)
	}
	end := uint64(c.journal.Size())
	var spent *publish.Publisher // it has ended before all was stored
	for {
		publisher, ended, changed := c.feed.now()
		switch {
		case publisher != nil && publisher != spent:
			captures, err := publisher.Stored(ctx, end)
			for id, frame := range captures {
				if err == nil {
					return id, frame, nil
				}
			}
			spent = publisher
			continue
		case ended:
			return asked, 0, fmt.Errorf("wait for %s: %w: Run has ended", asked, ErrUnpublished)
		}
		select {
		case <-ctx.Done():
			return asked, 0, fmt.Errorf("wait for %s: %w", asked, context.Cause(ctx))
		case <-changed:
		}
	}
}

// feed is what Run tells those who wait for it.
type feed struct {
	mu        sync.Mutex
	publisher *publish.Publisher // the newest; nil: there was none yet
	ended     bool               // Run has, and was not begun anew
	changed   chan struct{}      // closed and made anew at each change
}

func (f *feed) change(how func(f *feed)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	how(f)
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
}

func (f *feed) now() (publisher *publish.Publisher, ended bool, changed <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.changed == nil {
		f.changed = make(chan struct{})
	}
	return f.publisher, f.ended, f.changed
}
