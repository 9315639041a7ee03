// Package publish stores a journal's conversation on STENO_RAW: it cuts frames and appends them,
// each once and in number order, whoever else writes the subject.
package publish

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/synadia-io/orbit.go/jetstreamext"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// From how many waiting frames on an append is a batch.
const (
	// BatchLazy is for a server that fsyncs now and then: a full batch. On a one-replica file stream
	// the server stages a batch in a store of its own and fsyncs that whatever the sync setting, while
	// the stream takes nothing else. That is 2 ms on a good disk and was 50 ms on a busy one, where
	// batches of 64 were many times slower than single appends.
	BatchLazy = maxBatch
	// BatchAlways is for a server that fsyncs every write of a one-replica stream: a batch of any size
	// costs some ten fsyncs (its store is made, filled and committed), single appends one each.
	BatchAlways = 16
	// BatchReplicated is for three replicas, which stage a batch in memory: it costs one round of the
	// replicas instead of one a frame.
	BatchReplicated = 4
)

// BatchFrom is from how many waiting frames on an append is a batch, for streams of so many replicas
// on servers that fsync every write or do not.
func BatchFrom(replicas int, always bool) int {
	switch {
	case replicas > 1:
		return BatchReplicated
	case always:
		return BatchAlways
	}
	return BatchLazy
}

// Bounds of one batch; the server takes 1,000 messages.
const (
	maxBatch      = 500
	maxBatchBytes = 4 << 20
)

// answerWithin bounds the wait for an answer, after which the outcome is unknown.
const answerWithin = 5 * time.Second

// Waits between tries of an append that failed.
const (
	firstWait   = 5 * time.Millisecond
	longestWait = 2 * time.Second
)

var (
	// ErrTaken marks a subject that holds another journal's frames before the first own one.
	ErrTaken = errors.New("another journal writes this capture")
	// ErrUnstorable marks a frame that the stream can never store.
	ErrUnstorable = errors.New("frame can never be stored")
	// ErrReplaced marks a stream that no longer holds what it held: it was made anew. Whoever has the
	// journal begins again from its start.
	ErrReplaced = errors.New("the stream was replaced")
	// ErrSubject marks a subject whose messages are not frames in number order.
	ErrSubject = errors.New("the subject does not hold frames 1, 2, 3 …")
)

// AppenderOptions make an appender.
type AppenderOptions struct {
	JS         jetstream.JetStream
	Blobs      *topology.Blobs
	Identity   schema.Identity
	Partitions uint32
	Journal    string // a token: the writer's id in every frame
	// Exclusive refuses with ErrTaken to store a first frame behind another journal's.
	Exclusive bool
	// Opening is stored before everything else where the subject is empty, and nowhere else: of several
	// writers that share a capture one opens it.
	Opening *schema.Frame
	// Head is where an earlier appender of this journal stood: the subject is not read before the first
	// append. nil: it is.
	Head      *Head
	BatchFrom int // frames; 0: BatchLazy
	// Mark is the offset up to which a mark says that frames are stored. It counts only where the
	// subject's beginning is gone and nothing says that it was given back, so that nobody else can tell.
	Mark uint64
	// Stored is given each own frame, data resolved, that Resume or a later look finds on the subject;
	// its error ends the append. nil: nobody compares, and less is read.
	Stored func(schema.Frame) error
	// Retry hears why an append is tried again; nil: nobody does.
	Retry func(error)
}

// Head is what an appender knows of its subject.
type Head struct {
	Frames   uint64 // number of the last frame
	Sequence uint64 // of the last message in the stream
	Chain    string // of the last frame
	Own      bool   // a frame of this journal was found or stored
	Offset   uint64 // Writer.Offset of its last such frame
	// Foreign: another journal's frames were found. A Resume that finds an own frame last looks no
	// further, unless Stored is set.
	Foreign bool
}

// Appender is the one way to append to a raw subject. Every append states the subject's last stream
// sequence, so of two writers one is refused, reads what the other stored, and goes on behind it. It
// is not safe for concurrent use.
type Appender struct {
	o       AppenderOptions
	subject string
	head    Head
	resumed bool
	inbox   *inbox // of single messages; nil until there is one
	// store publishes one message or an atomic batch and gives the sequence of the last.
	store func(ctx context.Context, messages []*nats.Msg) (uint64, error)
}

// NewAppender makes an appender; Resume or the first Append reads the subject. Whoever is done with it
// calls Close.
func NewAppender(o AppenderOptions) (*Appender, error) {
	if err := o.Identity.Validate(); err != nil {
		return nil, fmt.Errorf("make appender: %w", err)
	}
	if !schema.IsToken(o.Journal) {
		return nil, fmt.Errorf("make appender of %s: journal id %q is not a token", o.Identity, o.Journal)
	}
	if o.Partitions == 0 {
		return nil, fmt.Errorf("make appender of %s: no number of partitions", o.Identity)
	}
	if o.BatchFrom <= 0 {
		o.BatchFrom = BatchLazy
	}
	a := &Appender{o: o, subject: schema.RawSubject(o.Identity, o.Partitions)}
	a.store = a.publish
	if o.Head != nil {
		a.head, a.resumed = *o.Head, true
	}
	return a, nil
}

// Close gives back what answers came by. It may be called again, on nil too; a later Append takes it anew.
func (a *Appender) Close() {
	if a != nil && a.inbox != nil {
		a.inbox.leave()
		a.inbox = nil
	}
}

// Head is what the appender knows of its subject.
func (a *Appender) Head() Head { return a.head }

// Append stores frames in order, numbers them, and returns once all are stored. A frame carries its
// Writer.Offset; one that is not above the last own one was stored before and is passed over. I/O is
// tried again until ctx ends. Errors wrap ErrTaken, ErrUnstorable, ErrReplaced or ErrSubject; all
// frames before the failing one are stored.
func (a *Appender) Append(ctx context.Context, frames []schema.Frame) error {
	if !a.resumed {
		if _, err := a.Resume(ctx); err != nil {
			return err
		}
	}
	wait, singles := firstWait, 0
	for tried := false; ; tried = true {
		rest := a.fresh(frames)
		if tried { // what is found stored now was perhaps stored by us
			if err := a.keepBlobs(ctx, frames[:len(frames)-len(rest)]); err != nil {
				return err
			}
		}
		frames = rest
		if len(frames) == 0 {
			return nil
		}
		if a.o.Exclusive && a.head.Foreign && !a.head.Own {
			return fmt.Errorf("append first frame of journal %s to %s: %w", a.o.Journal, a.o.Identity, ErrTaken)
		}
		next := frames
		if a.o.Opening != nil && a.head.Frames == 0 {
			next = []schema.Frame{*a.o.Opening}
		}
		n := a.batch(next)
		if singles > 0 {
			n = 1
		}
		err := a.try(ctx, next[:n])
		if err == nil {
			wait, singles = firstWait, singles-1
			continue
		}
		err = fmt.Errorf("append frame %d of %s: %w", a.head.Frames+1, a.o.Identity, err)
		outcome := topology.Classify(err)
		if errors.Is(err, ErrUnstorable) {
			outcome = topology.Never
		}
		if outcome == topology.Never && n == 1 {
			return unstorable(err)
		}
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), err)
		}
		// A server has room for so many batches only, and one frame of a batch may be what it never
		// takes: both are met by appending these frames one by one.
		alone := n > 1 && (outcome == topology.TooMany || outcome == topology.Never)
		// So is a batch that nobody answered: a loaded cluster may get through with one frame in the time
		// in which it does not with many, and a batch that was left open takes room until it expires.
		if alone || n > 1 && outcome == topology.Unknown {
			singles = n
		}
		before := a.head.Sequence
		if err := a.reconcile(ctx, outcome); err != nil {
			return err
		}
		if a.head.Sequence != before { // somebody got on: perhaps we
			wait = firstWait
			continue
		}
		if alone {
			continue
		}
		if err := a.pause(ctx, err, &wait); err != nil {
			return err
		}
	}
}

func unstorable(err error) error {
	if errors.Is(err, ErrUnstorable) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnstorable, err)
}

// fresh drops what is stored already.
func (a *Appender) fresh(frames []schema.Frame) []schema.Frame {
	for len(frames) > 0 && a.head.Own && frames[0].Writer.Offset <= a.head.Offset {
		frames = frames[1:]
	}
	return frames
}

// keepBlobs looks, once frames are stored, whether the bytes of large ones are still in the bucket: while they
// were named by no message somebody who gives space back may have taken them for unused.
func (a *Appender) keepBlobs(ctx context.Context, frames []schema.Frame) error {
	wait := firstWait
	for _, f := range frames {
		for len(f.Data) > schema.MaxInline {
			_, err := a.o.Blobs.Put(ctx, a.o.Identity, f.Data)
			if err == nil {
				break
			}
			if err := a.pause(ctx, err, &wait); err != nil {
				return err
			}
		}
	}
	return nil
}

// batch is how many of the waiting frames go into the next append.
func (a *Appender) batch(frames []schema.Frame) int {
	if len(frames) < a.o.BatchFrom {
		return 1
	}
	bytes := 0
	for n, f := range frames {
		if len(f.Data) <= schema.MaxInline {
			bytes += len(f.Data)
		}
		if n == maxBatch || n > 0 && bytes > maxBatchBytes {
			return n
		}
	}
	return len(frames)
}

// try makes one append and moves the head on a clean ack.
func (a *Appender) try(ctx context.Context, frames []schema.Frame) error {
	messages, head, err := a.messages(ctx, frames)
	if err != nil {
		return err
	}
	if head.Sequence, err = a.store(ctx, messages); err != nil {
		return err
	}
	a.head = head
	return nil
}

// publish is store on JetStream, and waits for an answer no longer than answerWithin.
func (a *Appender) publish(ctx context.Context, messages []*nats.Msg) (uint64, error) {
	if len(messages) > 1 {
		return a.publishBatch(ctx, messages)
	}
	if a.inbox == nil {
		var err error
		if a.inbox, err = openInbox(a.o.JS.Conn()); err != nil {
			return 0, err
		}
	}
	seq, err := a.inbox.ask(ctx, messages[0], a.head.Sequence)
	if err != nil { // its answer may still come
		a.Close()
	}
	return seq, err
}

func (a *Appender) publishBatch(ctx context.Context, messages []*nats.Msg) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	ack, err := jetstreamext.PublishMsgBatch(ctx, a.o.JS, messages)
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

// pause waits before the next try.
func (a *Appender) pause(ctx context.Context, why error, wait *time.Duration) error {
	if a.o.Retry != nil {
		a.o.Retry(why)
	}
	select {
	case <-ctx.Done():
		return errors.Join(ctx.Err(), why)
	case <-time.After(*wait):
	}
	*wait = min(2**wait, longestWait)
	return nil
}
