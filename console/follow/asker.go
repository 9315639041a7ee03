package follow

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/steno-io/steno/schema"
)

// leastApart keeps a burst of gaps, or of followers, from becoming a burst of questions.
const leastApart = 25 * time.Millisecond

// maxPending is how many questions may wait for an answer that is not whole yet.
const maxPending = 16

const statusHeader, noResponders = "Status", "503"

// asker asks the owner of a transcript's capture what is open, for all who follow it.
type asker struct {
	conn    *nats.Conn
	subject string // of the questions
	replies string // subject before the question's number

	asking sync.Mutex
	number uint64 // of the last question
	sentAt time.Time
	due    *time.Timer // sends the next one; nil if none is due
	closed bool

	pages map[uint64]*schema.OpenPages // by question; of whoever hands out
}

// answer is what came of a question.
type answer struct {
	number uint64
	at     time.Time         // when it came
	reply  *schema.OpenReply // nil: there is no owner. It is shared: nobody changes it.
}

// ask has a question sent, now or within leastApart, with what others ask meanwhile. An answer to it has
// the returned number, or a higher one. There may be none: whoever needs it asks again.
func (a *asker) ask(now time.Time) (number uint64) {
	a.asking.Lock()
	defer a.asking.Unlock()
	wait := a.sentAt.Add(leastApart).Sub(now)
	switch {
	case a.due != nil:
	case wait > 0:
		a.due = time.AfterFunc(wait, a.askDue)
	default:
		a.send(now)
		return a.number
	}
	return a.number + 1
}

// askedSince reports whether anybody asked since a time: the answer is, or will be, told to all.
func (a *asker) askedSince(at time.Time) bool {
	a.asking.Lock()
	defer a.asking.Unlock()
	return a.due != nil || a.sentAt.After(at)
}

func (a *asker) askDue() {
	a.asking.Lock()
	defer a.asking.Unlock()
	a.due = nil
	if !a.closed {
		a.send(time.Now())
	}
}

// send sends the next question; a.asking is held. One that the connection does not take is one without an
// answer; that it is lost or closed, the followers see for themselves.
func (a *asker) send(now time.Time) {
	a.number++
	a.sentAt = now
	_ = a.conn.PublishRequest(a.subject, a.replies+"."+strconv.FormatUint(a.number, 10), nil)
}

func (a *asker) close() {
	a.asking.Lock()
	defer a.asking.Unlock()
	a.closed = true
	if a.due != nil {
		a.due.Stop()
		a.due = nil
	}
}

// answer takes a message of the reply subject, and gives what came of the question once that is whole.
func (a *asker) answer(m *nats.Msg) *answer {
	number, err := strconv.ParseUint(strings.TrimPrefix(m.Subject, a.replies+"."), 10, 64)
	if err != nil {
		return nil // not an answer
	}
	if len(m.Data) == 0 && m.Header.Get(statusHeader) == noResponders {
		return &answer{number: number, at: time.Now()}
	}
	pages := a.pages[number]
	if pages == nil {
		if a.pages == nil {
			a.pages = map[uint64]*schema.OpenPages{}
		}
		pages = &schema.OpenPages{}
		a.pages[number] = pages
		for old := range a.pages {
			if old+maxPending < number {
				delete(a.pages, old)
			}
		}
	}
	reply, whole, err := pages.Add(m.Header, m.Data)
	if err != nil || !whole {
		return nil // not an answer: it is asked again, until there is one
	}
	return &answer{number: number, at: time.Now(), reply: &reply}
}
