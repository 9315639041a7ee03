package follow

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// sharedReader reads once for all who ask the same at the same moment. Whoever asks gets what was read
// after that: never less than a wake-up told of. Bytes of events are everybody's, and not to be changed.
type sharedReader struct {
	sink.Reader
	transcripts turns[schema.Transcript, sink.Summary]
	pages       turns[pageKey, eventPage]
}

// pageKey is where a page of events begins.
type pageKey struct {
	key   schema.Transcript
	after uint64
}

// eventPage are events that are read at once, and so kept for the slowest of those who share them.
type eventPage struct {
	events []sink.Event
	more   bool // there may be
}

// Bounds of such a page; it ends with the event that passes the second.
const (
	sharedEvents = 256
	sharedBytes  = 4 << 20
)

// readWithin bounds a read that is not one caller's alone, and so does not end with that caller.
const readWithin = 10 * time.Second

func newSharedReader(r sink.Reader) *sharedReader {
	s := &sharedReader{Reader: r}
	s.transcripts.by, s.pages.by = map[schema.Transcript]*turn[sink.Summary]{}, map[pageKey]*turn[eventPage]{}
	return s
}

// Transcript implements sink.Reader.
func (s *sharedReader) Transcript(ctx context.Context, key schema.Transcript) (sink.Summary, error) {
	return s.transcripts.do(ctx, key, func(ctx context.Context) (sink.Summary, error) { return s.Reader.Transcript(ctx, key) })
}

// Events implements sink.Reader.
func (s *sharedReader) Events(ctx context.Context, key schema.Transcript, after uint64, limit int) iter.Seq2[sink.Event, error] {
	if limit > 0 {
		return s.Reader.Events(ctx, key, after, limit)
	}
	return func(yield func(sink.Event, error) bool) {
		for {
			page, err := s.pages.do(ctx, pageKey{key, after}, func(ctx context.Context) (eventPage, error) {
				return readPage(s.Reader.Events(ctx, key, after, sharedEvents))
			})
			if err != nil {
				yield(sink.Event{}, err)
				return
			}
			for _, e := range page.events {
				if !yield(e, nil) {
					return
				}
				after = e.Seq
			}
			if !page.more {
				return
			}
		}
	}
}

func readPage(events iter.Seq2[sink.Event, error]) (page eventPage, err error) {
	size := 0
	for e, err := range events {
		if err != nil {
			return eventPage{}, err
		}
		page.events = append(page.events, e)
		if size += len(e.Bytes); size >= sharedBytes || len(page.events) == sharedEvents {
			page.more = true
			break
		}
	}
	return page, nil
}

// turns reads each thing by one caller at a time. Who asks while another reads waits for the next read,
// which one of those who wait then does for all of them.
type turns[K comparable, V any] struct {
	mu sync.Mutex
	by map[K]*turn[V]
}

// turn is what is read of one thing.
type turn[V any] struct {
	now  chan struct{} // closed when the read that is under way has ended; nil if there is none
	next *reading[V]   // has not begun
}

// reading is one read and what it gave.
type reading[V any] struct {
	done  chan struct{}
	value V
	err   error
}

func (t *turns[K, V]) do(ctx context.Context, key K, read func(context.Context) (V, error)) (V, error) {
	t.mu.Lock()
	q := t.by[key]
	if q == nil {
		q = &turn[V]{}
		t.by[key] = q
	}
	if r := q.next; r != nil { // somebody reads it for us
		t.mu.Unlock()
		select {
		case <-r.done:
			return r.value, r.err
		case <-ctx.Done():
			var none V
			return none, ctx.Err()
		}
	}
	r := &reading[V]{done: make(chan struct{})}
	q.next = r
	before := q.now
	t.mu.Unlock()
	if before != nil {
		<-before
	}
	t.mu.Lock()
	q.next, q.now = nil, r.done // who asks from here on may see more
	t.mu.Unlock()

	shared, cancel := context.WithTimeout(context.WithoutCancel(ctx), readWithin)
	defer cancel()
	r.value, r.err = read(shared)
	t.mu.Lock()
	if q.now = nil; q.next == nil {
		delete(t.by, key)
	}
	t.mu.Unlock()
	close(r.done)
	return r.value, r.err
}
