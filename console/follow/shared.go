package follow

import (
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// Shared is what followers of one process have in common: one subscription for a subject, however many
// follow it, and one read of the ledger and one question to the owner for all who want the same at the
// same moment. It is safe for concurrent use, and keeps nothing for followers that have ended.
type Shared struct {
	conn   *nats.Conn
	reader *sharedReader

	mu        sync.Mutex
	subjects  map[string]*audience
	questions map[schema.Identity]*questions
}

// NewShared makes it for followers with that connection and ledger.
func NewShared(conn *nats.Conn, reader sink.Reader) *Shared {
	return &Shared{conn: conn, reader: newSharedReader(reader), subjects: map[string]*audience{}, questions: map[schema.Identity]*questions{}}
}

// audience are those who hear one subject.
type audience struct {
	sub *nats.Subscription

	mu    sync.Mutex
	hears map[*inbox]nats.MsgHandler
}

func (a *audience) hear(m *nats.Msg) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, take := range a.hears { // an inbox never holds anybody up
		take(m)
	}
}

// subscribe lets an inbox hear a subject until leave is called.
func (s *Shared) subscribe(subject string, b *inbox, take nats.MsgHandler) (leave func() error, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.subjects[subject]
	if a == nil {
		a = &audience{hears: map[*inbox]nats.MsgHandler{}}
		if a.sub, err = s.conn.Subscribe(subject, a.hear); err != nil {
			return nil, fmt.Errorf("subscribe to %s: %w", subject, err)
		}
		s.subjects[subject] = a
	}
	a.mu.Lock()
	a.hears[b] = take
	a.mu.Unlock()
	return func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		a.mu.Lock()
		delete(a.hears, b)
		left := len(a.hears)
		a.mu.Unlock()
		if left > 0 {
			return nil
		}
		delete(s.subjects, subject)
		return unsubscribe(a.sub)
	}, nil
}

// subscribe lets an inbox hear a subject on a subscription of its own.
func subscribe(conn *nats.Conn, subject string, take nats.MsgHandler) (leave func() error, err error) {
	sub, err := conn.Subscribe(subject, take)
	if err != nil {
		return nil, fmt.Errorf("subscribe to %s: %w", subject, err)
	}
	return func() error { return unsubscribe(sub) }, nil
}

func unsubscribe(sub *nats.Subscription) error {
	if err := sub.Unsubscribe(); err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		return fmt.Errorf("unsubscribe from %s: %w", sub.Subject, err)
	}
	return nil
}
