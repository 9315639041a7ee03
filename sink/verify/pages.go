package verify

import (
	"context"

	"github.com/steno-io/steno/sink"
)

// Events are read in pages of so many, or fewer if they are large: every session of the captures that
// are being proved may hold one, and a long one the next, too.
const (
	pageEvents = 512
	pageBytes  = 512 << 10
)

// page is some of a session's stored events.
type page struct {
	events []sink.Event
	room   []byte // their bytes, where the ledger lends them
	read   uint64 // number of the last event read from the ledger, at most the head
	looked bool   // behind the head
	behind *sink.Event
	err    error
}

// turn turns to the next page, and has the one behind it read while this one is compared.
func (s *session) turn() error {
	ctx := s.proof.ctx
	if err := ctx.Err(); err != nil {
		return err
	}
	var next page
	if s.ahead != nil {
		next, s.ahead = <-s.ahead, nil
	} else {
		next = s.proof.lane.page()
		s.load(ctx, &next, s.page.read)
	}
	s.proof.lane.giveBack(s.page)
	s.page, s.next = next, 0
	if next.err == nil && next.read < s.head {
		s.loadAhead(ctx)
	}
	return next.err
}

// loadAhead has the page behind this one read. The lane waits for it.
func (s *session) loadAhead(ctx context.Context) {
	next, after, ahead := s.proof.lane.page(), s.page.read, make(chan page, 1)
	s.ahead = ahead
	s.proof.lane.loading.Go(func() {
		s.load(ctx, &next, after)
		ahead <- next
	})
}

// load reads the page behind a number. The last one looks behind the head, too.
func (s *session) load(ctx context.Context, p *page, after uint64) {
	*p = page{events: p.events[:0], room: p.room[:0], read: after}
	size := 0
	last := s.head-after < pageEvents
	limit := int(min(pageEvents-1, s.head-after)) + 1
	read := s.proof.run.o.Ledger.Events
	lender, lent := s.proof.run.o.Ledger.(Lender)
	if lent {
		read = lender.Lend
	}
	for e, err := range read(ctx, s.key, after, limit) {
		if err != nil {
			p.err = err
			return
		}
		if lent {
			e.Bytes = p.keep(e.Bytes)
		}
		if e.Seq > s.head {
			p.looked, p.read, p.behind = true, s.head, &e
			return
		}
		p.events, p.read, size = append(p.events, e), e.Seq, size+len(e.Bytes)
		if size > pageBytes && p.read < s.head {
			return
		}
	}
	if last || len(p.events) == 0 { // the ledger has no more
		p.looked, p.read = true, s.head
	}
}

// letGo gives back what the session has read, once nothing more of it is wanted.
func (s *session) letGo() {
	if s.ahead != nil { // the proof has broken off: it is read for nothing, but not any longer than that
		s.proof.lane.giveBack(<-s.ahead)
		s.ahead = nil
	}
	if lender, lent := s.proof.run.o.Ledger.(Lender); lent {
		lender.LetGo(s.key)
	}
	s.proof.lane.giveBack(s.page)
}

// keep copies lent bytes to where they are good for as long as the page is.
func (p *page) keep(lent []byte) []byte {
	from := len(p.room)
	p.room = append(p.room, lent...)
	return p.room[from:len(p.room):len(p.room)]
}

// sparePages is how many pages a lane keeps for sessions to come: most are short, and each would make room anew.
const sparePages = 4

// page gives a page to load.
func (l *lane) page() page {
	last := len(l.spare) - 1
	if last < 0 {
		return page{}
	}
	p := l.spare[last]
	l.spare = l.spare[:last]
	return p
}

// giveBack takes a page of which nothing is needed any more.
func (l *lane) giveBack(p page) {
	if len(l.spare) < sparePages && cap(p.events) > 0 {
		l.spare = append(l.spare, p)
	}
}
