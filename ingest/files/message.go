package files

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/steno-io/steno/schema"
)

// Directions of an acp-devtools message.
const (
	toAgent  = "editor-to-agent"
	toEditor = "agent-to-editor"
)

// lastMilli and firstMilli bound the times that have an RFC 3339 spelling.
const (
	firstMilli = -62167219200000
	lastMilli  = 253402300799999
)

// message holds what a message's members say; nil is absent.
type message struct {
	seq, timestamp, direction, raw jsontext.Value
}

func (e *export) readMessage() (schema.Frame, error) {
	var m message
	if token, err := e.d.ReadToken(); err != nil {
		return schema.Frame{}, e.explain(m, unexpected(err))
	} else if token.Kind() != '{' {
		return schema.Frame{}, e.explain(m, fmt.Errorf("want an object, got %s", token.Kind()))
	}
	e.count.passTo(e.d.InputOffset())
	for e.d.PeekKind() == '"' {
		name, err := e.d.ReadToken()
		if err != nil {
			return schema.Frame{}, e.explain(m, unexpected(err))
		}
		member := m.member(name.String())
		if member == nil {
			err = e.d.SkipValue()
		} else {
			var value jsontext.Value
			value, err = e.d.ReadValue()
			*member = value.Clone()
		}
		if err != nil {
			return schema.Frame{}, e.explain(m, unexpected(err))
		}
	}
	if _, err := e.d.ReadToken(); err != nil {
		return schema.Frame{}, e.explain(m, unexpected(err))
	}
	f, err := e.frame(m)
	if err != nil {
		return schema.Frame{}, e.explain(m, err)
	}
	return f, nil
}

func (m *message) member(name string) *jsontext.Value {
	switch name {
	case "seq":
		return &m.seq
	case "timestamp":
		return &m.timestamp
	case "direction":
		return &m.direction
	case "raw":
		return &m.raw
	}
	return nil
}

func (e *export) explain(m message, err error) error {
	if m.seq != nil {
		return fmt.Errorf("message %d (seq %s): %w", e.message, cut(m.seq), err)
	}
	return fmt.Errorf("message %d: %w", e.message, err)
}

// frame makes a frame of a message. Its bytes are those of raw: payload is the tool's reading of them.
func (e *export) frame(m message) (schema.Frame, error) {
	f := schema.Frame{Seq: uint64(e.message), Type: schema.TypeData, Protocol: schema.ACP, End: schema.EndLF}
	if m.seq != nil {
		seq, err := strconv.ParseUint(string(m.seq), 10, 64)
		if err != nil {
			return f, errors.New("seq: want an integer")
		}
		if e.message > 1 && seq <= e.seq {
			return f, fmt.Errorf("seq: want more than %d, that of the message before", e.seq)
		}
		e.seq = seq
	}
	milli, err := strconv.ParseInt(string(m.timestamp), 10, 64)
	if err != nil || milli < firstMilli || milli > lastMilli {
		return f, fmt.Errorf("timestamp: want whole milliseconds since 1970, before the year 10000, got %s", orNothing(m.timestamp))
	}
	f.At = time.UnixMilli(milli).UTC()
	switch direction, err := unquote(m.direction); {
	case err != nil:
		return f, fmt.Errorf("direction: %w", err)
	case string(direction) == toAgent:
		f.From = schema.FromClient
	case string(direction) == toEditor:
		f.From = schema.FromAgent
	default:
		return f, fmt.Errorf("direction: want %s or %s, got %q", toAgent, toEditor, direction)
	}
	raw, err := unquote(m.raw)
	if err != nil {
		return f, fmt.Errorf("raw: %w", err)
	}
	f.Data = bytes.TrimSuffix(raw, []byte{'\n'}) // the line's end is f.End
	return f, nil
}

// unquote gives the exact bytes of a JSON string; a string that has none is an error.
func unquote(v jsontext.Value) ([]byte, error) {
	if v.Kind() != '"' {
		return nil, fmt.Errorf("want a string, got %s", orNothing(v))
	}
	text, err := jsontext.AppendUnquote([]byte{}, v)
	if err != nil {
		return nil, fmt.Errorf("the string has invalid UTF-8 or a lone surrogate, so its bytes are lost: %w", err)
	}
	return text, nil
}

func orNothing(v jsontext.Value) []byte {
	if v == nil {
		return []byte("nothing")
	}
	return cut(v)
}
