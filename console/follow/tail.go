package follow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// Bounds of the events that a tail keeps: those of the last look, for all who wait for it, and some from
// before. Who stands before them reads the ledger.
const (
	lookEvents = 4096
	lookBytes  = 8 << 20
	tailEvents = 256
	tailBytes  = 64 << 10
)

// tail is the end of a transcript in the ledger, read once for all who look at the same time.
type tail struct {
	reader sink.Reader
	key    schema.Transcript

	turn  chan struct{} // has an entry while somebody looks; what follows is theirs
	begun time.Time     // of the last look that ended well
	seen  end
	bytes int
}

// end is what a look saw.
type end struct {
	summary sink.Summary // as it was before the events were read; zero if there is none
	head    uint64       // number of the last event
	events  []*Event     // the last ones, up to head. They are shared: nobody changes them.
}

func newTail(r sink.Reader, key schema.Transcript) tail {
	return tail{reader: r, key: key, turn: make(chan struct{}, 1)}
}

// look looks at the ledger, or gives what another look saw that began after a time.
func (t *tail) look(ctx context.Context, since time.Time) (end, error) {
	select {
	case <-ctx.Done():
		return end{}, ctx.Err()
	case t.turn <- struct{}{}:
	}
	defer func() { <-t.turn }()
	if t.begun.After(since) {
		return t.seen, nil
	}
	begun := time.Now()
	if err := t.read(ctx); err != nil {
		return end{}, err
	}
	t.begun = begun
	return t.seen, nil
}

// read reads what is new. The status is read first, so that an end is told only after all that was stored
// with it; where more was stored meanwhile, the end may be over.
func (t *tail) read(ctx context.Context) error {
	summary, err := t.reader.Transcript(ctx, t.key)
	if err != nil && !errors.Is(err, sink.ErrNotFound) {
		return err
	}
	if t.begun.IsZero() { // what was there before is history
		t.seen.head = summary.Head
	}
	t.seen.summary = summary
	t.trim(tailEvents, tailBytes)
	if summary.Head <= t.seen.head {
		return nil
	}
	t.seen.events = slices.Clone(t.seen.events)
	for e, err := range t.reader.Events(ctx, t.key, t.seen.head, 0) {
		if err != nil {
			return err
		}
		event, err := readEvent(e, t.seen.head)
		if err != nil {
			return err
		}
		t.seen.head = e.Seq
		t.seen.events = append(t.seen.events, event)
		t.bytes += len(e.Bytes)
		t.trim(lookEvents, lookBytes)
	}
	return nil
}

// trim leaves the last events, at least one.
func (t *tail) trim(events, bytes int) {
	for len(t.seen.events) > events || len(t.seen.events) > 1 && t.bytes > bytes {
		t.bytes -= len(t.seen.events[0].Bytes)
		t.seen.events = t.seen.events[1:]
	}
}

// readEvent reads the event behind a number.
func readEvent(e sink.Event, behind uint64) (*Event, error) {
	if e.Seq != behind+1 {
		return nil, fmt.Errorf("read event %d: the ledger gives %d", behind+1, e.Seq)
	}
	event, err := schema.DecodeEvent(e.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read event %d: %w", e.Seq, err)
	}
	return &Event{Seq: e.Seq, Bytes: e.Bytes, Event: event}, nil
}
