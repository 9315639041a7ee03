package follow

import (
	"slices"
	"sync"
	"time"
)

// Bounds of what waits for a slow reader. Of the answers the last ones wait: what is not answered is asked
// again.
const (
	maxWaiting      = 4096
	maxWaitingBytes = 8 << 20
	maxAnswers      = 4
)

// inbox takes what comes for one follower without ever holding anybody up, and keeps it in the order in
// which it came.
type inbox struct {
	ready chan struct{} // has an entry when there is something to take

	mu    sync.Mutex
	held  taken
	bytes int
	lives int
	asked int // answers
}

// message is what comes: one of the two.
type message struct {
	live   *lively
	answer *answer
}

// taken is what an inbox held.
type taken struct {
	messages []message
	woken    time.Time // when the last wake-up came; zero if none did
	dropped  bool      // there were too many live messages, and they were left out
}

func newInbox() *inbox { return &inbox{ready: make(chan struct{}, 1)} }

// wake takes a wake-up that came at a time. Several are one.
func (b *inbox) wake(at time.Time) { b.put(func(t *taken) { t.woken = at }) }

// answer takes an answer of an owner.
func (b *inbox) answer(a *answer) {
	b.put(func(t *taken) {
		if b.asked++; b.asked > maxAnswers {
			oldest := slices.IndexFunc(t.messages, func(m message) bool { return m.answer != nil })
			t.messages = slices.Delete(t.messages, oldest, oldest+1)
			b.asked--
		}
		t.messages = append(t.messages, message{answer: a})
	})
}

// live takes a live message. Above the bounds all of them that wait are left out: the reader gets a
// snapshot instead, which is shorter.
func (b *inbox) live(l *lively) {
	b.put(func(t *taken) {
		b.lives, b.bytes = b.lives+1, b.bytes+len(l.data)
		if b.lives <= maxWaiting && b.bytes <= maxWaitingBytes {
			t.messages = append(t.messages, message{live: l})
			return
		}
		answers := t.messages[:0]
		for _, held := range t.messages {
			if held.live == nil {
				answers = append(answers, held)
			}
		}
		clear(t.messages[len(answers):])
		t.messages, t.dropped, b.lives, b.bytes = answers, true, 0, 0
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
	b.held, b.lives, b.bytes, b.asked = taken{}, 0, 0, 0
	return t
}
