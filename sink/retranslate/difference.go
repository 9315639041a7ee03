package retranslate

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/steno-io/steno/schema"
)

// Change is how an event differs.
type Change string

// Changes.
const (
	Added   Change = "added"   // the other version gives it, and none is stored
	Removed Change = "removed" // it is stored, and the other version does not give it
	Changed Change = "changed"
)

// Difference is one event that the other version does not give, or gives otherwise. An event that would be
// given at another frame is removed there and added here.
type Difference struct {
	Change Change        `json:"change"`
	Rule   string        `json:"rule,omitempty"`   // whoever knows it names it
	Was    *schema.Event `json:"was,omitempty"`    // as stored
	Is     *schema.Event `json:"is,omitempty"`     // as the other version gives it, with the number it would have
	Fields []Field       `json:"fields,omitempty"` // of a changed one
}

// Event is the event as it is stored, or, of one that is added, as it is given.
func (d *Difference) Event() *schema.Event {
	if d.Was != nil {
		return d.Was
	}
	return d.Is
}

// Field is one place in which two encodings of an event differ.
type Field struct {
	Name string          `json:"name"`          // such as kind.text, or frames.0.1
	Was  json.RawMessage `json:"was,omitempty"` // absent: it had none
	Is   json.RawMessage `json:"is,omitempty"`
}

// fields gives the places in which two JSON texts differ, the deepest that tell it.
func fields(was, is []byte) []Field { return appendFields(nil, "", was, is) }

func appendFields(dst []Field, name string, was, is json.RawMessage) []Field {
	if bytes.Equal(was, is) {
		return dst
	}
	had := len(dst)
	a, aNamed := members(was)
	b, bNamed := members(is)
	if a != nil && b != nil && aNamed == bNamed && (aNamed || len(a) == len(b)) {
		both := maps.Clone(a)
		maps.Copy(both, b)
		names := slices.Sorted(maps.Keys(both))
		if !aNamed {
			slices.SortFunc(names, byNumber)
		}
		for _, member := range names {
			dst = appendFields(dst, join(name, member), a[member], b[member])
		}
		if len(dst) > had {
			return dst
		}
	}
	return append(dst, Field{Name: name, Was: was, Is: is}) // the order of members, a name twice, white space
}

func join(name, member string) string {
	if name == "" {
		return member
	}
	return name + "." + member
}

func byNumber(x, y string) int {
	a, _ := strconv.Atoi(x) // they are places
	b, _ := strconv.Atoi(y)
	return a - b
}

// members are those of an object by name, or those of an array by place; nil of anything else.
func members(text json.RawMessage) (m map[string]json.RawMessage, named bool) {
	if len(text) == 0 {
		return nil, false
	}
	switch text[0] {
	case '{':
		if json.Unmarshal(text, &m) != nil {
			return nil, false
		}
		return m, true
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(text, &list) != nil {
			return nil, false
		}
		m = map[string]json.RawMessage{}
		for i, v := range list {
			m[strconv.Itoa(i)] = v
		}
	}
	return m, false
}
