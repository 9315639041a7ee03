package follow

import (
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// Hub lets followers share what they hear, ask and read: however many follow one transcript, its
// messages come over the connection and are decoded once, its owner is asked once, and the end of its
// ledger is read once. It is safe for concurrent use.
type Hub struct {
	conn       *nats.Conn
	reader     sink.Reader
	partitions uint32

	mu    sync.Mutex
	feeds map[schema.Transcript]*feed
}

// NewHub makes a hub for followers on a connection and a ledger, of streams with so many partitions. It
// starts nothing, and has nothing to be closed once its last follower has ended.
func NewHub(conn *nats.Conn, reader sink.Reader, partitions uint32) (*Hub, error) {
	switch {
	case conn == nil:
		return nil, errors.New("make hub: no connection")
	case reader == nil:
		return nil, errors.New("make hub: no ledger")
	case partitions == 0:
		return nil, errors.New("make hub: 0 partitions")
	}
	return &Hub{conn: conn, reader: reader, partitions: partitions, feeds: map[schema.Transcript]*feed{}}, nil
}

// join has an inbox told what comes of a transcript, until it leaves.
func (h *Hub) join(key schema.Transcript, b *inbox) (*feed, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.feeds[key]
	if f == nil {
		f = newFeed(h, key)
		if err := f.subscribe(); err != nil {
			return nil, errors.Join(err, f.close())
		}
		h.feeds[key] = f
	}
	f.add(b)
	return f, nil
}

// leave ends what join began; the last one to leave ends the subscriptions.
func (h *Hub) leave(f *feed, b *inbox) error {
	h.mu.Lock()
	left := f.remove(b)
	if left == 0 {
		delete(h.feeds, f.key)
	}
	h.mu.Unlock()
	if left > 0 {
		return nil
	}
	return f.close()
}

// unsubscribe ends subscriptions; a connection that is closed has none.
func unsubscribe(subs []*nats.Subscription) error {
	var errs []error
	for _, sub := range subs {
		if err := sub.Unsubscribe(); err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
			errs = append(errs, fmt.Errorf("unsubscribe from %s: %w", sub.Subject, err))
		}
	}
	return errors.Join(errs...)
}
