package export

import (
	"bufio"
	"errors"
	"io"
	"iter"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/capturefile"
	"github.com/steno-io/steno/sink"
)

// lineBuffer is how much is written at a time, in bytes.
const lineBuffer = 64 << 10

// JSONL writes stored events byte for byte, one a line, and gives how many. told is told after each.
func JSONL(w io.Writer, events iter.Seq2[sink.Event, error], told func(n uint64)) (n uint64, err error) {
	out := bufio.NewWriterSize(w, lineBuffer)
	for e, err := range events {
		if err == nil {
			_, err = out.Write(append(e.Bytes, '\n'))
		}
		if err != nil {
			return n, errors.Join(err, out.Flush())
		}
		n++
		told(n)
	}
	return n, out.Flush()
}

// Frames writes a capture's frames as a capture file, and gives how many. told is told after each. A frame
// without its bytes is an error.
func Frames(w io.Writer, protocol schema.Protocol, frames iter.Seq2[schema.Frame, error], told func(n uint64)) (n uint64, err error) {
	out := bufio.NewWriterSize(w, lineBuffer)
	var line []byte
	for f, err := range frames {
		if err == nil {
			if n == 0 {
				f.Protocol = protocol // the first line says it for the file
			}
			line, err = capturefile.AppendLine(line[:0], &f)
		}
		if err == nil {
			_, err = out.Write(line)
		}
		if err != nil {
			return n, errors.Join(err, out.Flush())
		}
		n++
		told(n)
	}
	return n, out.Flush()
}
