package stage

import (
	"sync"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// spot is a message of a stream: nothing stands there but one with this chain. Zero is before the first.
type spot struct {
	seq   uint64
	chain string
}

// spotOf is where a frame stands.
func spotOf(m topology.Message) spot { return spot{m.Seq, m.Header.Get(schema.HeaderChain)} }

// landmark is a spot of one of the streams.
type landmark struct {
	stream string
	spot
}

// maxSpots bounds the places where a mark may stand; when there are too many, every other one goes.
const maxSpots = 256

// spots are the places that a partition has come by on both streams.
type spots struct {
	mu     sync.Mutex
	frame  spot   // of the last frame handled
	record spot   // the newest one that is known to be acknowledged
	ahead  spot   // the furthest frame that any capture was folded from
	frames []spot // where the mark may stand, rising
}

// begin starts at a mark.
func (s *spots) begin(frame, record spot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frame, s.record, s.ahead, s.frames = frame, record, spot{}, []spot{frame}
}

func (s *spots) noteFrame(at spot) {
	s.mu.Lock()
	s.frame = at
	s.mu.Unlock()
}

func (s *spots) noteRecord(at spot) {
	s.mu.Lock()
	if at.seq > s.record.seq {
		s.record = at
	}
	s.mu.Unlock()
}

// noteAhead takes note of a frame before it is folded: a capture may be read beyond the last frame handled.
func (s *spots) noteAhead(at spot) {
	s.mu.Lock()
	if at.seq > s.ahead.seq {
		s.ahead = at
	}
	s.mu.Unlock()
}

// landmarks are the messages that must stand if what was folded and stored is to stand.
func (s *spots) landmarks() []landmark {
	s.mu.Lock()
	defer s.mu.Unlock()
	return []landmark{{topology.Raw, s.frame}, {topology.Raw, s.ahead}, {topology.Events, s.record}}
}

// now gives the last frame handled and the newest record.
func (s *spots) now() (frame, record spot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.frame, s.record
}

// under gives the last place at or before a stream sequence, and forgets those before it.
func (s *spots) under(low uint64) spot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.frames); n == 0 || s.frames[n-1].seq < s.frame.seq {
		s.frames = append(s.frames, s.frame)
	}
	last := -1
	for i := range s.frames {
		if s.frames[i].seq <= low {
			last = i
		}
	}
	if last < 0 {
		return spot{}
	}
	s.frames = s.frames[last:]
	if n := len(s.frames); n > maxSpots {
		kept := s.frames[:1]
		for i := 2; i < n; i += 2 {
			kept = append(kept, s.frames[i])
		}
		s.frames = kept
	}
	return s.frames[0]
}
