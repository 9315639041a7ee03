package files

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/steno-io/steno/schema"
)

var utf8BOM = []byte("\xEF\xBB\xBF")

// lines reads plain JSON-RPC lines: one message a line. A leading > says that the client sent it, a
// leading < that the agent did; one space behind the mark is not part of the frame. Behind a mark any
// text is taken as it stands, as a tap takes it. Blank lines are skipped.
type lines struct {
	path  string
	in    *bufio.Reader
	line  int
	sides sides
}

func newLines(path string, in io.Reader) *lines {
	return &lines{path: path, in: skipBOM(in), sides: sides{open: map[request]int{}}}
}

// Next implements source. A line's number is its frame's seq, and the milliseconds of its time.
func (l *lines) Next() (schema.Frame, error) {
	for {
		l.line++
		data, err := l.in.ReadBytes('\n')
		end := schema.EndLF
		if errors.Is(err, io.EOF) && len(data) > 0 {
			end, err = schema.EndNone, nil // the file's last line is the wire's
		}
		if errors.Is(err, io.EOF) {
			return schema.Frame{}, io.EOF
		}
		if err != nil {
			return schema.Frame{}, l.fail(err)
		}
		data = bytes.TrimSuffix(data, []byte{'\n'})
		if len(bytes.Trim(data, " \t\r")) == 0 {
			continue
		}
		marked, data := cutMark(data)
		from, err := l.sides.of(marked, data)
		if err != nil {
			return schema.Frame{}, l.fail(err)
		}
		return schema.Frame{
			Seq: uint64(l.line), At: time.UnixMilli(int64(l.line)).UTC(), From: from, Type: schema.TypeData,
			Protocol: schema.ACP, End: end, Data: data,
		}, nil
	}
}

func (l *lines) fail(err error) error {
	return fmt.Errorf("read JSON-RPC lines %s:%d: %w", l.path, l.line, err)
}

// cutMark gives the side that a line's mark says, empty if it has none, and the frame's bytes.
func cutMark(line []byte) (schema.From, []byte) {
	switch {
	case line[0] == '>':
		return schema.FromClient, bytes.TrimPrefix(line[1:], []byte{' '})
	case line[0] == '<':
		return schema.FromAgent, bytes.TrimPrefix(line[1:], []byte{' '})
	}
	return "", line
}

func skipBOM(in io.Reader) *bufio.Reader {
	r := bufio.NewReaderSize(in, 64<<10)
	if head, _ := r.Peek(len(utf8BOM)); bytes.Equal(head, utf8BOM) { // a read error comes again with the next read
		_, _ = r.Discard(len(utf8BOM)) // they are in the buffer
	}
	return r
}

// Command implements source: the format does not say it.
func (*lines) Command() []string { return nil }
