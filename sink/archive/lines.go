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
	zip    *zstd.Decoder
	text   *bufio.Reader
	next   uint64 // number of the line that comes next
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

// unpack opens a part of a capture.
func (c *Contents) unpack(ctx context.Context, id schema.Identity, name string) (*lines, error) {
	in, err := c.store.Open(ctx, Folder(id)+name)
	if errors.Is(err, ErrNotFound) {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if err != nil {
		return nil, &storeError{err}
	}
	l := &lines{name: name, object: &remembering{ReadCloser: in}}
	l.zip, err = zstd.NewReader(l.object, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return nil, errors.Join(l.broken(err), in.Close())
	}
	l.text = bufio.NewReaderSize(l.zip, 64<<10)
	return l, nil
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

func (l *lines) close() {
	l.zip.Close()
	_ = l.object.Close() // it was only read
}
