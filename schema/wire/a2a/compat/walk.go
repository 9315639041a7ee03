package compat

import (
	"bytes"

	"github.com/steno-io/steno/schema/wire/jsontree"
)

// rewrite gives the text of a value in the other version: the value's own text where nothing changes.
type rewrite func(jsontree.Value) []byte

// indexed is v with what is in it readable: the tree ends at a certain depth, and begins anew here.
// ok is false for what cannot be read again, such as nothing that was read before.
func indexed(v jsontree.Value) (jsontree.Value, bool) {
	for range v.Children() {
		return v, true
	}
	raw := v.Raw()
	if len(raw) < 2 || len(bytes.TrimLeft(raw[1:len(raw)-1], " \t\r\n")) == 0 {
		return v, true
	}
	var r jsontree.Reader
	if _, err := r.Read(raw); err != nil {
		return jsontree.Value{}, false
	}
	return r.Root(), true
}

// elements rewrites each element of an array; any other value stays.
func elements(each rewrite) rewrite {
	return func(v jsontree.Value) []byte {
		if v.Kind() != jsontree.Array {
			return v.Raw()
		}
		list, ok := indexed(v)
		if !ok {
			return v.Raw()
		}
		changed, texts := false, [][]byte{}
		for element := range list.Children() {
			text := each(element)
			changed = changed || !bytes.Equal(text, element.Raw())
			texts = append(texts, text)
		}
		if !changed {
			return v.Raw()
		}
		return array(texts)
	}
}

// values rewrites the value of each member of an object, whatever its name; any other value stays.
func values(each rewrite) rewrite {
	return func(v jsontree.Value) []byte {
		o, ok := open(v)
		if !ok {
			return v.Raw()
		}
		for i := range o.members {
			o.rewriteAt(i, each)
		}
		return o.bytes()
	}
}

// array is the text of a list.
func array(elements [][]byte) []byte {
	size := 2
	for _, e := range elements {
		size += len(e) + 1
	}
	out := append(make([]byte, 0, size), '[')
	for i, e := range elements {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, e...)
	}
	return append(out, ']')
}
