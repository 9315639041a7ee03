package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/capturefile"
)

// capture reads a steno capture file.
type capture struct {
	path string
	in   *capturefile.Reader
}

func newCapture(path string, in io.Reader) *capture {
	return &capture{path: path, in: capturefile.NewReader(path, in)}
}

// Next implements source. What an append once gave the frame is left behind: the next append gives
// its own.
func (c *capture) Next() (schema.Frame, error) {
	f, err := c.in.Next()
	if err != nil {
		return schema.Frame{}, err // it names file and line, or is io.EOF
	}
	if f.Blob != "" && f.Data == nil {
		return schema.Frame{}, c.fail("its bytes are in blob %s, which the file does not hold: export the frames with their bytes", f.Blob)
	}
	if err := placed(&f); err != nil {
		return schema.Frame{}, c.fail("%w", err)
	}
	if f.Type == schema.TypeClose {
		var info schema.CloseInfo
		if err := json.Unmarshal(f.Data, &info); err != nil {
			return schema.Frame{}, c.fail("the payload of a close frame: %w", err)
		}
	}
	f.Salt, f.Blob, f.Writer, f.Chain = "", "", schema.Writer{}, ""
	return f, nil
}

// placed checks that a frame has a place in the conversation that its protocol knows. A frame of A2A
// that says neither exchange nor chan is one of the only exchange there is.
func placed(f *schema.Frame) error {
	switch {
	case f.Type != schema.TypeData:
	case f.Protocol == schema.ACP && (f.Exchange != "" || f.Chan != "" || f.No != 0 || f.HTTP != nil):
		return errors.New(`exchange, no, chan and http are members of A2A frames, and the file is of ACP: want "protocol":"a2a" on its first line`)
	case f.Protocol == schema.A2A && f.From == schema.FromStderr:
		return errors.New(`from "stderr": want client or agent: A2A has no stderr`)
	case f.Protocol == schema.A2A && f.Chan != "" && f.Exchange == "":
		return fmt.Errorf(`member "exchange" is missing: want the id of the HTTP exchange that this %s belongs to`, f.Chan)
	}
	return nil
}

func (c *capture) fail(format string, args ...any) error {
	return fmt.Errorf("read capture file %s:%d: %w", c.path, c.in.Line(), fmt.Errorf(format, args...))
}

// Command implements source: the format does not say it.
func (*capture) Command() []string { return nil }
