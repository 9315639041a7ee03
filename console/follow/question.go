package follow

import (
	"context"
	"math"
	"time"

	"github.com/steno-io/steno/schema"
)

// firstRetry is how long an unanswered question waits before it is asked again, the first time; then twice
// as long each time, up to the poll interval.
const firstRetry = 100 * time.Millisecond

// question is what a follower knows of its questions for what is open.
type question struct {
	number  uint64 // the least question whose answer counts
	askedAt time.Time
	wait    time.Duration // from askedAt until it is asked again
	least   uint64        // the reply's frame must not be below: all that was shown when it was asked
	since   time.Time     // of the first question without an answer that counts; zero if there is none
	waiting bool          // for a snapshot
	alone   bool          // that nobody answers was said
	parked  bool          // that the fold is parked was said

	held      []*lively // came while waiting
	heldBytes int
	overflow  bool
}

// notAsked is above every number: no answer counts until there is a question.
const notAsked = math.MaxUint64

// want makes a question due.
func (q *question) want() {
	if !q.waiting { // a probe that was not answered is no sign of what this question meets
		q.since = time.Time{}
	}
	q.waiting, q.number = true, notAsked
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
	r.send(now)
	return nil
}

// probe asks, while something is open, whether there is more than was shown: the last piece and the heads
// after it may both be lost, and the owner may be gone. What another follower asked just now tells
// that, too.
func (r *run) probe(now time.Time) {
	if r.waiting || len(r.view.open) == 0 || r.feed.askedSince(now.Add(-r.Poll/2)) {
		return
	}
	r.send(now)
}

func (r *run) send(now time.Time) {
	if !r.Conn.IsConnected() {
		return
	}
	if r.since.IsZero() {
		r.since = now
	}
	r.least, r.askedAt = r.view.seen, now
	r.wait = min(max(firstRetry, 2*r.wait), r.Poll)
	r.number = r.feed.ask(now)
}

// take takes an answer: to a question of this follower, or of another one.
func (r *run) take(ctx context.Context, a *answer) error {
	switch {
	case r.waiting && a.number < r.number:
		return nil // it was asked before
	case a.reply != nil:
		return r.answer(ctx, a.reply, a.at)
	case len(r.view.open) > 0:
		r.waiting, r.number = true, notAsked // until there is an owner again
	}
	return nil
}

// answer takes a whole answer that came at a time. While ownership changes hands several may come: the one with the
// highest frame counts, and none below what was shown.
func (r *run) answer(ctx context.Context, reply *schema.OpenReply, at time.Time) error {
	if reply.Identity != r.Transcript.Identity {
		return nil
	}
	if reply.Parked != "" {
		return r.sayParked(reply.Parked)
	}
	if !r.waiting {
		return r.compare(ctx, reply, at)
	}
	if reply.Frame < r.least || reply.Frame < r.view.settled {
		return nil // it has yet to fold what was shown
	}
	r.target = max(r.target, reply.Ordinals[r.Transcript.Session])
	if err := r.catchUp(ctx, at); err != nil { // what it says may be stored by now
		return err
	}
	if reply.Frame < r.view.settled {
		return nil
	}
	r.waiting, r.alone, r.parked, r.since = false, false, false, time.Time{}
	if err := r.emit(r.view.snapshot(reply)); err != nil {
		return err
	}
	if err := r.sayBehind(); err != nil {
		return err
	}
	return r.release()
}

// compare takes an answer that no snapshot waits for: a probe's, or another owner's.
func (r *run) compare(ctx context.Context, reply *schema.OpenReply, at time.Time) error {
	r.since = time.Time{}
	if len(r.early) > 0 || reply.Frame < r.view.seen || !r.view.less(reply) { // pieces that wait are not missed
		return nil
	}
	if err := r.lose(LagMissed); err != nil {
		return err
	}
	r.least = r.view.seen
	return r.answer(ctx, reply, at)
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
			for _, l := range held[i:] {
				r.hold(l)
			}
			return nil
		}
		if err := r.live(l); err != nil {
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
