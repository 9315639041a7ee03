// Package jsontree reads a JSON text once into a flat tree whose nodes are places in the text.
//
// It is the one JSON reader of the translators: nothing is copied or rewritten, so that a value can
// be kept as sent, and two readers of the same bytes cannot disagree. Invalid UTF-8, lone surrogates
// and duplicate keys are read and reported, not refused.
package jsontree

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// defaultDepth is how deep members and elements are indexed where a Reader does not say. Deeper
// values are read over as one piece: no rule of a protocol looks further down.
const defaultDepth = 6

// maxNesting is how deep objects and arrays may stand in each other. What is deeper is refused, as
// readers of what we write refuse it: encoding/json ends at 10,000.
const maxNesting = 9000

// ErrDeep marks a text that is nested too deep.
var ErrDeep = errors.New("nested too deep")

// Kinds of a value, as in jsontext.
const (
	Absent = jsontext.Kind(0)
	Null   = jsontext.Kind('n')
	String = jsontext.Kind('"')
	Number = jsontext.Kind('0')
	Object = jsontext.Kind('{')
	Array  = jsontext.Kind('[')
)

type node struct {
	kind      jsontext.Kind
	named     bool  // it is an object's member
	nameStart int32 // the quoted name
	nameEnd   int32
	start     int32
	end       int32
	after     int32 // index of the node behind this one and all below it
}

// Reader reads one text at a time and reuses its memory; the zero value is ready. Values that it
// gave are valid until its next Read. It is not safe for concurrent use.
type Reader struct {
	// Depth is how many levels below the root are indexed, so that Get and Children see them;
	// 0 means 6.
	Depth int

	data      []byte
	depth     int
	nodes     []node
	buffer    bytes.Buffer
	decoder   jsontext.Decoder
	duplicate bool
	lossy     bool
}

// Read reads the first JSON value of data, which must stay unchanged while values are in use. It
// returns the offset behind that value; with an error, the offset up to which the text was JSON. An
// error that wraps io.ErrUnexpectedEOF or io.EOF means that the value is cut off by the end of data.
// The time that it takes grows with what it has read, not with what follows.
func (r *Reader) Read(data []byte) (int, error) {
	end, err := r.read(data, false, false)
	if err != nil {
		end, err = r.lenient(data)
	} else {
		r.duplicate, r.lossy = false, false
	}
	if err == nil && tooDeep(data[:end]) {
		err = ErrDeep
	}
	if err != nil {
		r.nodes = r.nodes[:0]
		return end, fmt.Errorf("read JSON: %w", err)
	}
	return end, nil
}

// lenient reads what the strict reading refused. What the text needed tells what is odd about it.
func (r *Reader) lenient(data []byte) (end int, err error) {
	if end, err = r.read(data, true, true); err != nil {
		return end, err
	}
	data = data[:end]
	for _, allow := range []struct{ duplicate, lossy bool }{{duplicate: true}, {lossy: true}, {true, true}} {
		if end, err = r.read(data, allow.duplicate, allow.lossy); err == nil {
			r.duplicate, r.lossy = allow.duplicate, allow.lossy
			return end, nil
		}
	}
	return end, err
}

// tooDeep looks only where there are enough brackets.
func tooDeep(data []byte) bool {
	if len(data) <= maxNesting || bytes.Count(data, []byte{'{'})+bytes.Count(data, []byte{'['}) <= maxNesting {
		return false
	}
	depth, inString := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{', c == '[':
			if depth++; depth > maxNesting {
				return true
			}
		case c == '}', c == ']':
			depth--
		}
	}
	return false
}

func (r *Reader) read(data []byte, duplicate, lossy bool) (int, error) {
	r.data, r.nodes = data, r.nodes[:0]
	r.depth = r.Depth
	if r.depth <= 0 {
		r.depth = defaultDepth
	}
	r.buffer = *bytes.NewBuffer(data)
	r.decoder.Reset(&r.buffer, jsontext.AllowDuplicateNames(duplicate), jsontext.AllowInvalidUTF8(lossy))
	if err := r.value(0, node{}); err != nil {
		var syntax *jsontext.SyntacticError
		if errors.As(err, &syntax) {
			return int(min(syntax.ByteOffset, int64(len(data)))), err
		}
		return int(r.decoder.InputOffset()), err
	}
	return int(r.decoder.InputOffset()), nil
}

// value reads one value and what is below it; n carries its name.
func (r *Reader) value(level int, n node) error {
	at := len(r.nodes)
	n.kind = r.decoder.PeekKind()
	if (n.kind != Object && n.kind != Array) || level == r.depth {
		v, err := r.decoder.ReadValue()
		if err != nil {
			return err
		}
		n.end = int32(r.decoder.InputOffset())
		n.start = n.end - int32(len(v))
		n.after = int32(at) + 1
		r.nodes = append(r.nodes, n)
		return nil
	}
	if _, err := r.decoder.ReadToken(); err != nil {
		return err
	}
	n.start = int32(r.decoder.InputOffset()) - 1
	r.nodes = append(r.nodes, n)
	for {
		switch r.decoder.PeekKind() {
		case '}', ']':
			if _, err := r.decoder.ReadToken(); err != nil {
				return err
			}
			r.nodes[at].end = int32(r.decoder.InputOffset())
			r.nodes[at].after = int32(len(r.nodes))
			return nil
		}
		var child node
		if n.kind == Object {
			name, err := r.decoder.ReadValue()
			if err != nil {
				return err
			}
			child.named = true
			child.nameEnd = int32(r.decoder.InputOffset())
			child.nameStart = child.nameEnd - int32(len(name))
		}
		if err := r.value(level+1, child); err != nil {
			return err
		}
	}
}

// Root is the value read last; absent after an error.
func (r *Reader) Root() Value {
	if len(r.nodes) == 0 {
		return Value{}
	}
	return Value{r: r}
}

// DuplicateKey reports whether an object names a key twice.
func (r *Reader) DuplicateKey() bool { return r.duplicate }

// Lossy reports whether the text holds invalid UTF-8 or a lone surrogate: strings read U+FFFD there.
func (r *Reader) Lossy() bool { return r.lossy }

// Value is a place in the text. The zero value is absent, and so is everything below it.
type Value struct {
	r *Reader
	i int32
}

func (v Value) node() *node { return &v.r.nodes[v.i] }

// Kind is the value's kind; Absent if there is none.
func (v Value) Kind() jsontext.Kind {
	if v.r == nil {
		return Absent
	}
	return v.node().kind
}

// Present reports whether the value is there, null included.
func (v Value) Present() bool { return v.r != nil }

// Given reports whether the value is there and not null.
func (v Value) Given() bool { return v.r != nil && v.node().kind != Null }

// Raw is the value's text as sent, white space inside included; nil if absent.
func (v Value) Raw() []byte {
	if v.r == nil {
		return nil
	}
	n := v.node()
	return v.r.data[n.start:n.end:n.end]
}

// Get is the member of that name, the last one of duplicates; names are compared exactly.
func (v Value) Get(name string) Value {
	if v.Kind() != Object {
		return Value{}
	}
	found := Value{}
	for member := range v.Children() {
		if member.named(name) {
			found = member
			if !v.r.duplicate {
				break
			}
		}
	}
	return found
}

// Children gives an object's members or an array's elements in order.
func (v Value) Children() func(yield func(Value) bool) {
	return func(yield func(Value) bool) {
		if v.r == nil {
			return
		}
		for i, end := v.i+1, v.node().after; i < end; i = v.r.nodes[i].after {
			if !yield(Value{r: v.r, i: i}) {
				return
			}
		}
	}
}

// Name is a member's name; nil for an element. It is valid as long as the value, not to be changed.
func (v Value) Name() []byte {
	raw := v.NameRaw()
	if raw == nil {
		return nil
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	return unquote(raw)
}

// NameRaw is a member's name as sent, with its quotation marks; nil for an element.
func (v Value) NameRaw() []byte {
	if v.r == nil || !v.node().named {
		return nil
	}
	n := v.node()
	return v.r.data[n.nameStart:n.nameEnd:n.nameEnd]
}

func (v Value) named(name string) bool { return v.node().named && string(v.Name()) == name }

// Text is the value of a string; ok is false for anything else. Invalid UTF-8 and lone surrogates
// read as U+FFFD.
func (v Value) Text() (text string, ok bool) {
	b, ok := v.Bytes()
	return string(b), ok
}

// Bytes is Text without a copy where none is needed: valid as long as the value, not to be changed.
func (v Value) Bytes() (text []byte, ok bool) {
	if v.Kind() != String {
		return nil, false
	}
	raw := v.Raw()
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 && (!v.r.lossy || utf8.Valid(inner)) {
		return inner, true
	}
	return unquote(raw), true
}

// Is reports whether the value is this string.
func (v Value) Is(text string) bool {
	b, ok := v.Bytes()
	return ok && string(b) == text
}

// unquote reads a quoted string that was checked before: its only possible fault is bad UTF-8, for
// which AppendUnquote has already put U+FFFD when it says so.
func unquote(raw []byte) []byte {
	text, _ := jsontext.AppendUnquote(nil, raw)
	return text
}
