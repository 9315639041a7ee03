package files

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// format is what a file is.
type format int

const (
	captureFile format = iota
	rpcLines
	devtools
)

const expected = `want a steno capture file ({"from":"client","text":"…"} a line), JSON-RPC lines ({"jsonrpc":"2.0",…} a line) or an acp-devtools export ({"messages":[…]})`

// lenient reads whatever is JSON: what is odd in it is for the frame's reader to say.
func lenient(in io.Reader) *jsontext.Decoder {
	return jsontext.NewDecoder(in, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// detect tells the format by the first line's mark, or by the first member of the first object that
// only one of the formats has.
func detect(path string, in io.Reader) (format, error) {
	r := skipBOM(in)
	line, err := skipBlank(r)
	if errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("read %s: %w", path, ErrEmpty)
	}
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", path, err)
	}
	count := &lineCounter{in: r, line: line}
	found, err := detectIn(r, count)
	if err != nil {
		return 0, fmt.Errorf("read %s:%d: %w", path, count.line, err)
	}
	return found, nil
}

func detectIn(r *bufio.Reader, count *lineCounter) (format, error) {
	head, err := r.Peek(64)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	switch head[0] {
	case '{':
		return detectObject(count)
	case '[':
		return rpcLines, nil // a batch
	case '>', '<':
		data := bytes.TrimLeft(head[1:], " \t")
		if len(data) > 0 && (data[0] == '{' || data[0] == '[') {
			return rpcLines, nil
		}
	}
	return 0, fmt.Errorf("%s; the line begins with %q", expected, cut(head))
}

func detectObject(count *lineCounter) (format, error) {
	d := lenient(count)
	fail := func(err error) (format, error) {
		count.passToError(err)
		return 0, fmt.Errorf("%s: %w", expected, err)
	}
	if _, err := d.ReadToken(); err != nil {
		return fail(err)
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return fail(err)
		}
		switch name.String() {
		case "seq", "at", "from", "text", "b64", "end", "exchange", "no", "chan", "http", "protocol":
			return captureFile, nil
		case "jsonrpc", "id", "method", "params", "result", "error":
			return rpcLines, nil
		case "messages":
			if d.PeekKind() == '[' {
				return devtools, nil
			}
		}
		if err := d.SkipValue(); err != nil {
			return fail(err)
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return fail(err)
	}
	return 0, fmt.Errorf("%s; the object has no member that only one of them has", expected)
}

// skipBlank reads over white space and gives the number of the line that it ends in.
func skipBlank(r *bufio.Reader) (int, error) {
	for line := 1; ; {
		c, err := r.ReadByte()
		if err != nil {
			return line, err
		}
		if c == '\n' {
			line++
		}
		if !bytes.ContainsRune([]byte(" \t\r\n"), rune(c)) {
			return line, r.UnreadByte()
		}
	}
}
