package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/fsnotify/fsnotify"
)

const window = 64 << 10 // bytes read at once

// Reader gives a journal's entries in order and follows a living writer. It never writes to the
// file. It is not safe for concurrent use.
type Reader struct {
	path  string
	file  *os.File
	head  Head
	start int64
	off   int64     // behind the last entry given
	last  time.Time // of the last entry given; before the first, of the head
	win   []byte    // bytes of the file from off on; dropped where they hold no whole entry
	buf   []byte    // what win is cut from
	torn  int64
	hurt  func(Notice) // hears of damage; nil: nobody does

	bell  <-chan struct{}   // rung by a Watch
	leave func()            // gives the bell back
	own   *fsnotify.Watcher // where there is no Watch; made at the first wait
	deaf  bool              // there is no notification: look again by the clock
}

// Open opens a journal for reading, from its first entry. A file without a whole head wraps
// ErrDamaged: a living writer's journal always has one.
func Open(path string) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	r := &Reader{path: path, file: f}
	if err := r.readHead(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

func (r *Reader) readHead() error {
	for need := headPrefix; ; {
		if err := r.fill(need); err != nil {
			return err
		}
		h, n, err := decodeHead(r.win)
		switch {
		case err == nil:
			r.head, r.last, r.start, r.off, r.win = h, h.CreatedAt, int64(n), int64(n), r.win[n:]
			return nil
		case !errors.Is(err, errShort):
			return fmt.Errorf("open journal %s: %w", r.path, err)
		case n <= need: // it was given all there is
			return fmt.Errorf("open journal %s: %w: %d bytes, its head is cut off", r.path, ErrDamaged, len(r.win))
		}
		need = n
	}
}

// Report sets who hears of damage: once for each damaged place, when Next gives the entry that stands
// for it.
func (r *Reader) Report(f func(Notice)) { r.hurt = f }

// Head is the journal's head.
func (r *Reader) Head() Head { return r.head }

// Start is the offset of the head's end. Every byte of data has a greater one.
func (r *Reader) Start() uint64 { return uint64(r.start) }

// End is the offset behind the last entry given.
func (r *Reader) End() uint64 { return uint64(r.off) }

// Torn is the number of bytes behind End that are no whole entry, once Next has returned io.EOF:
// what a writer was killed over before it passed it on, or what a machine's end took back.
func (r *Reader) Torn() uint64 { return uint64(r.torn) }

// Next gives the next entry; its Data are valid until the next call. It waits while the writer
// lives, until ctx ends. With the writer gone and every whole entry given it returns io.EOF, again
// and again. Damage with a whole entry behind it is given as one gap entry with Lost, and then what
// stands behind; a later reader gives the same.
func (r *Reader) Next(ctx context.Context) (Entry, error) {
	for {
		e, err := r.read()
		if err == nil || !unfinished(err) {
			return e, err
		}
		alive, err := writerLives(r.file)
		if err != nil {
			return Entry{}, err
		}
		// Again: the writer may have written and gone since, or the notification was only now set up.
		ready := !alive || r.listen()
		e, err = r.read()
		if err == nil || !unfinished(err) {
			return e, err
		}
		if errors.Is(err, errBad) {
			if e, damaged, err := r.judge(alive); damaged || err != nil {
				return e, err
			}
		}
		if !alive {
			return Entry{}, r.finish()
		}
		if !ready {
			continue
		}
		if err := r.wait(ctx); err != nil {
			return Entry{}, fmt.Errorf("follow journal %s at %d: %w", r.path, r.off, err)
		}
	}
}

func unfinished(err error) bool { return errors.Is(err, errShort) || errors.Is(err, errBad) }

// finish measures the torn tail.
func (r *Reader) finish() error {
	info, err := r.file.Stat()
	if err != nil {
		return fmt.Errorf("measure journal %s: %w", r.path, err)
	}
	r.torn = info.Size() - r.off
	return io.EOF
}

// read decodes the entry at off. A writer cuts back what it could not write whole, so bytes seen
// before are trusted only when they make a whole entry; otherwise they are read again once.
func (r *Reader) read() (Entry, error) {
	fresh := len(r.win) == 0
	e, err := r.decode()
	if err != nil && unfinished(err) && !fresh {
		r.win = nil
		e, err = r.decode()
	}
	if err != nil {
		r.win = nil
	}
	return e, err
}

func (r *Reader) decode() (Entry, error) {
	e, n, err := decodeEntry(r.win)
	for need := 0; errors.Is(err, errShort) && n > need; {
		need = n
		if err := r.fill(need); err != nil {
			return Entry{}, err
		}
		e, n, err = decodeEntry(r.win)
	}
	if err != nil {
		return Entry{}, err
	}
	e.Offset = uint64(r.off) + uint64(n-len(e.Data))
	r.off, r.last = r.off+int64(n), e.At
	r.win = r.win[n:]
	return e, nil
}

// fill reads on until win has n bytes or the file has no more.
func (r *Reader) fill(n int) error {
	if len(r.win) >= n {
		return nil
	}
	if cap(r.buf) < n {
		r.buf = make([]byte, max(n, window))
	}
	have := copy(r.buf[:cap(r.buf)], r.win)
	m, err := r.file.ReadAt(r.buf[have:cap(r.buf)], r.off+int64(have))
	r.win = r.buf[:have+m]
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read journal %s at %d: %w", r.path, r.off+int64(have), err)
	}
	return nil
}

// Close closes the file. Entries given are no longer valid.
func (r *Reader) Close() error {
	var err error
	if r.leave != nil {
		r.leave()
	}
	if r.own != nil {
		err = r.own.Close()
	}
	return errors.Join(err, r.file.Close())
}
