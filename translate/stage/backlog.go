package stage

import (
	"context"
	"sync"
)

// backlog counts a partition's bytes of events that are not acknowledged, and holds its frames while
// there are too many.
type backlog struct {
	limit int

	mu    sync.Mutex
	bytes int
	freed chan struct{} // closed when the bytes are under the limit again; nil if nobody waits
}

func (b *backlog) add(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bytes += n
	if b.bytes < b.limit && b.freed != nil {
		close(b.freed)
		b.freed = nil
	}
}

// wait returns when the bytes are under the limit, or with ctx's error.
func (b *backlog) wait(ctx context.Context) error {
	for {
		b.mu.Lock()
		if b.bytes < b.limit {
			b.mu.Unlock()
			return nil
		}
		if b.freed == nil {
			b.freed = make(chan struct{})
		}
		freed := b.freed
		b.mu.Unlock()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-freed:
		}
	}
}

func (b *backlog) size() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes
}
