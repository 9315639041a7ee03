package files

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// export reads an acp-devtools export: one JSON object whose messages are an array. Members that it
// does not need are read over.
type export struct {
	path    string
	count   *lineCounter
	d       *jsontext.Decoder
	inside  bool // the array
	message int  // its number in the array, from 1
	command []string
	seq     uint64 // of the message before
	err     error
}

func newExport(path string, in io.Reader) *export {
	count := &lineCounter{in: skipBOM(in), line: 1}
	return &export{path: path, count: count, d: lenient(count)}
}

// Next implements source.
func (e *export) Next() (schema.Frame, error) {
	if e.err != nil {
		return schema.Frame{}, e.err
	}
	f, err := e.next()
	if err == nil {
		return f, nil
	}
	if e.err = err; err != io.EOF { // a cut file's error is io.ErrUnexpectedEOF
		e.err = e.fail(err)
	}
	return schema.Frame{}, e.err
}

func (e *export) next() (schema.Frame, error) {
	if !e.inside {
		if err := e.enter(); err != nil {
			return schema.Frame{}, err
		}
	}
	if e.d.PeekKind() == ']' {
		if _, err := e.d.ReadToken(); err != nil {
			return schema.Frame{}, err
		}
		e.inside = false
		return schema.Frame{}, e.leave()
	}
	e.message++
	return e.readMessage()
}

// enter reads up to the first message.
func (e *export) enter() error {
	if token, err := e.d.ReadToken(); err != nil {
		return unexpected(err)
	} else if token.Kind() != '{' {
		return fmt.Errorf("want an object with messages, got %s", token.Kind())
	}
	for e.d.PeekKind() == '"' {
		name, err := e.d.ReadToken()
		if err != nil {
			return unexpected(err)
		}
		if name.String() != "messages" {
			if err := e.member(name.String()); err != nil {
				return unexpected(err)
			}
			continue
		}
		e.count.passTo(e.d.InputOffset())
		if token, err := e.d.ReadToken(); err != nil {
			return unexpected(err)
		} else if token.Kind() != '[' {
			return fmt.Errorf("messages: want an array, got %s", token.Kind())
		}
		e.inside = true
		return nil
	}
	if _, err := e.d.ReadToken(); err != nil {
		return unexpected(err)
	}
	return errors.New("want an object with messages")
}

// member reads over a member before the messages; of session it keeps the agent's command line.
func (e *export) member(name string) error {
	if name != "session" {
		return e.d.SkipValue()
	}
	value, err := e.d.ReadValue()
	if err != nil {
		return err
	}
	var tree jsontree.Reader
	if _, err := tree.Read(value); err != nil {
		return err
	}
	if command, ok := tree.Root().Get("agentCommand").Text(); ok {
		e.command = strings.Fields(command)
	}
	return nil
}

// Command implements source.
func (e *export) Command() []string { return e.command }

// leave reads from behind the messages to the end of the file; io.EOF if that is as it should be.
func (e *export) leave() error {
	for e.d.PeekKind() == '"' {
		name, err := e.d.ReadToken()
		if err != nil {
			return unexpected(err)
		}
		if name.String() == "messages" {
			e.count.passTo(e.d.InputOffset())
			return errors.New("the object has messages twice")
		}
		if err := e.d.SkipValue(); err != nil {
			return unexpected(err)
		}
	}
	if _, err := e.d.ReadToken(); err != nil {
		return unexpected(err)
	}
	token, err := e.d.ReadToken()
	if err == nil {
		e.count.passTo(e.d.InputOffset())
		return fmt.Errorf("want one object a file: %s stands behind it", token.Kind())
	}
	return err // io.EOF
}

// unexpected says that an end of the file inside the object is none.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (e *export) fail(err error) error {
	e.count.passToError(err)
	return fmt.Errorf("read acp-devtools export %s:%d: %w", e.path, e.count.line, err)
}
