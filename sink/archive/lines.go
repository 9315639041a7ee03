package archive

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/steno-io/steno/schema"
)

// errDamaged marks an object that is not there or is no part; the store itself answered.
var errDamaged = errors.New("it cannot be read")

// lines is a part that is being read, and where.
type lines struct {
	name   string
	object *remembering
	*unpacker
	next uint64 // number of the line that comes next
	last uint64 // number of the last line
}

// remembering tells what the store failed with from what the bytes are.
type remembering struct {
	io.ReadCloser
	err error
}

func (r *remembering) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// bounded gives an error in the place of more bytes than a part has: a small object can unpack to any number.
type bounded struct {
	io.Reader
	limit, left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("it unpacks to more than the %d bytes that its seal says", b.limit)
	}
	return n, err
}

// unpack opens a part of a capture.
func (c *Contents) unpack(ctx context.Context, id schema.Identity, p namedPart) (*lines, error) {
	in, err := c.store.Open(ctx, Folder(id)+p.name)
	if errors.Is(err, ErrNotFound) {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if err != nil {
		return nil, &storeError{err}
	}
	l := &lines{name: p.name, object: &remembering{ReadCloser: c.sums.hashed(Folder(id)+p.name, in)}}
	if l.unpacker, err = c.unpacker(l.object, p.bytes); err != nil {
		return nil, errors.Join(l.broken(err), l.object.Close())
	}
	return l, nil
}

// unpacker decompresses. Its window is large, and made once: a Contents uses them again.
type unpacker struct {
	zip  *zstd.Decoder
	text *bufio.Reader
	long []byte // a line longer than text's buffer
}

func (c *Contents) unpacker(in io.Reader, limit int64) (*unpacker, error) {
	c.mu.Lock()
	var u *unpacker
	if last := len(c.idle) - 1; last >= 0 {
		u, c.idle = c.idle[last], c.idle[:last]
	}
	c.mu.Unlock()
	if u == nil {
		zip, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		u = &unpacker{zip: zip, text: bufio.NewReaderSize(zip, 64<<10)}
	}
	if err := u.zip.Reset(in); err != nil {
		u.zip.Close()
		return nil, err
	}
	u.text.Reset(&bounded{u.zip, limit, limit})
	return u, nil
}

// broken makes an error of reading one of damage, unless the store failed.
func (l *lines) broken(err error) error {
	if l.object.err != nil {
		return &storeError{fmt.Errorf("read %s: %w", l.name, l.object.err)}
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%w: %w", errDamaged, err)
}

// pass passes over the lines before a number.
func (l *lines) pass(number uint64) error {
	for l.next < number {
		switch _, err := l.text.ReadSlice('\n'); {
		case err == nil:
			l.next++
		case !errors.Is(err, bufio.ErrBufferFull): // of a long line more is to come
			return l.broken(err)
		}
	}
	return nil
}

// line reads a line, without its line feed. It is good until the next one is read, or the part is let go of.
func (l *lines) line() ([]byte, error) {
	line, err := l.text.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		for l.long = l.long[:0]; errors.Is(err, bufio.ErrBufferFull); line, err = l.text.ReadSlice('\n') {
			l.long = append(l.long, line...)
		}
		l.long = append(l.long, line...)
		line = l.long
	}
	if err != nil {
		return nil, l.broken(err)
	}
	l.next++
	return line[:len(line)-1], nil
}

// close lets go of a part.
func (c *Contents) close(l *lines) {
	if err := l.zip.Reset(nil); err == nil {
		c.mu.Lock()
		c.idle = append(c.idle, l.unpacker)
		c.mu.Unlock()
	}
	_ = l.object.Close() // it was only read
}
