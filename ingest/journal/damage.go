package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/steno-io/steno/schema"
)

// reasonDamaged is the reason of the gap that stands for damage.
const reasonDamaged = "journal damaged"

// judge looks at bytes at off that are no entry: with a whole entry somewhere behind them they are
// damage, as a writer never goes on behind half an entry; without one they are a tail that is torn
// or still being written. Of damage it gives the entry that stands for it, and goes behind it.
func (r *Reader) judge(alive bool) (e Entry, damaged bool, err error) {
	next, err := r.wholeAfter(r.off+r.claimed(), alive)
	if err != nil || next == 0 {
		return Entry{}, false, err
	}
	// Something was written behind: what stands at off is final now.
	if err := r.peek(r.off); !errors.Is(err, errBad) {
		return Entry{}, false, nil
	}
	lost := uint64(next - r.off)
	payload, err := json.Marshal(schema.GapInfo{Reason: reasonDamaged, Bytes: lost})
	if err != nil {
		return Entry{}, false, fmt.Errorf("encode gap for damage at %d of journal %s: %w", r.off, r.path, err)
	}
	e = Entry{
		From: schema.FromControl, Type: schema.TypeGap, At: r.last.UTC(), Data: payload, Offset: uint64(r.off), Lost: lost,
	}
	r.off, r.win = next, nil
	if r.hurt != nil {
		r.hurt(Notice{What: Damaged, Path: r.path, Err: fmt.Errorf(
			"%w: the entry at offset %d has a wrong checksum, reading goes on with the next whole one at %d", ErrDamaged, e.Offset, next)})
	}
	return e, true, nil
}

// claimed is how many bytes at off belong to the damaged entry for certain: all that it says, if the
// checksum of its first part is right and another entry, or the file's end, stands where it ends. So
// what it carries is not taken for entries of this journal.
func (r *Reader) claimed() int64 {
	r.win = nil
	defer func() { r.win = nil }()
	if err := r.fill(entryHead); err != nil { // the search meets it again
		return 1
	}
	_, n, _ := decodeEntry(r.win) // it is known to be no whole entry
	if n == 0 {
		return 1
	}
	if err := r.peek(r.off + int64(n)); err != nil && !errors.Is(err, errShort) {
		return 1
	}
	return int64(n)
}

// peek decodes what stands at an offset afresh, without taking it, and says what is wrong with it.
func (r *Reader) peek(at int64) error {
	off, last := r.off, r.last
	r.off, r.win = at, nil
	_, err := r.decode()
	r.off, r.last, r.win = off, last, nil
	return err
}

// wholeAfter finds the first whole entry that begins at from or behind it; 0 if there is none. One
// that is older than the last one given is none of this journal: times never run back in it. With
// the writer alive, one that is still being written ends the search: what it carries may look whole.
func (r *Reader) wholeAfter(from int64, alive bool) (int64, error) {
	info, err := r.file.Stat()
	if err != nil {
		return 0, fmt.Errorf("search journal %s: %w", r.path, err)
	}
	if from >= info.Size() {
		return 0, nil
	}
	buf := make([]byte, min(info.Size()-from+1, 2*(entryHead+MaxData)))
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
			e, _, err := decodeEntry(buf[i:n])
			if err == nil && !e.At.Before(r.last) {
				return from + int64(i), nil
			}
			if alive && errors.Is(err, errShort) {
				return 0, nil
			}
		}
		if atEnd {
			return 0, nil
		}
		from += int64(n / 2)
	}
}
