package follow

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// NewestOptions say how to follow whatever was said last.
type NewestOptions struct {
	Options                         // Transcript is the first one that is followed, After is not used
	Counts  func(sink.Summary) bool // whether a transcript counts; nil = all do
	Idle    time.Duration           // how long an open transcript says nothing before another one takes its place; 0 = 5 s
}

// Begin says which transcript all that follows belongs to, up to the next Begin. One that was followed
// before goes on behind the events that it had given.
type Begin struct{ Summary sink.Summary }

func (*Begin) item() {}

// newest goes from transcript to transcript.
type newest struct {
	o     NewestOptions
	emit  func(Item) error
	given map[schema.Transcript]uint64 // number of the last event given, of those followed before
	known map[schema.Transcript]uint64 // heads that are no news
	woken chan struct{}                // has an entry when something was stored

	mu     sync.Mutex
	stored map[schema.Transcript]bool // since the last look
	at     uint64                     // number of the last event given of the one that is followed
	ended  bool                       // it has
	spoke  time.Time                  // when it said something last
}

// Newest follows one transcript after the other, as Follower.Run does each. It begins with the one in o.
// Once that has ended, or has said nothing for a while, the next one that says something takes its place:
// a new one, from its beginning, or one that goes on, which has all its history told if it was not followed
// before. Nothing is left out: what is said elsewhere meanwhile waits for its turn.
func Newest(ctx context.Context, o NewestOptions, emit func(Item) error) error {
	if o.Idle <= 0 {
		o.Idle = 5 * time.Second
	}
	if o.Poll <= 0 {
		o.Poll = 2 * time.Second
	}
	if o.Counts == nil {
		o.Counts = func(sink.Summary) bool { return true }
	}
	if _, err := New(o.Options); err != nil { // before anything is asked
		return err
	}
	n := &newest{
		o: o, emit: emit, woken: make(chan struct{}, 1),
		given: map[schema.Transcript]uint64{}, known: map[schema.Transcript]uint64{}, stored: map[schema.Transcript]bool{},
	}
	sub, err := o.Conn.Subscribe(schema.StoredSubjects, n.wake)
	if err != nil {
		return fmt.Errorf("subscribe to %s: %w", schema.StoredSubjects, err)
	}
	err = n.run(ctx)
	if undo := sub.Unsubscribe(); undo != nil && !errors.Is(undo, nats.ErrConnectionClosed) {
		err = errors.Join(err, fmt.Errorf("unsubscribe from %s: %w", schema.StoredSubjects, undo))
	}
	return err
}

func (n *newest) run(ctx context.Context) error {
	for s, err := range sink.All(ctx, n.o.Reader) {
		if err != nil {
			return ended(ctx, err)
		}
		n.known[s.Transcript] = s.Head
	}
	next, err := n.o.Reader.Transcript(ctx, n.o.Transcript)
	for err == nil && ctx.Err() == nil {
		if err = n.emit(&Begin{next}); err != nil {
			break
		}
		next, err = n.follow(ctx, next.Transcript)
	}
	return ended(ctx, err)
}

// ended is the error that following ends with: none where that was wished for.
func ended(ctx context.Context, err error) error {
	if errors.Is(err, ErrStop) || ctx.Err() != nil {
		return nil
	}
	return err
}

// follow follows one transcript until another one takes its place.
func (n *newest) follow(ctx context.Context, key schema.Transcript) (next sink.Summary, err error) {
	o := n.o.Options
	o.Transcript, o.After = key, n.given[key]
	f, err := New(o)
	if err != nil {
		return next, err
	}
	n.mu.Lock()
	n.at, n.ended, n.spoke = o.After, false, time.Now()
	n.mu.Unlock()
	inner, stop := context.WithCancel(ctx)
	defer stop()
	var looked error
	var looking sync.WaitGroup
	looking.Go(func() {
		next, looked = n.await(inner, key)
		stop()
	})
	stopped := false
	err = f.Run(inner, func(i Item) error {
		n.note(i)
		err := n.emit(i)
		stopped = stopped || errors.Is(err, ErrStop)
		return err
	})
	stop()
	looking.Wait()
	n.given[key], n.known[key] = n.at, n.at
	n.keepStored(key) // it may have said more, of which the wake-up was not looked at
	switch {
	case err == nil && stopped:
		err = ErrStop
	case err == nil && ctx.Err() == nil:
		err = looked
	}
	return next, err
}

// note takes note of what the transcript says.
func (n *newest) note(i Item) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch i := i.(type) {
	case *Event:
		n.at, n.ended, n.spoke = i.Seq, false, time.Now()
	case *Delta:
		n.spoke = time.Now()
	case *End:
		n.ended = true
	}
}

// wake takes a wake-up of any transcript.
func (n *newest) wake(m *nats.Msg) {
	key, err := schema.ParseTranscriptSubject(m.Subject)
	if err != nil {
		return // not one of ours
	}
	n.keepStored(key)
	select {
	case n.woken <- struct{}{}:
	default:
	}
}

// await waits for a transcript that says something while the one that is followed does not.
func (n *newest) await(ctx context.Context, key schema.Transcript) (sink.Summary, error) {
	poll := time.NewTicker(n.o.Poll)
	defer poll.Stop()
	for all := true; ; {
		wait := n.untilFree()
		if wait <= 0 {
			next, ok, err := n.news(ctx, key, all)
			if ok || err != nil {
				return next, err
			}
			wait, all = n.o.Poll, false
		}
		free := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			free.Stop()
			return sink.Summary{}, ctx.Err()
		case <-n.woken:
		case <-free.C:
		case <-poll.C:
			all = true
		}
		free.Stop()
	}
}

// untilFree is how long the transcript that is followed keeps its place, if it says nothing.
func (n *newest) untilFree() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ended {
		return 0
	}
	return n.o.Idle - time.Since(n.spoke)
}

// news finds a transcript that has events which are news, the one that was recorded first. The wake-ups
// since the last look say where to look; with all, which makes up for those that were lost, the newest
// page of the list does as well. What is found besides waits for its turn.
func (n *newest) news(ctx context.Context, key schema.Transcript, all bool) (found sink.Summary, ok bool, err error) {
	waiting := map[schema.Transcript]bool{}
	take := func(s sink.Summary) {
		if s.Transcript == key || s.Head <= n.known[s.Transcript] || !n.o.Counts(s) {
			return
		}
		waiting[s.Transcript] = true
		if !ok || s.AddedAt.Before(found.AddedAt) {
			found, ok = s, true
		}
	}
	for _, woken := range n.takeStored() {
		s, err := n.o.Reader.Transcript(ctx, woken)
		if err != nil && !errors.Is(err, sink.ErrNotFound) {
			return found, false, err
		}
		if err == nil {
			take(s)
		}
	}
	if all {
		page, err := n.o.Reader.Transcripts(ctx, sink.Query{})
		if err != nil {
			return found, false, err
		}
		for _, s := range page.Transcripts {
			take(s)
		}
	}
	delete(waiting, found.Transcript)
	n.keepStored(slices.Collect(maps.Keys(waiting))...)
	return found, ok, nil
}

func (n *newest) takeStored() []schema.Transcript {
	n.mu.Lock()
	defer n.mu.Unlock()
	keys := slices.Collect(maps.Keys(n.stored))
	clear(n.stored)
	return keys
}

func (n *newest) keepStored(keys ...schema.Transcript) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, key := range keys {
		n.stored[key] = true
	}
}
