package tap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/steno-io/steno/schema"
)

const chunk = 64 << 10 // bytes read at once; a pipe of the default size holds as many

// pump moves one direction's bytes: read, keep, pass on. What a peer saw is kept, as it is kept
// first; what it keeps may not have reached a peer that went away.
type pump struct {
	ctx           context.Context // of appends
	from          schema.From
	src, dst      *os.File
	dstOwn        bool // dst is not shared with other processes, so its mode may be changed
	closeDst      bool // when src has ended
	drains        bool // when asked to finish it passes on what src holds; otherwise it ends at once
	finish, abort bell
	watch         func(schema.From, []byte) // nil: nobody does
	inlet         *Inlet                    // beside src; nil: there is none
}

// run ends at the end of src, when dst's reader is gone, or when asked to. Both are closed then, so
// that each side sees that the other has gone.
func (p *pump) run(journal Journal) error {
	defer func() {
		_ = p.src.Close() // nothing can be lost by closing what is only read
		if p.closeDst {
			_ = p.dst.Close() // a pipe's bytes have been taken over by write already
		}
	}()
	src, err := newEnd(p.src, false)
	if err != nil {
		return fmt.Errorf("read from %s: %w", p.from, err)
	}
	dst, err := newEnd(p.dst, p.dstOwn)
	if err != nil {
		return fmt.Errorf("pass on from %s: %w", p.from, err)
	}
	if p.inlet != nil {
		input, shut := context.WithCancel(p.ctx)
		p.inlet.begin(func(n *insertion) error { return p.insert(input, dst, journal, n) })
		defer p.inlet.end()
		defer shut() // a line that waits for room in the journal does not hold the end up
	}
	buf := make([]byte, chunk)
	left := -1 // bytes still to pass on once asked to finish
	for left != 0 {
		finish := p.finish
		if left > 0 {
			finish = noBell
		}
		woken, err := src.await(unix.POLLIN, p.abort, finish)
		if err != nil {
			return fmt.Errorf("read from %s: %w", p.from, err)
		}
		if woken == byAbort || woken == byFinish && !p.drains {
			return nil
		}
		if woken == byFinish {
			if left, err = src.pending(); err != nil {
				return fmt.Errorf("drain %s: %w", p.from, err)
			}
			continue
		}
		n, err := src.read(buf)
		if errors.Is(err, unix.EAGAIN) {
			continue
		}
		if goneAway(err) || err == nil && n == 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read from %s: %w", p.from, err)
		}
		if left > 0 {
			left -= min(n, left)
		}
		if over, err := p.move(dst, journal, buf[:n]); over || err != nil {
			return err
		}
	}
	return nil
}

// move keeps and passes on what was read. Others' lines go where one of the source's ends.
func (p *pump) move(dst end, journal Journal, b []byte) (over bool, err error) {
	if p.inlet == nil {
		return p.forward(dst, journal, b)
	}
	for len(b) > 0 && !over && err == nil {
		part := p.inlet.take(b)
		over, err = p.forward(dst, journal, part)
		// Behind a part that was not passed on whole nothing may follow.
		p.inlet.give(!over && err == nil && part[len(part)-1] == '\n')
		b = b[len(part):]
	}
	return over, err
}

func (p *pump) forward(dst end, journal Journal, b []byte) (over bool, err error) {
	if journal != nil {
		if err := journal.Append(p.ctx, p.from, time.Now(), b); err != nil {
			return true, fmt.Errorf("record %d bytes from %s: %w", len(b), p.from, err)
		}
	}
	if p.watch != nil {
		p.watch(p.from, b)
	}
	return p.passOn(dst, b)
}

// passOn writes all of b and reports whether the pump is over: its reader is gone, or it was asked to end.
func (p *pump) passOn(dst end, b []byte) (over bool, err error) {
	finish := p.finish
	if p.drains {
		finish = noBell
	}
	for len(b) > 0 {
		woken, err := dst.await(unix.POLLOUT, p.abort, finish)
		if err != nil {
			return true, fmt.Errorf("pass on from %s: %w", p.from, err)
		}
		if woken != byFile {
			return true, nil
		}
		n, err := dst.write(b)
		if errors.Is(err, unix.EAGAIN) {
			continue
		}
		if goneAway(err) {
			return true, nil
		}
		if err != nil {
			return true, fmt.Errorf("pass on %d bytes from %s: %w", len(b), p.from, err)
		}
		b = b[n:]
	}
	return false, nil
}

// goneAway reports whether an error only says that the peer or its terminal is no longer there.
func goneAway(err error) bool {
	return errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.EIO)
}
