package journal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// DefaultRotate is how large a journal of a series grows before the next one is begun, in bytes.
const DefaultRotate = 64 << 20

// SeriesOptions make a series.
type SeriesOptions struct {
	Options       // of each journal; the head's id and time must be empty
	Rotate  int64 // bytes; 0: DefaultRotate
	// Follow runs beside each journal, from its start on, in a goroutine of its own; the series waits
	// for it to return. Its ctx ends Grace after the series' last journal is closed. nil: nobody follows.
	Follow func(ctx context.Context, w *Writer)
	Grace  time.Duration
	// Closed hears what went wrong while a journal was synced and closed; nil: nobody does.
	Closed func(error)
}

// Series is a row of journals for a tap that has no end, such as a proxy. What begins goes to the
// present journal, to its own end; once that journal is large, or fails, the next to begin goes to a
// new one, and the old one is closed when all that began in it has ended. So what was stored can be
// deleted. It is safe for concurrent use.
type Series struct {
	o       SeriesOptions
	started chan struct{}   // closed once Run runs
	ctx     context.Context // of who follows
	keepers sync.WaitGroup
	readers sync.WaitGroup

	mu      sync.Mutex
	present *part // nil: the next to begin makes one
	ended   bool
}

// part is one journal of a series.
type part struct {
	w     *Writer
	going int           // begun and not ended
	past  bool          // nothing more begins
	over  chan struct{} // closed when it is past and nothing is going
}

// NewSeries makes a series; Run must be running for anything to begin.
func NewSeries(o SeriesOptions) *Series {
	if o.Rotate == 0 {
		o.Rotate = DefaultRotate
	}
	return &Series{o: o, started: make(chan struct{})}
}

// Run keeps the journals durable as Writer.Run does. When ctx ends nothing more begins, and Run returns
// once all that began has ended, every journal is closed, and nobody follows one any more.
func (s *Series) Run(ctx context.Context) {
	following, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	s.ctx = following
	close(s.started)
	<-ctx.Done()
	s.mu.Lock()
	s.ended = true
	s.retire()
	s.mu.Unlock()
	s.keepers.Wait()
	grace := time.AfterFunc(s.o.Grace, stop)
	defer grace.Stop()
	s.readers.Wait()
}

// Begin gives the journal for something that begins, and what is to be called when that has ended. The
// error is that of Create, or ErrClosed behind Run's end.
func (s *Series) Begin(ctx context.Context) (w *Writer, end func(), err error) {
	select {
	case <-s.started:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, nil, fmt.Errorf("begin in a series of journals: %w", ErrClosed)
	}
	if p := s.present; p != nil && (p.w.Size() >= s.o.Rotate || p.w.hasFailed()) {
		s.retire()
	}
	if s.present == nil {
		if err := s.create(); err != nil {
			return nil, nil, err
		}
	}
	p := s.present
	p.going++
	return p.w, sync.OnceFunc(func() { s.end(p) }), nil
}

// create makes the present journal; s.mu is held.
func (s *Series) create() error {
	w, err := Create(s.o.Options)
	if err != nil {
		return err
	}
	p := &part{w: w, over: make(chan struct{})}
	s.present = p
	s.keepers.Go(func() { s.keep(p) })
	if s.o.Follow != nil {
		s.readers.Go(func() { s.o.Follow(s.ctx, w) })
	}
	return nil
}

// keep syncs a journal until nothing more comes, and closes it.
func (s *Series) keep(p *part) {
	ctx, stop := context.WithCancel(context.WithoutCancel(s.ctx))
	synced := make(chan error, 1)
	go func() { synced <- p.w.Run(ctx) }()
	<-p.over
	stop()
	if err := errors.Join(<-synced, p.w.Close()); err != nil && s.o.Closed != nil {
		s.o.Closed(err)
	}
}

// end notes that something has ended.
func (s *Series) end(p *part) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.going--
	p.close()
}

// retire lets nothing more begin in the present journal; s.mu is held.
func (s *Series) retire() {
	if s.present == nil {
		return
	}
	s.present.past = true
	s.present.close()
	s.present = nil
}

// close closes over if nothing comes any more; the series' mu is held.
func (p *part) close() {
	if p.past && p.going == 0 {
		close(p.over)
	}
}
