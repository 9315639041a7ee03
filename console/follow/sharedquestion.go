package follow

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/steno-io/steno/schema"
)

// askTogether is how long a question waits for others who ask the same.
const askTogether = 5 * time.Millisecond

// askedBefore is how many questions back answers are still passed on.
const askedBefore = 4

// questions asks what is open in one capture for all who follow it. Whoever asks is told what was answered
// to a question that was sent after that.
type questions struct {
	conn    *nats.Conn
	subject string // of the capture's owner
	replies string // subject before a question's number
	users   int    // Shared.mu's

	mu      sync.Mutex
	number  uint64                       // of the last question sent
	asked   map[uint64]map[*inbox]string // by question: whom to tell, and under which subject
	due     map[*inbox]string            // of the next one
	sending *time.Timer                  // of the next one; nil if nobody waits for it
}

func newQuestions(conn *nats.Conn, id schema.Identity, partitions uint32) *questions {
	return &questions{
		conn: conn, subject: schema.OpenSubject(id, partitions), replies: conn.NewInbox(),
		asked: map[uint64]map[*inbox]string{}, due: map[*inbox]string{},
	}
}

// ask asks for an inbox, which finds the answer under the reply subject.
func (q *questions) ask(b *inbox, reply string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.due[b] = reply
	if q.sending == nil {
		q.sending = time.AfterFunc(askTogether, q.send)
	}
}

// send may fail: who asked asks again.
func (q *questions) send() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sending = nil
	if len(q.due) == 0 {
		return
	}
	q.number++
	q.asked[q.number], q.due = q.due, map[*inbox]string{}
	delete(q.asked, q.number-askedBefore)
	_ = q.conn.PublishRequest(q.subject, q.replies+"."+strconv.FormatUint(q.number, 10), nil)
}

// hear takes a page of an answer, for an inbox that has asked that question.
func (q *questions) hear(b *inbox, m *nats.Msg) {
	number, err := strconv.ParseUint(strings.TrimPrefix(m.Subject, q.replies+"."), 10, 64)
	if err != nil {
		return // not one of ours
	}
	q.mu.Lock()
	reply, ok := q.asked[number][b]
	q.mu.Unlock()
	if ok {
		b.page(&nats.Msg{Subject: reply, Header: m.Header, Data: m.Data})
	}
}

// forget forgets an inbox.
func (q *questions) forget(b *inbox) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.due, b)
	for _, asked := range q.asked {
		delete(asked, b)
	}
	if len(q.due) == 0 && q.sending != nil {
		q.sending.Stop()
		q.sending = nil
	}
}

// question lets an inbox ask what is open in a capture, until leave is called.
func (s *Shared) question(id schema.Identity, partitions uint32, b *inbox) (q *questions, leave func() error, err error) {
	s.mu.Lock()
	if q = s.questions[id]; q == nil {
		q = newQuestions(s.conn, id, partitions)
		s.questions[id] = q
	}
	q.users++
	s.mu.Unlock()
	done := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if q.users--; q.users == 0 {
			delete(s.questions, id)
		}
	}
	hear := func(m *nats.Msg) { q.hear(b, m) }
	unsubscribe, err := s.subscribe(q.replies+".*", b, hear)
	if err != nil {
		done()
		return nil, nil, err
	}
	return q, func() error {
		q.forget(b)
		done()
		return unsubscribe()
	}, nil
}
