package acp

import (
	"bytes"
	"errors"
	"io"

	"github.com/steno-io/steno/schema/wire/jsontree"
)

// IsRPC reports whether a value is a JSON-RPC object. The jsonrpc member is not asked for: real clients
// leave it out.
func IsRPC(v jsontree.Value) bool {
	if v.Get("method").Kind() == jsontree.String {
		return true
	}
	return !v.Get("method").Present() && v.Get("id").Present() && (v.Get("result").Present() || v.Get("error").Present())
}

// Objects finds the JSON-RPC objects of a line that is not one JSON value: where each begins and ends, in
// bytes; nil if there are none. A value that the line's end cuts off is torn: what is inside it is no
// message. Every byte is read at most twice. What the reader held is gone.
func Objects(reader *jsontree.Reader, line []byte) (objects [][2]int) {
	for at := 0; ; {
		brace := bytes.IndexByte(line[at:], '{')
		if brace < 0 {
			return objects
		}
		at += brace
		end, err := reader.Read(line[at:])
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil || !IsRPC(reader.Root()) {
			at += max(end, 1)
			continue
		}
		objects = append(objects, [2]int{at, at + end})
		at += end
	}
}
