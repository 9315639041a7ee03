package files

import (
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// lineCounter counts the lines of what a decoder has used of what it has read.
type lineCounter struct {
	in   io.Reader
	line int   // where the decoder stands, from 1
	read int64 // bytes read so far
	ends []int64
}

// Read implements io.Reader.
func (c *lineCounter) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	for i, b := range p[:n] {
		if b == '\n' {
			c.ends = append(c.ends, c.read+int64(i))
		}
	}
	c.read += int64(n)
	return n, err
}

// passTo moves to the byte at an offset.
func (c *lineCounter) passTo(offset int64) {
	n := 0
	for n < len(c.ends) && c.ends[n] < offset {
		n++
	}
	c.line += n
	c.ends = c.ends[n:]
}

// passToError moves to where a decoder met the error, if it is one of the decoder's.
func (c *lineCounter) passToError(err error) {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		c.passTo(syntax.ByteOffset)
	}
}
