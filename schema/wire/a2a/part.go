package a2a

import (
	"bytes"

	"github.com/steno-io/steno/schema/wire/jsontree"
)

// PartKind says what a part holds.
type PartKind string

// Kinds of parts, as 1.0 calls them. An empty part has no arm at all.
const (
	TextPart  PartKind = "text"
	RawPart   PartKind = "raw" // bytes, in base64
	URLPart   PartKind = "url"
	DataPart  PartKind = "data"
	EmptyPart PartKind = "empty"
)

// AppendParts appends the parts of a message or an artifact in order: objects, and strings in the place
// of text parts; nulls and anything else are passed over. An object without a list of parts that has a
// text of its own is its only part.
func AppendParts(dst []jsontree.Value, v jsontree.Value) []jsontree.Value {
	list := Field(v, "parts")
	if !list.Given() {
		list = Field(v, "content")
	}
	switch list.Kind() {
	case jsontree.Array:
		for part := range list.Children() {
			if k := part.Kind(); k == jsontree.Object || k == jsontree.String {
				dst = append(dst, part)
			}
		}
	case jsontree.Object, jsontree.String:
		dst = append(dst, list)
	default:
		if text := Field(v, "text"); text.Kind() == jsontree.String {
			dst = append(dst, text)
		}
	}
	return dst
}

// ReadPart tells what a part is and gives what it holds: a string for text, the data of a data part,
// else the whole part.
func ReadPart(part jsontree.Value) (PartKind, jsontree.Value) {
	if part.Kind() == jsontree.String {
		return TextPart, part
	}
	if text := Field(part, "text"); text.Kind() == jsontree.String {
		return TextPart, text
	}
	if root := Field(part, "root"); root.Kind() == jsontree.Object { // generated code on the wire
		return ReadPart(root)
	}
	if content := Field(part, "content"); content.Kind() == jsontree.Object { // generated code on the wire
		if kind, value := readCase(part, content); kind != EmptyPart {
			return kind, value
		}
	}
	if file := Field(part, "file"); file.Kind() == jsontree.Object {
		for _, name := range []string{"bytes", "fileWithBytes", "raw"} {
			if Field(file, name).Given() {
				return RawPart, part
			}
		}
		return URLPart, part
	}
	switch {
	case Field(part, "raw").Given(), Field(part, "bytes").Given():
		return RawPart, part
	case Field(part, "url").Given(), Field(part, "uri").Given():
		return URLPart, part
	}
	if data := Field(part, "data"); data.Present() {
		return DataPart, unwrapData(part, data)
	}
	return EmptyPart, part
}

// PartContent is what a part holds in the words of no dialect, given what ReadPart says of it: the
// base64 of bytes, the URL, the data. What cannot be told apart from its part is the part itself.
func PartContent(kind PartKind, value jsontree.Value) jsontree.Value {
	switch kind {
	case RawPart:
		return firstOf(value, "raw", "bytes", "fileWithBytes")
	case URLPart:
		return firstOf(value, "url", "uri", "fileWithUri")
	}
	return value
}

// firstOf is the first of some members of a part, or of its file; without one the part.
func firstOf(part jsontree.Value, names ...string) jsontree.Value {
	for _, holder := range []jsontree.Value{Field(part, "file"), part} {
		for _, name := range names {
			if v := Field(holder, name); v.Given() {
				return v
			}
		}
	}
	return part
}

// readCase reads {"content":{"$case":"text","value":…}}.
func readCase(part, content jsontree.Value) (PartKind, jsontree.Value) {
	value := content.Get("value")
	name, _ := content.Get("$case").Text()
	if !value.Present() {
		value = Field(content, name)
	}
	switch {
	case name == "text" && value.Kind() == jsontree.String:
		return TextPart, value
	case name == "raw" || name == "bytes":
		return RawPart, part
	case name == "url" || name == "uri":
		return URLPart, part
	case name == "data" && value.Present():
		return DataPart, value
	}
	return EmptyPart, part
}

// unwrapData takes the message of the 0.3 proto, {"data":{…}}, off a data part: only where nothing
// else is in it, the part does not say that it is of 0.3 JSON-RPC, and what is inside is an object.
func unwrapData(part, data jsontree.Value) jsontree.Value {
	if Field(part, "kind").Present() || part.Get("type").Present() || data.Kind() != jsontree.Object {
		return data
	}
	members, inner := 0, jsontree.Value{}
	for member := range data.Children() {
		members++
		inner = member
	}
	if members == 1 && bytes.Equal(inner.NameRaw(), []byte(`"data"`)) && inner.Kind() == jsontree.Object {
		return inner
	}
	return data
}

// Metadata is the free metadata of an object; the caller looks up keys as they are spelt.
func Metadata(v jsontree.Value) jsontree.Value { return Field(v, "metadata") }
