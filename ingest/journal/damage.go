package journal

import (
	"errors"
	"fmt"
	"io"
)

// judge looks at bytes at off that are no entry: with a whole entry somewhere behind them they are
// damage, as a writer never goes on behind half an entry; without one they are a tail that is torn
// or still being written.
func (r *Reader) judge() error {
	next, err := r.wholeAfter(r.off + 1)
	if err != nil || next == 0 {
		return err
	}
	// Something was written behind: what stands at off is final now.
	if _, err := r.peek(); !errors.Is(err, errBad) {
		return nil
	}
	return fmt.Errorf("read journal %s: the entry at offset %d has a wrong checksum, the next whole one stands at %d: %w",
		r.path, r.off, next, ErrDamaged)
}

// peek decodes the entry at off afresh without taking it.
func (r *Reader) peek() (Entry, error) {
	off := r.off
	r.win = nil
	e, err := r.decode()
	r.off, r.win = off, nil
	return e, err
}

// wholeAfter finds the first whole entry that begins at from or behind it; 0 if there is none.
func (r *Reader) wholeAfter(from int64) (int64, error) {
	info, err := r.file.Stat()
	if err != nil {
		return 0, fmt.Errorf("search journal %s: %w", r.path, err)
	}
	buf := make([]byte, max(0, min(info.Size()-from+1, 2*(entryHead+MaxData))))
	for {
		n, err := r.file.ReadAt(buf, from)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("search journal %s from %d: %w", r.path, from, err)
		}
		atEnd := err != nil
		for i := 0; i+entryHead <= n; i++ {
			if !atEnd && i > n/2 { // an entry beginning here may reach behind buf
				break
			}
			if _, _, err := decodeEntry(buf[i:n]); err == nil {
				return from + int64(i), nil
			}
		}
		if atEnd {
			return 0, nil
		}
		from += int64(n / 2)
	}
}
