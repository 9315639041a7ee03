package filing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// markEvery bounds how far a mark lags behind what is stored, while there is something new.
const markEvery = time.Second

// markCaptures bounds the captures that a mark names before the journal's end: it is written often.
const markCaptures = 1000

// Options make a publisher. Identified is not called; Retry is, from several goroutines.
type Options struct {
	publish.Options
	Filed *topology.FiledKeys
	// Failed hears of a capture that takes no more frames for good; the others go on. nil: nobody does.
	Failed func(schema.Identity, error)
}

// Publisher stores one proxy's journal, each exchange in the capture of its conversation. One process
// publishes a journal at a time: where a conversation was found out late, the place of its frames
// depends on who reads.
type Publisher struct {
	o     Options
	head  journal.Head
	lanes *lanes
	filer *filer
	read  uint64 // the journal is cut and filed up to this offset; lanes.mu is held
	ended bool   // lanes.mu is held
	mark  journal.Mark
	saved time.Time
}

// New makes the publisher of a source of which nothing was read yet.
func New(o Options) *Publisher {
	p := &Publisher{o: o, head: o.Source.Head()}
	p.mark = journal.Mark{Identity: p.head.Identity}
	p.lanes = &lanes{
		make: p.appender, by: map[schema.Identity]*lane{}, stored: map[schema.Identity]uint64{}, failed: map[schema.Identity]error{},
		hurt: func(id schema.Identity, err error) {
			if o.Failed != nil {
				o.Failed(id, err)
			}
		},
	}
	p.filer = newFiler(p.head, o.Filed, p.lanes.put)
	return p
}

// Run follows the journal until its writer has ended and all it holds is stored, then returns nil. It
// may be run anew, by another process too, after any end of another one: it begins at the journal's
// start and stores what is missing. It returns ctx.Err() when ctx ends, and errors of the journal,
// the bucket and SaveMark. An error that wraps publish.ErrUnstorable, publish.ErrSubject or
// topology.ErrBlob names captures that take no more frames; all else is stored.
func (p *Publisher) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	p.lanes.fail = func(err error) { cancel(err) }
	err := p.follow(ctx)
	if err == nil {
		err = p.settle(ctx)
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	cancel(nil)
	p.lanes.group.Wait()
	if err == nil {
		err = p.lanes.failure()
	}
	p.finish()
	if err = errors.Join(err, p.save(err == nil)); err != nil {
		return fmt.Errorf("publish journal %s: %w", p.head.ID, err)
	}
	return nil
}

// finish tells waiters that no more comes.
func (p *Publisher) finish() {
	p.lanes.mu.Lock()
	defer p.lanes.mu.Unlock()
	p.ended = true
	p.lanes.change()
}

// appender makes the appender of a capture, which opens it if nobody has.
func (p *Publisher) appender(id schema.Identity, first *schema.Frame) (*publish.Appender, error) {
	opening, err := p.opening(first)
	if err != nil {
		return nil, err
	}
	return publish.NewAppender(publish.AppenderOptions{
		JS: p.o.JS, Blobs: p.o.Blobs, Identity: id, Partitions: p.o.Partitions, Journal: p.head.ID, Opening: opening,
		BatchFrom: p.o.BatchFrom, Mark: p.o.Mark.Offset, Retry: p.o.Retry,
	})
}

// follow reads the journal to its end and gives its frames to the lanes.
func (p *Publisher) follow(ctx context.Context) error {
	c := NewCutter(p.head)
	var frames []schema.Frame
	for {
		e, err := p.next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if frames, err = c.Cut(frames[:0], e); err != nil {
			return errors.Join(err, p.filer.file(ctx, e, frames))
		}
		if err := p.filer.file(ctx, e, frames); err != nil {
			return err
		}
		p.reached(e.End())
		if time.Since(p.saved) >= markEvery {
			if err := p.save(false); err != nil {
				return err
			}
		}
	}
	end := p.o.Source.End()
	frames, err := c.End(frames[:0], end)
	if err := errors.Join(err, p.filer.end(ctx, end, time.Now(), frames)); err != nil {
		return err
	}
	p.reached(end)
	return nil
}

// next gives the journal's next entry. While it waits for one, exchanges that waited long enough for
// an answer are filed, and the mark is saved.
func (p *Publisher) next(ctx context.Context) (journal.Entry, error) {
	for {
		until := time.Now().Add(markEvery)
		if due := p.filer.due(); !due.IsZero() && due.Before(until) {
			until = due
		}
		within, cancel := context.WithDeadline(ctx, until)
		e, err := p.o.Source.Next(within)
		cancel()
		if err == nil || !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return e, err
		}
		if err := p.filer.come(ctx, p.o.Source.End(), time.Now()); err != nil {
			return journal.Entry{}, err
		}
		if err := p.save(false); err != nil {
			return journal.Entry{}, err
		}
	}
}

// reached notes how far the journal is filed.
func (p *Publisher) reached(offset uint64) {
	p.lanes.mu.Lock()
	defer p.lanes.mu.Unlock()
	p.read = offset
	p.lanes.change()
}

// settle waits until all lanes are empty.
func (p *Publisher) settle(ctx context.Context) error {
	for {
		p.lanes.mu.Lock()
		empty := p.lanes.frames == 0
		changed := p.lanes.watch()
		p.lanes.mu.Unlock()
		if empty {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// save writes the mark, if it moved.
func (p *Publisher) save(done bool) error {
	p.saved = time.Now()
	if p.o.SaveMark == nil {
		return nil
	}
	p.lanes.mu.Lock()
	offset := p.read
	if first, ok := p.lanes.lowest(); ok {
		offset = min(offset, first-1)
	}
	p.lanes.mu.Unlock()
	if first, ok := p.filer.waiting(); ok {
		offset = min(offset, first-1)
	}
	if offset == p.mark.Offset && !done {
		return nil
	}
	m := journal.Mark{Identity: p.head.Identity, Offset: offset, At: time.Now().UTC(), Done: done}
	if captures := p.lanes.captures(); done || len(captures) <= markCaptures {
		m.Captures = captures
	}
	p.mark = m
	return p.o.SaveMark(m)
}

// Stored waits until every frame whose bytes stand before an offset of the journal is stored, but for
// those of exchanges whose conversation is not known yet, and gives the captures that the journal went
// to with the numbers of their last frames. The error wraps publish.ErrEnded if Run ends before, or is
// ctx's.
func (p *Publisher) Stored(ctx context.Context, offset uint64) (map[schema.Identity]uint64, error) {
	for {
		p.lanes.mu.Lock()
		first, waiting := p.lanes.lowest()
		reached, ended := p.read >= offset && (!waiting || first > offset), p.ended
		changed := p.lanes.watch()
		p.lanes.mu.Unlock()
		switch {
		case reached:
			return p.lanes.captures(), nil
		case ended:
			return p.lanes.captures(), fmt.Errorf("publish journal %s: %w", p.head.ID, publish.ErrEnded)
		}
		select {
		case <-ctx.Done():
			return p.lanes.captures(), ctx.Err()
		case <-changed:
		}
	}
}

// Captures are the captures that the journal went to so far, with the numbers of their last frames.
func (p *Publisher) Captures() map[schema.Identity]uint64 { return p.lanes.captures() }
