package capturefile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

var utf8BOM = []byte("\xEF\xBB\xBF")

// Reader reads the frames of a capture file in order. It is not safe for concurrent use.
type Reader struct {
	name     string
	in       *bufio.Reader
	long     []byte // a line longer than the buffer
	line     int
	frames   int
	last     uint64 // seq of the last frame
	protocol schema.Protocol
	verbatim bool // payloads are not looked at
	tree     jsontree.Reader
	err      error

	// of lines as an archive has them
	text     []byte // a frame's, while it is read
	room     []byte // for the bytes of frames to come
	made     int    // bytes of room, the last time
	exchange string // of the frame before
	journal  string // that stored the frame before
}

// NewReader makes a Reader of a file's bytes. Errors name the file by name.
func NewReader(name string, in io.Reader) *Reader {
	return &Reader{name: name, in: bufio.NewReaderSize(in, 64<<10)}
}

// NewArchiveReader makes a Reader of an archive's part, as AppendArchiveLine writes its lines. It does not
// look at what control frames say: an archive holds what the stream held, whoever wrote it.
func NewArchiveReader(name string, in io.Reader) *Reader {
	r := NewReader(name, in)
	r.verbatim = true
	return r
}

// Next gives the next frame; io.EOF after the last. The frame's bytes are its own. Frames given before
// an error are good, and the error is given again by every later call.
func (r *Reader) Next() (f schema.Frame, err error) {
	err = r.Read(&f)
	return f, err
}

// Read is Next into a frame that the caller has; behind an error it is empty.
func (r *Reader) Read(f *schema.Frame) error {
	if r.err == nil {
		if r.err = r.read(f); r.err == nil {
			return nil
		}
		if !errors.Is(r.err, io.EOF) {
			r.err = fmt.Errorf("read capture file %s:%d: %w", r.name, r.line, r.err)
		}
	}
	*f = schema.Frame{}
	return r.err
}

// Line is the number, from 1, of the line that Next read last.
func (r *Reader) Line() int { return r.line }

func (r *Reader) read(f *schema.Frame) error {
	for {
		line, err := r.readLine()
		if err != nil {
			return err
		}
		if line = bytes.Trim(line, " \t\r\n"); len(line) == 0 {
			continue
		}
		*f = schema.Frame{}
		if !r.verbatim || !r.written(line, f) {
			if *f, err = r.decode(line); err != nil {
				return err
			}
		}
		return r.follow(f)
	}
}

// readLine reads one line of any length, valid until the next call; io.EOF at the end of the file.
// It looks at a line's first byte before it reads a long one to its end, so that a file of another
// kind is refused at once.
func (r *Reader) readLine() ([]byte, error) {
	r.line++
	r.long = r.long[:0]
	if r.line == 1 {
		if head, _ := r.in.Peek(len(utf8BOM)); bytes.Equal(head, utf8BOM) { // a read error comes again below
			_, _ = r.in.Discard(len(utf8BOM)) // they are in the buffer
		}
	}
	for {
		part, err := r.in.ReadSlice('\n')
		switch {
		case err == nil && len(r.long) == 0:
			return part, nil
		case errors.Is(err, bufio.ErrBufferFull):
			if head := bytes.TrimLeft(part, " \t\r"); len(r.long) == 0 && len(head) > 0 && head[0] != '{' {
				return nil, notObject(head)
			}
		case errors.Is(err, io.EOF) && len(r.long)+len(part) == 0:
			return nil, io.EOF
		case err != nil && !errors.Is(err, io.EOF):
			return nil, fmt.Errorf("read line: %w", err)
		}
		r.long = append(r.long, part...)
		if err == nil || errors.Is(err, io.EOF) {
			return r.long, nil
		}
	}
}

// follow checks that the frame continues the file.
func (r *Reader) follow(f *schema.Frame) error {
	if r.frames == 0 {
		r.protocol = f.Protocol
	}
	if f.Protocol != r.protocol {
		return fmt.Errorf("protocol %q, but the file began with %q: one file is one capture of one protocol", f.Protocol, r.protocol)
	}
	r.frames++
	r.last = f.Seq
	return nil
}

// notObject is the error of a line that is no frame at all.
func notObject(head []byte) error {
	if len(head) > 20 {
		head = head[:20]
	}
	return fmt.Errorf(`want a frame as a JSON object, such as {"from":"client","text":"…"}; the line begins with %q`, head)
}
