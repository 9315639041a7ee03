package follow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// Options say what to follow. Conn, Reader and Partitions are needed, or a Hub in place of them.
type Options struct {
	Conn       *nats.Conn
	Reader     sink.Reader
	Partitions uint32 // of the streams
	Hub        *Hub   // shared with other followers; nil: the follower shares with nobody
	Transcript schema.Transcript
	After      uint64        // events above this number are given; beyond the head, the follower waits
	Poll       time.Duration // between looks at the ledger without a wake-up; 0 = 2 s
}

// Follower follows one transcript. It is used once.
type Follower struct{ o Options }

// New makes a follower. It starts nothing.
func New(o Options) (*Follower, error) {
	if o.Hub == nil {
		var err error
		if o.Hub, err = NewHub(o.Conn, o.Reader, o.Partitions); err != nil {
			return nil, fmt.Errorf("follow %s: %w", o.Transcript, err)
		}
	}
	o.Conn, o.Reader, o.Partitions = o.Hub.conn, o.Hub.reader, o.Hub.partitions
	if err := o.Transcript.Validate(); err != nil {
		return nil, fmt.Errorf("follow %s: %w", o.Transcript, err)
	}
	if o.Poll <= 0 {
		o.Poll = 2 * time.Second
	}
	return &Follower{o: o}, nil
}

// ErrStop, returned by emit, ends Run without an error.
var ErrStop = errors.New("stop following")

// Run calls emit for each item, one at a time, until ctx ends, which is no error, or emit returns an
// error. A transcript that the ledger does not have yet is waited for. An emit that takes its time
// holds up nobody else: it is told what it missed. What ends Run by itself is a ledger that cannot be
// read and a connection that is closed for good.
func (f *Follower) Run(ctx context.Context, emit func(Item) error) error {
	err := f.run(ctx, emit)
	switch {
	case errors.Is(err, ErrStop), ctx.Err() != nil:
		return nil
	case err != nil:
		return fmt.Errorf("follow %s: %w", f.o.Transcript, err)
	}
	return nil
}

func (f *Follower) run(ctx context.Context, emit func(Item) error) (err error) {
	r := newRun(f.o, emit)
	if r.feed, err = f.o.Hub.join(f.o.Transcript, r.inbox); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.o.Hub.leave(r.feed, r.inbox)) }()
	return r.loop(ctx)
}
