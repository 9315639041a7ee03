package schema

import (
	"bytes"
	"encoding/hex"
	"strconv"

	"github.com/google/uuid"
)

// JSON is one JSON value, as sent, without insignificant white space. Key order, duplicate keys and
// the text of numbers are the sender's. Empty means absent.
type JSON []byte

// MarshalJSON gives the value as it is.
func (j JSON) MarshalJSON() ([]byte, error) {
	if len(j) == 0 {
		return []byte("null"), nil
	}
	return j, nil
}

// UnmarshalJSON keeps the value without insignificant white space.
func (j *JSON) UnmarshalJSON(data []byte) error {
	*j = AppendCompact(nil, data)
	return nil
}

// AppendCompact appends the JSON value src without insignificant white space. src must be valid
// JSON; nothing else about it changes.
func AppendCompact(dst, src []byte) []byte {
	start := 0
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '"':
			i = stringEnd(src, i+1)
		case ' ', '\t', '\n', '\r':
			dst = append(dst, src[start:i]...)
			start = i + 1
		}
	}
	return append(dst, src[start:]...)
}

// stringEnd is where the string ends, with its quotation mark, whose text begins at from; behind src if it does not.
func stringEnd(src []byte, from int) int {
	for i := from; ; i++ {
		n := bytes.IndexByte(src[i:], '"')
		if n < 0 {
			return len(src)
		}
		i += n
		back := i
		for back > from && src[back-1] == '\\' {
			back--
		}
		if (i-back)%2 == 0 {
			return i
		}
	}
}

// object appends members to a JSON object in the order of the calls.
type object struct {
	dst   []byte
	comma bool
}

func openObject(dst []byte) object { return object{dst: append(dst, '{')} }

func (o *object) name(name string) {
	if o.comma {
		o.dst = append(o.dst, ',')
	}
	o.comma = true
	o.dst = append(o.dst, '"')
	o.dst = append(o.dst, name...) // our own names need no escape
	o.dst = append(o.dst, '"', ':')
}

func (o *object) str(name, value string) {
	o.name(name)
	o.dst = AppendString(o.dst, value)
}

func (o *object) optStr(name, value string) {
	if value != "" {
		o.str(name, value)
	}
}

func (o *object) uint(name string, value uint64) {
	o.name(name)
	o.dst = strconv.AppendUint(o.dst, value, 10)
}

func (o *object) uuid(name string, id uuid.UUID) {
	o.name(name)
	text := [len(`"00000000-0000-0000-0000-000000000000"`)]byte{0: '"', 9: '-', 14: '-', 19: '-', 24: '-', 37: '"'}
	hex.Encode(text[1:9], id[:4])
	hex.Encode(text[10:14], id[4:6])
	hex.Encode(text[15:19], id[6:8])
	hex.Encode(text[20:24], id[8:10])
	hex.Encode(text[25:37], id[10:])
	o.dst = append(o.dst, text[:]...)
}

func (o *object) bool(name string, value bool) {
	o.name(name)
	o.dst = strconv.AppendBool(o.dst, value)
}

func (o *object) json(name string, value JSON) {
	o.name(name)
	if len(value) == 0 {
		o.dst = append(o.dst, "null"...)
		return
	}
	o.dst = append(o.dst, value...)
}

func (o *object) optJSON(name string, value JSON) {
	if len(value) > 0 {
		o.json(name, value)
	}
}

func (o *object) close() []byte { return append(o.dst, '}') }
