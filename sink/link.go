package sink

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/steno-io/steno/schema/topology"
)

// link is one connection to NATS, with the streams as they were checked on it. When the connection
// is made anew the streams may be other ones: ctx ends, and what reads begins again.
type link struct {
	info  topology.Info
	blobs *topology.Blobs
	ctx   context.Context //nolint:containedctx // it is the connection's life
	lose  context.CancelCauseFunc
}

// link checks the streams, for as long as it takes.
func (s *Sink) link(ctx context.Context) (*link, error) {
	info, err := retry(ctx, s, "check the streams", func() (topology.Info, error) { return topology.Check(ctx, s.o.JS) })
	if err != nil {
		return nil, err
	}
	blobs, err := retry(ctx, s, "open the blobs", func() (*topology.Blobs, error) { return topology.OpenBlobs(ctx, s.o.JS) })
	if err != nil {
		return nil, err
	}
	l := &link{info: info, blobs: blobs}
	l.ctx, l.lose = context.WithCancelCause(ctx)
	return l, nil
}

// links holds the present link, and lets partitions wait for it.
type links struct {
	mu      sync.Mutex    // guards what follows
	present *link         // nil while there is none
	linked  chan struct{} // closed while there is one
}

func newLinks(first *link) *links {
	l := &links{linked: make(chan struct{})}
	l.set(first)
	return l
}

func (l *links) set(next *link) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.present = next
	close(l.linked)
}

func (l *links) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.present.lose(errRestart)
	l.present, l.linked = nil, make(chan struct{})
}

// wait gives the present link, or the next one.
func (l *links) wait(ctx context.Context) (*link, error) {
	for {
		l.mu.Lock()
		present, linked := l.present, l.linked
		l.mu.Unlock()
		if present != nil {
			return present, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-linked:
		}
	}
}

// errRestart: the connection was made anew, or is away for too long.
var errRestart = errors.New("connection was lost")

// watch replaces the link after each reconnect. It ends with errRestart when the partitions are to
// be given back: others may have a connection, or the streams have another number of them.
func (s *Sink) watch(ctx context.Context, links *links, changed <-chan nats.Status) error {
	partitions := links.present.info.Partitions
	var away <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-away:
			return errRestart
		case status, open := <-changed:
			if open && status != nats.CONNECTED {
				if away == nil {
					away = time.After(s.o.Away)
				}
				continue
			}
			away = nil
		}
		links.lose()
		next, err := s.link(ctx)
		if err != nil {
			return err
		}
		if next.info.Partitions != partitions {
			return errRestart
		}
		s.o.Log.Info().Msg("reconnected: reading again from the stored positions")
		links.set(next)
	}
}
