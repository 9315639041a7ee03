package publish

import (
	"context"
	"errors"
	"sync"

	"github.com/steno-io/steno/schema"
)

// ErrEnded marks a wait that the publisher's end cut short.
var ErrEnded = errors.New("publisher has ended")

// progress tells waiters how far a publisher is. Frames are counted from the open frame on.
type progress struct {
	mu      sync.Mutex
	changed chan struct{} // closed and made anew at each change
	read    uint64        // the journal is cut up to this offset
	cut     uint64        // frames cut by then
	stored  uint64        // frames stored
	ended   bool

	capture schema.Identity
	head    uint64 // number of the capture's last frame known
}

func (p *progress) change(f func(p *progress)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(p)
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// Stored waits until everything that stands before an offset of the journal is stored, but for a line
// that has not ended there (what the writer's end makes of that line, Run's end tells), and gives the
// capture and the number of its last frame. The error wraps ErrEnded if Run ends before, or is ctx's.
func (p *Publisher) Stored(ctx context.Context, offset uint64) (map[schema.Identity]uint64, error) {
	var target uint64 // frames cut when the offset was reached
	var at uint64     // where the cutter stood then
	for {
		p.progress.mu.Lock()
		if read := p.progress.read; read >= offset && (target == 0 || read == at) {
			// Counted again while the cutter stands there: the writer's end adds frames to what was read.
			target, at = max(p.progress.cut, 1), read
		}
		reached, ended := target > 0 && p.progress.stored >= target, p.progress.ended
		captures := p.progress.captures()
		if p.progress.changed == nil {
			p.progress.changed = make(chan struct{})
		}
		changed := p.progress.changed
		p.progress.mu.Unlock()
		switch {
		case reached:
			return captures, nil
		case ended:
			return captures, p.fail(ErrEnded)
		}
		select {
		case <-ctx.Done():
			return captures, ctx.Err()
		case <-changed:
		}
	}
}

// Captures is the capture and the number of its last frame, as far as the publisher knows.
func (p *Publisher) Captures() map[schema.Identity]uint64 {
	p.progress.mu.Lock()
	defer p.progress.mu.Unlock()
	return p.progress.captures()
}

func (p *progress) captures() map[schema.Identity]uint64 {
	if p.head == 0 {
		return nil
	}
	return map[schema.Identity]uint64{p.capture: p.head}
}
