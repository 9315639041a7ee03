package compat

import (
	"bytes"

	"github.com/steno-io/steno/schema/wire/jsontree"
)

// compatMark in a part's metadata says that its data was no object and stands in one, under "value".
// Other implementations use the same words.
const compatMark = "data_part_compat"

// partUp drops the kind of a part and lifts what stands in its file. A part whose kind does not fit
// what it holds stays as it is.
func partUp(o *object) {
	kind := o.get("kind")
	switch {
	case kind.Is("text") && o.given("text"):
		o.drop("kind")
	case kind.Is("data") && o.has("data"):
		o.drop("kind")
		unmark(o)
	case kind.Is("file"):
		file, ok := open(o.get("file"))
		if ok && fileUp(file) {
			o.drop("kind")
			lift(o, "file", file)
		}
	}
}

// fileUp gives a file's members their names in a part of version 1.0, which holds bytes or a URI,
// never both: beside bytes a URI keeps its name, and with it its place among the unknown fields. It
// reports whether there was either.
func fileUp(file *object) bool {
	for _, spelling := range []struct{ arm, name string }{
		{"raw", "bytes"}, {"raw", "fileWithBytes"}, {"url", "uri"}, {"url", "fileWithUri"},
	} {
		if file.given(spelling.name) {
			file.rename(spelling.name, spelling.arm)
			file.rename("name", "filename")
			file.rename("mimeType", "mediaType")
			return true
		}
	}
	return false
}

// lift puts the members of inner, which stands in o under name, into o at its place; members whose
// names are taken in o stay where they are.
func lift(o *object, name string, inner *object) {
	at := o.last(name)
	others := append(o.members[:at:at], o.members[at+1:]...)
	free, taken := split(inner.members, others)
	if len(taken) > 0 {
		free = append(free, newMember(name, joined(taken)))
	}
	o.members = append(append(o.members[:at:at], free...), others[at:]...)
	o.changed = true
}

// unmark takes marked data out of the object that it was put in.
func unmark(o *object) {
	metadata, ok := open(o.get("metadata"))
	if !ok || string(metadata.get(compatMark).Raw()) != "true" {
		return
	}
	wrapped, ok := open(o.get("data"))
	if !ok || len(wrapped.members) != 1 || !wrapped.has("value") {
		return
	}
	o.set("data", wrapped.get("value").Raw())
	if metadata.drop(compatMark); len(metadata.members) == 0 {
		o.drop("metadata")
		return
	}
	o.set("metadata", metadata.bytes())
}

// partDown gives a part of version 1.0 its kind. Of several contents the first of text, raw, url and
// data decides, the others stay as unknown fields; a part without any stays as it is, and so does one
// that has a kind of version 0.3 already.
func partDown(o *object) {
	for _, kind := range []string{"text", "file", "data"} {
		if o.get("kind").Is(kind) && o.has(kind) {
			return
		}
	}
	switch {
	case o.given("text"):
		o.lead("kind", quote("text"))
	case o.given("raw"):
		sink(o, "raw", "bytes")
	case o.given("url"):
		sink(o, "url", "uri")
	case o.has("data"):
		if o.get("data").Kind() == jsontree.Object || mark(o) {
			o.lead("kind", quote("data"))
		}
	}
}

// sink puts a content of version 1.0 and what describes it into a file of version 0.3.
func sink(o *object, arm, name string) {
	file, at := object{changed: true}, o.last(arm)
	kept := make([]member, 0, len(o.members)+1)
	for i, m := range o.members {
		switch {
		case i == at:
			kept = append(kept, member{name: "file"}) // filled in below
			file.members = append(file.members, newMember(name, m.text))
		case m.name == "filename":
			file.members = append(file.members, newMember("name", m.text))
		case m.name == "mediaType":
			file.members = append(file.members, newMember("mimeType", m.text))
		case m.name == "file":
			file.adopt(leftovers(m), "file")
		default:
			kept = append(kept, m)
		}
	}
	for i := range kept {
		if kept[i].name == "file" {
			kept[i] = newMember("file", file.bytes())
		}
	}
	o.members, o.changed = kept, true
	o.lead("kind", quote("file"))
}

// leftovers are the members of a file that lift found no place for.
func leftovers(m member) []member {
	if o, ok := open(m.value); ok {
		return o.members
	}
	return nil
}

// mark puts data that is no object, which version 0.3 cannot hold, into one, and says so in the
// part's metadata. Where the metadata is no object either, nothing can be said and nothing is done.
func mark(o *object) bool {
	marked := single(compatMark, []byte("true"))
	if given := o.get("metadata"); given.Given() {
		metadata, ok := open(given)
		if !ok {
			return false
		}
		metadata.set(compatMark, []byte("true"))
		marked = metadata.bytes()
	}
	o.set("data", single("value", bytes.Clone(o.get("data").Raw())))
	o.set("metadata", marked)
	return true
}
