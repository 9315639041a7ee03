package follow

import (
	"sync"

	"github.com/nats-io/nats.go"
)

// Bounds of what waits for a slow reader. Pages of an open reply are not counted: they come only
// when they were asked for.
const (
	maxWaiting      = 4096
	maxWaitingBytes = 8 << 20
)

// inbox takes messages from the connection without ever holding it up, and keeps them in the order
// in which they came.
type inbox struct {
	ready chan struct{} // has an entry when there is something to take

	mu    sync.Mutex
	held  taken
	bytes int
	live  int
}

// taken is what an inbox held.
type taken struct {
	messages []*nats.Msg
	woken    bool // a wake-up came
	dropped  bool // there were too many live messages, and they were left out
}

func newInbox() *inbox { return &inbox{ready: make(chan struct{}, 1)} }

// wake takes a wake-up. Several are one.
func (b *inbox) wake(*nats.Msg) { b.put(func(t *taken) { t.woken = true }) }

// page takes a page of an open reply.
func (b *inbox) page(m *nats.Msg) {
	b.put(func(t *taken) { t.messages = append(t.messages, m) })
}

// delta takes a live message. Above the bounds all live messages that wait are left out: the reader
// gets a snapshot instead, which is shorter.
func (b *inbox) delta(m *nats.Msg) {
	b.put(func(t *taken) {
		b.live, b.bytes = b.live+1, b.bytes+len(m.Data)
		if b.live <= maxWaiting && b.bytes <= maxWaitingBytes {
			t.messages = append(t.messages, m)
			return
		}
		pages := t.messages[:0]
		for _, held := range t.messages {
			if held.Sub != m.Sub {
				pages = append(pages, held)
			}
		}
		clear(t.messages[len(pages):])
		t.messages, t.dropped, b.live, b.bytes = pages, true, 0, 0
	})
}

func (b *inbox) put(add func(*taken)) {
	b.mu.Lock()
	add(&b.held)
	b.mu.Unlock()
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

func (b *inbox) take() taken {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.held
	b.held, b.live, b.bytes = taken{}, 0, 0
	return t
}
