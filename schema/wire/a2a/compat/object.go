package compat

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// object is one JSON object under rewriting. Members keep their order, and their text as sent until
// they are replaced.
type object struct {
	source  []byte
	members []member
	changed bool
}

type member struct {
	name  string
	label []byte         // the quoted name, as sent or ours
	value jsontree.Value // absent once text was replaced
	text  []byte
}

// open reads an object for rewriting; ok is false for any other value, which is then left as it is.
func open(v jsontree.Value) (o *object, ok bool) {
	if v.Kind() != jsontree.Object {
		return nil, false
	}
	o = &object{source: v.Raw()}
	children, ok := indexed(v)
	if !ok {
		return nil, false
	}
	for child := range children.Children() {
		label := child.NameRaw()
		o.members = append(o.members, member{name: unquote(label), label: label, value: child, text: child.Raw()})
	}
	return o, true
}

// last is the place of the member of that name, the last one of duplicates; -1 if there is none.
func (o *object) last(name string) int {
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].name == name {
			return i
		}
	}
	return -1
}

func (o *object) has(name string) bool { return o.last(name) >= 0 }

// get is the value of a member as sent; absent if there is none or it was replaced.
func (o *object) get(name string) jsontree.Value {
	if i := o.last(name); i >= 0 {
		return o.members[i].value
	}
	return jsontree.Value{}
}

// given is get for a member that must be there and not null.
func (o *object) given(name string) bool { return o.get(name).Given() }

// rewriteAt rewrites the i-th member's value.
func (o *object) rewriteAt(i int, each rewrite) {
	m := &o.members[i]
	if !m.value.Present() {
		return
	}
	if text := each(m.value); !bytes.Equal(text, m.text) {
		m.text, m.value, o.changed = text, jsontree.Value{}, true
	}
}

// apply rewrites every member of that name.
func (o *object) apply(name string, each rewrite) {
	for i := range o.members {
		if o.members[i].name == name {
			o.rewriteAt(i, each)
		}
	}
}

// set gives a member a new text, in its place or behind the others.
func (o *object) set(name string, text []byte) {
	i := o.last(name)
	if i < 0 {
		o.members = append(o.members, newMember(name, text))
	} else if bytes.Equal(o.members[i].text, text) {
		return
	} else {
		o.members[i].text, o.members[i].value = text, jsontree.Value{}
	}
	o.changed = true
}

// lead is set for what readers look at first: a new member comes before the others.
func (o *object) lead(name string, text []byte) {
	if o.has(name) {
		o.set(name, text)
		return
	}
	o.members = append([]member{newMember(name, text)}, o.members...)
	o.changed = true
}

// fill sets a member only where there is none.
func (o *object) fill(name string, text []byte) {
	if !o.has(name) {
		o.set(name, text)
	}
}

// rename gives a member another name, unless that name is taken: then both stay.
func (o *object) rename(from, to string) {
	if o.has(to) {
		return
	}
	for i := range o.members {
		if o.members[i].name == from {
			o.members[i].name, o.members[i].label = to, schema.AppendString(nil, to)
			o.changed = true
		}
	}
}

// drop takes all members of that name away.
func (o *object) drop(name string) {
	kept := o.members[:0]
	for _, m := range o.members {
		if m.name == name {
			o.changed = true
			continue
		}
		kept = append(kept, m)
	}
	o.members = kept
}

// adopt takes the members of another object. Those whose names are taken are kept together in a
// member called name, if that is free.
func (o *object) adopt(members []member, name string) {
	free, taken := split(members, o.members)
	if len(free) > 0 {
		o.members, o.changed = append(o.members, free...), true
	}
	if len(taken) > 0 {
		o.fill(name, joined(taken))
	}
}

// split parts members by whether others have the same name.
func split(members, others []member) (free, taken []member) {
	names := make(map[string]bool, len(others))
	for _, m := range others {
		names[m.name] = true
	}
	for _, m := range members {
		if names[m.name] {
			taken = append(taken, m)
		} else {
			free = append(free, m)
		}
	}
	return free, taken
}

// joined is the text of an object of these members.
func joined(members []member) []byte {
	o := object{members: members, changed: true}
	return o.bytes()
}

// bytes is the object's text: the one that was sent if nothing was changed, else one without white
// space between the members.
func (o *object) bytes() []byte {
	if !o.changed {
		return o.source
	}
	size := 2
	for _, m := range o.members {
		size += len(m.label) + len(m.text) + 2
	}
	out := append(make([]byte, 0, size), '{')
	for i, m := range o.members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, m.label...)
		out = append(out, ':')
		out = append(out, m.text...)
	}
	return append(out, '}')
}

func newMember(name string, text []byte) member {
	return member{name: name, label: schema.AppendString(nil, name), text: text}
}

// single is the text of an object with one member.
func single(name string, text []byte) []byte { return joined([]member{newMember(name, text)}) }

// quote is the text of a string.
func quote(s string) []byte { return schema.AppendString(nil, s) }

// unquote reads a name that was read before: its only possible fault is bad UTF-8, for which
// AppendUnquote has put U+FFFD when it says so.
func unquote(label []byte) string {
	if bytes.IndexByte(label, '\\') < 0 {
		return string(label[1 : len(label)-1])
	}
	name, _ := jsontext.AppendUnquote(nil, label)
	return string(name)
}
