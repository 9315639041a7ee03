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
	// maxUnderWay bounds the interventions of a lane that are under way.
	maxUnderWay = 64
	// maxAtDesk bounds those of a lane of one capture, which are carried out one after the other: where they take long,
	// other captures have places left.
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
	places places
}

// places are taken by interventions that are under way, those of each lane.
type places [lanes]chan struct{}

func newPlaces(most int) (p places) {
	for lane := range p {
		p[lane] = make(chan struct{}, most)
	}
	return p
}

// take takes a place of a lane, if there is one.
func (p places) take(lane int) bool {
	select {
	case p[lane] <- struct{}{}:
		return true
	default:
		return false
	}
}

func (p places) free(lane int) { <-p[lane] }

// NewDesks makes desks of no captures.
func NewDesks() *Desks { return &Desks{desks: map[schema.Identity]*attended{}} }

// Serve takes what comes on the subjects of the captures, until ctx ends, which is no error, or the connection
// is closed; it returns when what was taken is answered. Where several processes serve one capture, one of them
// gets each message.
func (d *Desks) Serve(ctx context.Context, conn *nats.Conn, captures Captures) error {
	s := &serving{
		desks: d, conn: conn, captures: captures,
		subjects: map[schema.Identity]*nats.Subscription{}, places: newPlaces(maxUnderWay),
	}
	defer s.under.Wait()
	defer s.leave()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		if err := s.look(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("listen for interventions: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
		}
	}
}

// serving is one connection.
type serving struct {
	desks    *Desks
	conn     *nats.Conn
	captures Captures
	places   places
	open     sync.WaitGroup // of subscriptions that messages may still come on
	under    sync.WaitGroup

	mu       sync.Mutex // held while a message is taken
	subjects map[schema.Identity]*nats.Subscription
	left     bool // nothing more is taken
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
	s.mu.Lock()
	defer s.mu.Unlock()
	served := make(map[schema.Identity]bool, len(list))
	for _, id := range list {
		served[id] = true
		if s.subjects[id] != nil {
			continue
		}
		sub, err := s.conn.QueueSubscribe(schema.InterveneSubjects(id), group, func(m *nats.Msg) { s.take(ctx, m) })
		if err != nil {
			return err
		}
		s.open.Add(1)
		sub.SetClosedHandler(func(string) { s.open.Done() })
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

// leave listens no more. Those whose messages come too late are told.
func (s *serving) leave() {
	s.mu.Lock()
	s.left = true
	for _, sub := range s.subjects {
		_ = sub.Drain() // the connection may be gone
	}
	s.mu.Unlock()
	left := make(chan struct{})
	go func() { defer close(left); s.open.Wait() }() // until the connection is closed, at the latest
	late := time.NewTimer(leaveWithin)
	defer late.Stop()
	select {
	case <-left:
	case <-late.C:
	}
	_ = s.conn.FlushTimeout(leaveWithin) // likewise
}

// gone is the target of what comes too late. The same may have come before, and be under way: so it does not say
// that nothing was done.
type gone struct{}

// Supported implements Target.
func (gone) Supported() []schema.Primitive { return nil }

// Deliver implements Target.
func (gone) Deliver(context.Context, schema.Intervention) schema.Outcome {
	return schema.Unsure("whoever takes interventions for it is about to leave")
}

// refuse answers what comes too late.
func refuse(ctx context.Context, m *nats.Msg) {
	d := NewDesk(gone{})
	i, answer := d.read(m)
	if answer == nil {
		answer = d.deliver(context.WithoutCancel(ctx), i, time.Now())
	}
	_ = m.Respond(answer) // whoever hears nothing asks again
}

// take answers a message at its capture's desk. It never waits: what the client library keeps for whoever does may
// overflow, and is then dropped without a word.
func (s *serving) take(ctx context.Context, m *nats.Msg) {
	at := time.Now()
	if !schema.IsInbox(m.Reply) {
		return // nobody would hear what became of it
	}
	id, _, err := schema.ParseInterveneSubject(m.Subject)
	if err != nil {
		return // no desk's: nobody sends on such a subject
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left || s.subjects[id] == nil {
		refuse(ctx, m)
		return
	}
	desk := s.desks.desk(id, s.captures)
	i, answer := desk.read(m)
	lane := laneOf(i)
	switch {
	case answer != nil:
	case !desk.places.take(lane):
		answer = busy()
	case !s.places.take(lane):
		desk.places.free(lane)
		answer = busy()
	default:
		s.under.Go(func() {
			defer desk.places.free(lane)
			defer s.places.free(lane)
			_ = m.Respond(desk.deliver(ctx, i, at)) // a sender that hears nothing asks again, and gets the first outcome
		})
		return
	}
	_ = m.Respond(answer) // likewise
}

func (d *Desks) desk(id schema.Identity, captures Captures) *attended {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.desks[id] == nil {
		d.desks[id] = &attended{NewDesk(captures.Target(id)), newPlaces(maxAtDesk)}
	}
	return d.desks[id]
}

// keep closes the desks of all captures that are served no more, those too that a connection before served.
func (d *Desks) keep(served map[schema.Identity]bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.desks, func(id schema.Identity, _ *attended) bool { return !served[id] })
}
