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
	// It is called from several goroutines.
	Failed func(schema.Identity, error)
}

// Publisher stores one proxy's journal, each exchange in the capture of its conversation. One process
// publishes a journal at a time: where a conversation was found out late, the place of its frames
// depends on who reads.
type Publisher struct {
	o     Options
	head  journal.Head
	boxes *outboxes
	filer *filer
	last  time.Time // of the last entry
	read  uint64    // the journal is cut and filed up to this offset; boxes.mu is held
	ended bool      // boxes.mu is held
	mark  journal.Mark
	saved time.Time
}

// New makes the publisher of a source of which nothing was read yet.
func New(o Options) *Publisher {
	p := &Publisher{o: o, head: o.Source.Head(), boxes: newOutboxes()}
	p.last = p.head.CreatedAt
	p.mark = journal.Mark{Identity: p.head.Identity}
	p.boxes.make = p.appender
	p.boxes.hurt = func(id schema.Identity, err error) {
		if o.Failed != nil {
			o.Failed(id, err)
		}
	}
	p.filer = newFiler(p.head, o.Mark.Offset, o.Filed, p.boxes.put)
	return p
}

// Run follows the journal until its writer has ended and all it holds is stored, then returns nil. It
// may be run anew, by another process too, after any end of another one: it begins at the journal's
// start and stores what is missing. It returns ctx.Err() when ctx ends, errors of the journal, the
// bucket and SaveMark once all before them is stored, and those of Append. An error that wraps
// publish.ErrUnstorable, publish.ErrSubject or topology.ErrBlob names captures that take no more
// frames; all else is stored.
func (p *Publisher) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	p.boxes.fail = func(err error) { cancel(err) }
	err := p.follow(ctx)
	if settled := p.boxes.settle(ctx); err == nil {
		err = settled
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	cancel(nil)
	p.boxes.group.Wait()
	if err == nil {
		err = p.boxes.failure()
	}
	p.finish()
	if err = errors.Join(err, p.save(err == nil)); err != nil {
		return fmt.Errorf("publish journal %s: %w", p.head.ID, err)
	}
	return nil
}

// finish tells waiters that no more comes.
func (p *Publisher) finish() {
	p.boxes.mu.Lock()
	defer p.boxes.mu.Unlock()
	p.ended = true
	p.boxes.change()
}

// appender makes the appender of a capture, which opens it if nobody has. at is what is known of the
// capture from earlier appends.
func (p *Publisher) appender(id schema.Identity, first *schema.Frame, at *publish.Head) (*publish.Appender, error) {
	return publish.NewAppender(publish.AppenderOptions{
		JS: p.o.JS, Blobs: p.o.Blobs, Identity: id, Partitions: p.o.Partitions, Journal: p.head.ID,
		Opening: p.opening(first), Head: at, BatchFrom: p.o.BatchFrom, Mark: p.o.Mark.Offset, Retry: p.o.Retry,
	})
}

// opening is the open frame of a capture whose first frame is given: the journal's head says what
// steers its fold. It is as old as that frame.
func (p *Publisher) opening(first *schema.Frame) *schema.Frame {
	return &schema.Frame{
		At: first.At, From: schema.FromControl, Type: schema.TypeOpen, End: schema.EndNone, Data: encode(p.head.Open),
		Writer: schema.Writer{Journal: p.head.ID, Offset: p.o.Source.Start()},
	}
}

// follow reads the journal to its end and gives its frames to the outboxes.
func (p *Publisher) follow(ctx context.Context) error {
	c := newCutter(p.head)
	var frames []schema.Frame
	for {
		e, err := p.next(ctx)
		if errors.Is(err, io.EOF) {
			return p.end(ctx, c)
		}
		if err != nil {
			return err
		}
		p.last = e.At
		frames = c.cut(frames[:0], e)
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
}

// end files what the journal's end leaves of each exchange that has none. No time passes there: what an
// exchange waited for is in the journal or nowhere.
func (p *Publisher) end(ctx context.Context, c *cutter) error {
	end := p.o.Source.End()
	for place := end; ; place += endSlots {
		frames, ok := c.end(nil, place)
		if err := p.filer.come(ctx, place, p.last); err != nil {
			return err
		}
		if err := p.filer.frames(ctx, frames); err != nil {
			return err
		}
		if !ok {
			break
		}
	}
	if err := p.filer.end(ctx); err != nil {
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
	p.boxes.mu.Lock()
	defer p.boxes.mu.Unlock()
	p.read = offset
	p.boxes.change()
}

// save writes the mark, if it moved.
func (p *Publisher) save(done bool) error {
	p.saved = time.Now()
	if p.o.SaveMark == nil {
		return nil
	}
	p.boxes.mu.Lock()
	offset := p.read
	if first, ok := p.boxes.lowest(true); ok {
		offset = min(offset, first-1)
	}
	p.boxes.mu.Unlock()
	if first, ok := p.filer.waiting(); ok {
		offset = min(offset, first-1)
	}
	if offset == p.mark.Offset && !done {
		return nil
	}
	m := journal.Mark{Identity: p.head.Identity, Offset: offset, At: time.Now().UTC(), Done: done}
	if captures := p.boxes.captures(); done || len(captures) <= markCaptures {
		m.Captures = captures
	}
	p.mark = m
	return p.o.SaveMark(m)
}

// Stored waits until every frame whose bytes stand before an offset of the journal is stored, but for
// those of exchanges whose conversation is not known yet and of captures that take no more, and gives
// the captures that the journal went to with the numbers of their last frames. The error wraps
// publish.ErrEnded if Run ends before, or is ctx's.
func (p *Publisher) Stored(ctx context.Context, offset uint64) (map[schema.Identity]uint64, error) {
	for {
		p.boxes.mu.Lock()
		first, waiting := p.boxes.lowest(false)
		reached, ended := p.read >= offset && (!waiting || first > offset), p.ended
		changed := p.boxes.watch()
		p.boxes.mu.Unlock()
		switch {
		case reached:
			return p.boxes.captures(), nil
		case ended:
			return p.boxes.captures(), fmt.Errorf("publish journal %s: %w", p.head.ID, publish.ErrEnded)
		}
		select {
		case <-ctx.Done():
			return p.boxes.captures(), ctx.Err()
		case <-changed:
		}
	}
}

// Captures are the captures that the journal went to so far, with the numbers of their last frames.
func (p *Publisher) Captures() map[schema.Identity]uint64 { return p.boxes.captures() }
