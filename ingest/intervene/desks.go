package intervene

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/steno-io/steno/schema"
)

const (
	// lookEvery is how often it is looked which captures are served.
	lookEvery = 500 * time.Millisecond
	// leaveWithin is how long a server may take to hear that nobody listens any more.
	leaveWithin = time.Second
	// maxUnderWay bounds the messages that are being answered; others wait.
	maxUnderWay = 64
	// maxAtDesk bounds those of one capture, which are carried out one after the other: where they take long, other
	// captures have places left.
	maxAtDesk = 8
	// group is the queue group of those that may serve one capture side by side: of them one takes each
	// intervention.
	group = "steno"
)

// Captures are the captures that one process serves, as they come and go.
type Captures interface {
	// Served are those that it serves now: it knows of something there that an intervention could be meant for.
	Served(ctx context.Context) ([]schema.Identity, error)
	// Target is one of them. What it supports may change, the target does not.
	Target(id schema.Identity) Target
}

// Desks take interventions for many captures, each at a desk of its own. A desk, and what it remembers, goes
// when its capture is served no more.
type Desks struct {
	mu    sync.Mutex
	desks map[schema.Identity]*attended
}

// attended is the desk of a capture.
type attended struct {
	*Desk
	places chan struct{} // taken by messages that are being answered
}

// NewDesks makes desks of no captures.
func NewDesks() *Desks { return &Desks{desks: map[schema.Identity]*attended{}} }

// Serve takes what comes on the subjects of the captures, until ctx ends, which is no error, or the connection
// is closed; it returns when what was taken is answered. Where several processes serve one capture, one of them
// gets each message.
func (d *Desks) Serve(ctx context.Context, conn *nats.Conn, captures Captures) error {
	s := &serving{
		desks: d, conn: conn, captures: captures, came: make(chan *nats.Msg, maxUnderWay),
		subjects: map[schema.Identity]*nats.Subscription{}, places: make(chan struct{}, maxUnderWay),
	}
	defer s.under.Wait()
	defer s.leave(ctx)
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		if err := s.look(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("listen for interventions: %w", err)
		}
		for looked := false; !looked; {
			select {
			case <-ctx.Done():
				return nil
			case m := <-s.came:
				s.take(ctx, m)
			case <-look.C:
				looked = true
			}
		}
	}
}

// serving is one connection.
type serving struct {
	desks    *Desks
	conn     *nats.Conn
	captures Captures
	came     chan *nats.Msg
	subjects map[schema.Identity]*nats.Subscription
	places   chan struct{} // taken by messages that are being answered
	under    sync.WaitGroup
}

// look listens on the subjects of the captures that are served now, and no more on others.
func (s *serving) look(ctx context.Context) error {
	if s.conn.IsClosed() {
		return nats.ErrConnectionClosed
	}
	list, err := s.captures.Served(ctx)
	if err != nil {
		return err
	}
	served := make(map[schema.Identity]bool, len(list))
	for _, id := range list {
		served[id] = true
		if s.subjects[id] != nil {
			continue
		}
		sub, err := s.conn.ChanQueueSubscribe(schema.InterveneSubjects(id), group, s.came)
		if err != nil {
			return err
		}
		s.subjects[id] = sub
	}
	for id, sub := range s.subjects {
		if !served[id] {
			_ = sub.Drain() // what is on its way still comes; the connection may be gone
			delete(s.subjects, id)
		}
	}
	s.desks.keep(served)
	return nil
}

// leave listens no more, and tells those whose messages came too late.
func (s *serving) leave(ctx context.Context) {
	for _, sub := range s.subjects {
		_ = sub.Drain() // the connection may be gone
	}
	_ = s.conn.FlushTimeout(leaveWithin) // likewise; what was on its way has come then
	for {
		select {
		case m := <-s.came:
			if schema.IsInbox(m.Reply) {
				refuse(ctx, m)
			}
		default:
			return
		}
	}
}

// gone is the target of what comes too late. The same may have come before, and be under way: so it does not say
// that nothing was done.
type gone struct{}

// Supported implements Target.
func (gone) Supported() []schema.Primitive { return nil }

// Deliver implements Target.
func (gone) Deliver(context.Context, schema.Intervention) schema.Outcome {
	return schema.Stale("whoever takes interventions for it is about to leave")
}

// refuse answers what comes too late.
func refuse(ctx context.Context, m *nats.Msg) {
	_ = m.Respond(NewDesk(gone{}).answer(ctx, m.Subject, m.Data, time.Now())) // whoever hears nothing asks again
}

// take answers a message at its capture's desk.
func (s *serving) take(ctx context.Context, m *nats.Msg) {
	at := time.Now()
	if !schema.IsInbox(m.Reply) { // else nobody would hear what became of it
		return
	}
	id, _, err := schema.ParseInterveneSubject(m.Subject)
	if err != nil {
		return // no desk's
	}
	if s.subjects[id] == nil {
		refuse(ctx, m)
		return
	}
	desk := s.desks.desk(id, s.captures)
	select {
	case desk.places <- struct{}{}:
	default:
		return // as if it had not come: the same one may wait already
	}
	select {
	case s.places <- struct{}{}:
	case <-ctx.Done():
		<-desk.places
		return // who sent it hears nothing, and asks again
	}
	s.under.Go(func() {
		defer func() { <-s.places; <-desk.places }()
		_ = m.Respond(desk.answer(ctx, m.Subject, m.Data, at)) // a sender that hears nothing asks again, and gets the first outcome
	})
}

func (d *Desks) desk(id schema.Identity, captures Captures) *attended {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.desks[id] == nil {
		d.desks[id] = &attended{NewDesk(captures.Target(id)), make(chan struct{}, maxAtDesk)}
	}
	return d.desks[id]
}

// keep closes the desks of all captures that are served no more, those too that a connection before served.
func (d *Desks) keep(served map[schema.Identity]bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.desks, func(id schema.Identity, _ *attended) bool { return !served[id] })
}
