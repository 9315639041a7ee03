package trace

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/steno-io/steno/schema"
)

// value is a JSON value and where it stands in a frame.
type value struct {
	from, to int
	path     string
	raw      []byte
	text     *string // of a string
	spent    bool
}

// maxDepth bounds how deep values are looked at.
const maxDepth = 64

// read gives the values of a frame, the outer ones first. What is no JSON ends them.
func read(data []byte) (out []value) {
	d := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		raw, err := d.ReadValue()
		if err != nil {
			return out
		}
		end := int(d.InputOffset())
		out = append(out, value{from: end - len(raw), to: end}.all(data, 0)...)
	}
}

// all gives the value and those in it.
func (v value) all(data []byte, depth int) []value {
	v.raw = data[v.from:v.to]
	if v.raw[0] == '"' {
		text := unquoted(v.raw)
		v.text = &text
	}
	out := []value{v}
	if depth == maxDepth || v.raw[0] != '{' && v.raw[0] != '[' {
		return out
	}
	for _, m := range v.members() {
		out = append(out, m.value.all(data, depth+1)...)
	}
	return out
}

// member is a value in an object or an array.
type member struct {
	name []byte // quoted; nil in an array
	value
}

// members gives the values of an object or array, in order.
func (v value) members() (out []member) {
	d := jsontext.NewDecoder(bytes.NewReader(v.raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	for place := 0; ; place++ {
		var m member
		label := strconv.Itoa(place)
		if kind := d.PeekKind(); kind == '}' || kind == ']' || kind == 0 {
			return out
		}
		if v.raw[0] == '{' {
			name, err := d.ReadValue()
			if err != nil {
				return out
			}
			m.name = bytes.Clone(name)
			label = unquoted(name)
		}
		raw, err := d.ReadValue()
		if err != nil {
			return out
		}
		end := v.from + int(d.InputOffset())
		m.value = value{from: end - len(raw), to: end, path: label}
		if v.path != "" {
			m.path = v.path + "." + label
		}
		out = append(out, m)
	}
}

func (v *value) compact() []byte { return schema.AppendCompact(nil, v.raw) }

// without is an object's compact text without the members of a name.
func (v *value) without(name string) []byte {
	dst := []byte{'{'}
	for _, m := range v.members() {
		if unquoted(m.name) == name {
			continue
		}
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, m.name...), ':')
		dst = schema.AppendCompact(dst, v.raw[m.from-v.from:m.to-v.from])
	}
	return append(dst, '}')
}

func unquoted(raw []byte) string {
	text, _ := jsontext.AppendUnquote(nil, raw) // it was read as JSON; for what is no text U+FFFD stands
	return string(text)
}

// rawLength is how many bytes of a string's JSON, without its quotation marks, say its first bytes.
func rawLength(raw []byte, said int) int {
	at := 0
	for n := 0; n < said && at < len(raw); {
		size := 1
		switch {
		case raw[at] != '\\':
			_, size = utf8.DecodeRune(raw[at:])
		case at+1 < len(raw) && raw[at+1] == 'u':
			size = 6
			if at+8 < len(raw) && isHighSurrogate(raw[at+2:at+6]) && raw[at+6] == '\\' && raw[at+7] == 'u' {
				size = 12
			}
		default:
			size = 2
		}
		size = min(size, len(raw)-at)
		n += len(unquoted(append(append([]byte{'"'}, raw[at:at+size]...), '"')))
		at += size
	}
	return at
}

func isHighSurrogate(digits []byte) bool {
	n, err := strconv.ParseUint(string(digits), 16, 32)
	return err == nil && n >= 0xD800 && n < 0xDC00
}
