package a2a

import "github.com/steno-io/steno/schema/wire/jsontree"

// Field is the member of an object with that name, in camelCase: as spelt, else in snake_case, else
// in any other case. Of members spelt alike the last one counts.
func Field(object jsontree.Value, name string) jsontree.Value {
	if object.Kind() != jsontree.Object || name == "" {
		return jsontree.Value{}
	}
	var found jsontree.Value
	best := differs
	for member := range object.Children() {
		raw := member.NameRaw()
		if how := spelling(raw[1:len(raw)-1], name); how != differs && how >= best {
			found, best = member, how
		}
	}
	return found
}

// How near a spelling is to a name.
const (
	differs = iota
	folded
	snake
	exact
)

// spelling compares a key with a name, byte by byte: an underscore, and the case of ASCII letters, do
// not tell them apart.
func spelling(key []byte, name string) int {
	if len(key) < len(name) || lower(key[0]) != lower(name[0]) && key[0] != '_' { // most are told apart here
		return differs
	}
	if string(key) == name {
		return exact
	}
	how, i := snake, 0
	for k, c := range key {
		if c == '_' {
			continue
		}
		if i == len(name) || lower(c) != lower(name[i]) {
			return differs
		}
		boundary := k > 0 && key[k-1] == '_'
		if c != lower(name[i]) || boundary != isUpper(name[i]) {
			how = folded
		}
		i++
	}
	if i < len(name) {
		return differs
	}
	return how
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

func lower(c byte) byte {
	if isUpper(c) {
		return c + 'a' - 'A'
	}
	return c
}

// Text is a field's string; empty where it is absent or no string.
func Text(object jsontree.Value, name string) string {
	text, _ := Field(object, name).Text()
	return text
}

// ID is a field that identifies: a string, or a number by its JSON text; empty for anything else. The
// bytes are the reader's.
func ID(object jsontree.Value, name string) []byte {
	v := Field(object, name)
	if v.Kind() == jsontree.Number {
		return v.Raw()
	}
	text, _ := v.Bytes()
	return text
}

// Flag is a field's truth: true, or the string "true".
func Flag(object jsontree.Value, name string) bool {
	v := Field(object, name)
	return string(v.Raw()) == "true" || v.Is("true")
}
