package follow

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/steno-io/steno/schema"
)

// How long an unanswered question waits before it is asked again: firstRetry at first, doubled up to
// the poll interval. leastApart keeps a burst of gaps from becoming a burst of questions.
const (
	firstRetry = 100 * time.Millisecond
	leastApart = 25 * time.Millisecond
)

const statusHeader, noResponders = "Status", "503"

// question is what a follower knows of its questions for what is open.
type question struct {
	replies  string     // subject before the question's number
	together *questions // asks for other followers, too; nil = it asks by itself
	number   uint64     // of the last question
	pages    schema.OpenPages
	askedAt  time.Time
	wait     time.Duration     // from askedAt until it is asked again
	least    uint64            // the reply's frame must not be below: all that was shown when it was asked
	since    time.Time         // of the first question without an answer that counts; zero if there is none
	waiting  bool              // for a snapshot
	alone    bool              // that nobody answers was said
	parked   bool              // that the fold is parked was said
	doubt    *schema.OpenReply // the last answer, if it had more than was shown

	held      []lively // came while waiting
	heldBytes int
	overflow  bool
}

// want makes a question due.
func (q *question) want() {
	q.waiting = true
	q.wait = leastApart
}

// lose says why text may be missing, and makes a question due.
func (r *run) lose(why LagReason) error {
	r.want()
	return r.emit(&Lag{Reason: why})
}

// untilRetry is how long there is nothing to ask.
func (r *run) untilRetry(now time.Time) time.Duration {
	if !r.waiting || !r.Conn.IsConnected() {
		return r.Poll
	}
	return max(0, r.askedAt.Add(r.wait).Sub(now))
}

// ask asks if it is due.
func (r *run) ask(now time.Time) error {
	if !r.waiting || now.Before(r.askedAt.Add(r.wait)) {
		return nil
	}
	if err := r.sayAlone(now); err != nil {
		return err
	}
	return r.send(now)
}

// probe asks, while something is open, whether it is still what was shown: the last piece and the
// heads after it may both be lost, and the owner may be gone.
func (r *run) probe(now time.Time) error {
	if r.waiting || len(r.view.open) == 0 {
		return nil
	}
	return r.send(now)
}

func (r *run) send(now time.Time) error {
	if !r.Conn.IsConnected() {
		return nil
	}
	r.number++
	if r.since.IsZero() {
		r.since = now
	}
	r.pages, r.least, r.askedAt = schema.OpenPages{}, r.view.seen, now
	r.wait = min(max(firstRetry, 2*r.wait), r.Poll)
	reply := r.replies + "." + strconv.FormatUint(r.number, 10)
	if r.together != nil {
		r.together.ask(r.inbox, reply)
		return nil
	}
	subject := schema.OpenSubject(r.Transcript.Identity, r.Partitions)
	if err := r.Conn.PublishRequest(subject, reply, nil); err != nil {
		return fmt.Errorf("ask %s: %w", subject, err)
	}
	return nil
}

// page takes a page of an answer to the last question.
func (r *run) page(ctx context.Context, m *nats.Msg) error {
	if strings.TrimPrefix(m.Subject, r.replies+".") != strconv.FormatUint(r.number, 10) {
		return nil // an answer to an earlier question
	}
	if len(m.Data) == 0 && m.Header.Get(statusHeader) == noResponders {
		r.waiting = true // until there is an owner again
		return nil
	}
	reply, whole, err := r.pages.Add(m.Header, m.Data)
	if err != nil || !whole {
		return nil //nolint:nilerr // not an answer: it is asked again, until there is one
	}
	return r.answer(ctx, &reply)
}

// answer takes a whole answer. While ownership changes hands several may come: the one with the
// highest frame counts, and none below what was shown.
func (r *run) answer(ctx context.Context, reply *schema.OpenReply) error {
	if reply.Identity != r.Transcript.Identity {
		return nil
	}
	if reply.Parked != "" {
		return r.sayParked(reply.Parked)
	}
	if !r.waiting {
		return r.compare(ctx, reply)
	}
	if reply.Frame < r.least || reply.Frame < r.view.settled {
		return nil // it has yet to fold what was shown
	}
	r.target = max(r.target, reply.Ordinals[r.Transcript.Session])
	if err := r.catchUp(ctx); err != nil { // what it says may be stored by now
		return err
	}
	if reply.Frame < r.view.settled {
		return nil
	}
	r.waiting, r.alone, r.parked, r.since, r.doubt = false, false, false, time.Time{}, nil
	if err := r.emit(r.view.snapshot(reply)); err != nil {
		return err
	}
	if err := r.sayBehind(); err != nil {
		return err
	}
	return r.release()
}

// compare takes an answer that no snapshot waits for: a probe's, or another owner's. Where it has more than
// was shown, the pieces may just be behind it: they come another way. So it is asked again, and what the
// first answer had must be shown when the second one is here.
func (r *run) compare(ctx context.Context, reply *schema.OpenReply) error {
	r.since = time.Time{}
	if reply.Frame < r.view.seen || len(r.early) > 0 {
		return nil
	}
	first := r.doubt
	r.doubt = nil
	if !r.view.less(reply) {
		return nil
	}
	if first == nil || !r.view.less(first) {
		r.doubt = reply
		return r.send(time.Now())
	}
	if err := r.lose(LagMissed); err != nil {
		return err
	}
	r.least = r.view.seen
	return r.answer(ctx, reply)
}

// release shows what was held back.
func (r *run) release() error {
	held, overflow := r.held, r.overflow
	r.held, r.heldBytes, r.overflow = nil, 0, false
	if overflow {
		return r.lose(LagSlow)
	}
	for i, l := range held {
		if r.waiting { // a gap among them
			r.held = held[i:]
			return nil
		}
		if err := r.show(l); err != nil {
			return err
		}
	}
	return nil
}

// sayAlone says that nobody answers, once that has lasted for a poll interval: a worker that just
// begins needs a moment.
func (r *run) sayAlone(now time.Time) error {
	if r.alone || r.since.IsZero() || now.Before(r.since.Add(r.Poll)) {
		return nil
	}
	r.alone = true
	return r.emit(&Lag{Reason: LagNoOwner})
}

func (r *run) sayParked(why string) error {
	if r.parked {
		return nil
	}
	r.parked = true
	return r.emit(&Lag{Reason: LagParked, Detail: why})
}
