package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// markEvery bounds how far a mark lags behind what is stored, while there is something new. A mark is
// an fsync and a hint, so it is not written for every append.
const markEvery = time.Second

// Source is one connection's journal, read from its first entry.
type Source interface {
	Head() journal.Head
	// Start is below the offset of every entry's data.
	Start() uint64
	// Next gives the entries in order; their data are valid until the next call. While the writer
	// lives it waits for the next entry until ctx ends; with the writer gone and every entry given it
	// returns io.EOF.
	Next(ctx context.Context) (journal.Entry, error)
	// End is the offset behind the last entry given.
	End() uint64
}

// Options make a publisher.
type Options struct {
	Source     Source
	JS         jetstream.JetStream
	Blobs      *topology.Blobs
	Partitions uint32
	BatchFrom  int // frames; 0: BatchLazy
	// Mark is the journal's mark as a former publisher left it; the zero value if there is none.
	Mark journal.Mark
	// SaveMark writes the journal's mark. nil: none is kept.
	SaveMark func(journal.Mark) error
	// Identified hears the capture's final identity once its open frame is stored, which differs from
	// asked where another attempt was taken.
	Identified func(final, asked schema.Identity)
	// Retry hears why an append is tried again.
	Retry func(error)
}

// Publisher stores one ACP journal as one capture: an open frame, the frames cut from its entries,
// and a close frame if the writer died without one.
type Publisher struct {
	o        Options
	head     journal.Head
	appender *Appender
	progress progress
	mark     journal.Mark
	saved    time.Time
	dirty    bool
	made     func(*Appender) // a test's hand in each appender; nil outside
}

// NewPublisher makes the publisher of a source of which nothing was read yet.
func NewPublisher(o Options) *Publisher {
	return &Publisher{o: o, head: o.Source.Head()}
}

// Run follows the journal until its writer has ended and all it holds is stored, then returns nil.
// It may be run anew, by another process too, after any end of another one: it begins at the
// journal's start and stores what is missing. It returns ctx.Err() when ctx ends, errors of the
// journal once all before them is stored, and those of Append and SaveMark.
func (p *Publisher) Run(ctx context.Context) error {
	defer p.progress.change(func(g *progress) { g.ended = true })
	err := p.open(ctx)
	defer p.appender.Close()
	if err != nil {
		return p.fail(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	q, done := newQueue(), make(chan struct{})
	go func() {
		defer close(done)
		q.end(p.cut(ctx, q))
	}()
	defer func() { cancel(); <-done }()

	for {
		frames, err := q.take(ctx, p.untilMark())
		switch {
		case errors.Is(err, io.EOF):
			return p.save(true)
		case err != nil:
			return p.fail(errors.Join(err, p.save(false)))
		}
		if err := p.append(ctx, frames); err != nil {
			return p.fail(errors.Join(err, p.save(false)))
		}
		if p.dirty && time.Since(p.saved) >= markEvery {
			if err := p.save(false); err != nil {
				return p.fail(err)
			}
		}
	}
}

func (p *Publisher) fail(err error) error {
	return fmt.Errorf("publish journal %s: %w", p.head.ID, err)
}

// open finds the capture's attempt and stores the open frame. An attempt that another journal began
// is passed over; the one that this journal began is recognised, so that a later run finds it again.
func (p *Publisher) open(ctx context.Context) error {
	id := p.head.Identity
	for {
		if err := p.take(ctx, id); err == nil || !errors.Is(err, ErrTaken) {
			return err
		}
		p.appender.Close()
		if id.Attempt++; id.Attempt == 0 {
			return fmt.Errorf("find a free attempt of %s: there is none", p.head.Identity)
		}
	}
}

// take begins or resumes one attempt.
func (p *Publisher) take(ctx context.Context, id schema.Identity) (err error) {
	o := AppenderOptions{
		JS: p.o.JS, Blobs: p.o.Blobs, Identity: id, Partitions: p.o.Partitions, Journal: p.head.ID,
		Exclusive: true, BatchFrom: p.o.BatchFrom, Retry: p.o.Retry,
	}
	if p.o.Mark.Identity == id {
		o.Mark = p.o.Mark.Offset
	}
	if p.appender, err = NewAppender(o); err != nil {
		return err
	}
	if p.made != nil {
		p.made(p.appender)
	}
	info := p.head.Open
	if id != p.head.Identity {
		info.Asked = p.head.Identity.String()
	}
	payload, err := json.Marshal(info)
	if err != nil {
		return fmt.Errorf("write open frame: %w", err)
	}
	p.mark = journal.Mark{Identity: id}
	if err := p.append(ctx, []schema.Frame{{
		At: p.head.CreatedAt, From: schema.FromControl, Type: schema.TypeOpen, End: schema.EndNone, Data: payload,
		Writer: schema.Writer{Journal: p.head.ID, Offset: p.o.Source.Start()},
	}}); err != nil {
		return err
	}
	if p.o.Identified != nil {
		p.o.Identified(id, p.head.Identity)
	}
	return nil
}

// append stores frames and moves the mark.
func (p *Publisher) append(ctx context.Context, frames []schema.Frame) error {
	if len(frames) == 0 {
		return nil
	}
	if err := p.appender.Append(ctx, frames); err != nil {
		return err
	}
	p.progress.change(func(g *progress) {
		g.stored += uint64(len(frames))
		g.capture, g.head = p.mark.Identity, p.appender.Head().Frames
	})
	p.mark.Frames += uint64(len(frames))
	p.mark.Offset = frames[len(frames)-1].Writer.Offset
	p.dirty = true
	return nil
}

// cut reads the journal to its end and puts its frames into the queue. It returns io.EOF once all
// are there.
func (p *Publisher) cut(ctx context.Context, q *queue) error {
	c := NewCutter(p.head)
	var frames []schema.Frame
	count := uint64(1) // the open frame
	for {
		p.progress.change(func(g *progress) { g.read, g.cut = p.o.Source.End(), count })
		e, err := p.o.Source.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if frames, err = c.Cut(frames[:0], e); err != nil {
			return errors.Join(err, q.put(ctx, frames))
		}
		if err := q.put(ctx, frames); err != nil {
			return err
		}
		count += uint64(len(frames))
	}
	end := p.o.Source.End()
	frames, err := c.End(frames[:0], end)
	if err == nil && !c.Closed() {
		frames, err = c.Died(frames, end)
	}
	if err == nil {
		p.progress.change(func(g *progress) { g.read, g.cut = end, count+uint64(len(frames)) })
		err = q.put(ctx, frames)
	}
	if err != nil {
		return err
	}
	return io.EOF
}

// untilMark is how long to wait for frames before the mark is due; 0 is for ever.
func (p *Publisher) untilMark() time.Duration {
	if !p.dirty || p.o.SaveMark == nil {
		return 0
	}
	return max(markEvery-time.Since(p.saved), time.Millisecond)
}

// save writes the mark.
func (p *Publisher) save(done bool) error {
	if p.o.SaveMark == nil || !p.dirty && !done {
		return nil
	}
	p.mark.At, p.mark.Done = time.Now().UTC(), done
	if err := p.o.SaveMark(p.mark); err != nil {
		return err
	}
	p.saved, p.dirty = time.Now(), false
	return nil
}
