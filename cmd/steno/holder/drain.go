package holder

import (
	"context"
	"fmt"
	"time"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
)

// lookAgain is how often a wait for a source looks whether the source fails.
const lookAgain = 250 * time.Millisecond

// captured is what is stored of a journal.
type captured struct {
	journal  string
	captures map[schema.Identity]uint64 // the number of the last frame of each
	done     bool                       // the journal's end included
}

// drained waits until what the journals hold now is stored. It gives their captures, but for those
// that were numbered to their end before, and says of every journal that does not get stored why.
// Journals that go to another NATS are not waited for.
func (j *journals) drained(ctx context.Context) (captures []captured, unstored []string, err error) {
	infos, err := journal.List(j.o.Dir.Journals())
	if err != nil {
		return nil, nil, fmt.Errorf("list journals: %w", err)
	}
	for _, info := range infos {
		switch {
		case info.Err != nil:
			unstored = append(unstored, oneLine(info.Err))
			continue
		case info.Head.Destination != "", j.isSettled(info.ID):
			continue
		}
		c, failing, err := j.stored(ctx, info)
		if err != nil {
			return nil, nil, err
		}
		if failing != nil {
			unstored = append(unstored, oneLine(failing))
		}
		captures = append(captures, c)
	}
	return captures, unstored, nil
}

func (j *journals) isSettled(id string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.done[id]
}

// settled notes that a journal's captures are numbered: one that is stored to its end is not looked at again.
func (j *journals) settled(c captured) {
	if !c.done {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.done[c.journal] = true
}

// stored waits until the bytes that a journal held when it was listed are stored; where the tap is
// gone, until the journal's end is. failing says why that does not come about. The error is ctx's.
func (j *journals) stored(ctx context.Context, info journal.Info) (c captured, failing error, err error) {
	for {
		j.mu.Lock()
		s := j.active[info.ID]
		j.mu.Unlock()
		if s == nil {
			if mark := j.mark(info.ID); mark.Done {
				return captured{info.ID, capturesOf(mark), true}, nil, nil
			}
			select {
			case j.poke <- struct{}{}:
			default:
			}
			if err := sleep(ctx, 10*time.Millisecond); err != nil {
				return captured{}, nil, fmt.Errorf("wait for journal %s: %w", info.ID, err)
			}
			continue
		}
		c, reached := s.reached(ctx, info)
		if reached {
			return c, nil, nil
		}
		if ctx.Err() != nil {
			return captured{}, nil, fmt.Errorf("wait for journal %s: %w", info.ID, ctx.Err())
		}
		if _, failing := s.now(); failing != nil {
			return c, failing, nil
		}
	}
}

func capturesOf(m journal.Mark) map[schema.Identity]uint64 {
	if m.Frames == 0 {
		return m.Captures
	}
	return map[schema.Identity]uint64{m.Identity: m.Frames}
}

// reached waits for a source for a moment and tells what is stored, and whether that is all.
func (s *source) reached(ctx context.Context, info journal.Info) (c captured, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, lookAgain)
	defer cancel()
	c.journal = info.ID
	p, failing := s.now()
	if p == nil {
		_ = sleep(ctx, lookAgain) // whoever asked looks at its context
		return c, false
	}
	if info.Alive && failing == nil {
		var err error
		if c.captures, err = p.Stored(ctx, uint64(info.Size)); err == nil {
			return c, true
		}
	}
	select {
	case <-s.ended:
	case <-ctx.Done():
	}
	c.captures = p.Captures()
	return c, false
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
