package follow

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/steno-io/steno/schema"
)

// feed is what the followers of one transcript share.
//
//	deltas, wake-ups, answers ──▶ feed ──▶ inbox of each follower
//	ledger ──▶ tail ──▶ whoever looks
type feed struct {
	hub    *Hub
	key    schema.Transcript
	deltas string // subject
	tail   tail
	asker

	subs    []*nats.Subscription
	closing chan struct{}
	handing sync.WaitGroup

	mu      sync.Mutex
	inboxes map[*inbox]struct{}
}

func newFeed(h *Hub, key schema.Transcript) *feed {
	return &feed{
		hub: h, key: key, deltas: schema.DeltaSubject(key), tail: newTail(h.reader, key),
		closing: make(chan struct{}), inboxes: map[*inbox]struct{}{},
		asker: asker{conn: h.conn, subject: schema.OpenSubject(key.Identity, h.partitions), replies: h.conn.NewInbox()},
	}
}

// maxIncoming is how many messages may wait to be handed out. Those above are dropped by the connection:
// a piece is missed by its index, a wake-up made up for by the next look.
const maxIncoming = 4096

// subscribe comes before the first look at anything, so that what is new meanwhile is heard. All comes
// through one channel, in the order in which the owner sent it: an answer never overtakes the pieces that
// it counts.
func (f *feed) subscribe() error {
	incoming := make(chan *nats.Msg, maxIncoming)
	f.handing.Go(func() { f.handOut(incoming) })
	for _, subject := range []string{f.deltas, schema.StoredSubject(f.key), f.replies + ".*"} {
		sub, err := f.hub.conn.ChanSubscribe(subject, incoming)
		if err != nil {
			return fmt.Errorf("subscribe to %s: %w", subject, err)
		}
		f.subs = append(f.subs, sub)
	}
	return nil
}

func (f *feed) close() error {
	f.asker.close()
	err := unsubscribe(f.subs)
	close(f.closing)
	f.handing.Wait()
	return err
}

// handOut tells the inboxes what comes.
func (f *feed) handOut(incoming <-chan *nats.Msg) {
	for {
		select {
		case <-f.closing:
			return
		case m := <-incoming:
			f.handle(m)
		}
	}
}

func (f *feed) handle(m *nats.Msg) {
	switch {
	case m.Subject == f.deltas:
		if l := readLively(m.Data, f.key); l != nil {
			f.each(func(b *inbox) { b.live(l) })
		}
	case strings.HasPrefix(m.Subject, f.replies):
		if a := f.answer(m); a != nil {
			f.each(func(b *inbox) { b.answer(a) })
		}
	default: // something was stored
		at := time.Now()
		f.each(func(b *inbox) { b.wake(at) })
	}
}

func (f *feed) add(b *inbox) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inboxes[b] = struct{}{}
}

// remove gives how many are left.
func (f *feed) remove(b *inbox) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.inboxes, b)
	return len(f.inboxes)
}

// each does something with every inbox. No inbox holds anybody up.
func (f *feed) each(do func(b *inbox)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for b := range f.inboxes {
		do(b)
	}
}
