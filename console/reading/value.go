package reading

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// Parse reads a value; what does not parse is absent, and is shown as the text that it is.
func Parse(value schema.JSON) jsontree.Value {
	var reader jsontree.Reader
	if _, err := reader.Read(value); err != nil {
		return jsontree.Value{}
	}
	return reader.Root()
}

// Scalar is a value on one line: a string as it reads, anything else as its JSON.
func Scalar(v jsontree.Value) string {
	if text, ok := v.Text(); ok {
		return text
	}
	return string(schema.AppendCompact(nil, v.Raw()))
}

// Readable is a value as lines of text: strings as they read, the members of an object by name, the
// contents of a tool's output, and all else as JSON.
func Readable(value schema.JSON) string {
	v := Parse(value)
	switch v.Kind() {
	case jsontree.Absent:
		return string(value)
	case jsontree.Object:
		return members(v)
	case jsontree.Array:
		if text, ok := contents(v); ok {
			return text
		}
	}
	return Scalar(v)
}

// members writes one member a line; text of several lines goes below its name.
func members(v jsontree.Value) string {
	var b strings.Builder
	for m := range v.Children() {
		name, text := NameOf(m), Scalar(m)
		b.WriteString(name)
		if strings.Contains(strings.TrimRight(text, "\n"), "\n") {
			b.WriteString(":\n" + strings.TrimRight(text, "\n") + "\n")
			continue
		}
		b.WriteString(": " + strings.TrimRight(text, "\n") + "\n")
	}
	return b.String()
}

// NameOf is a member's name.
func NameOf(member jsontree.Value) string {
	name, err := strconv.Unquote(string(member.NameRaw()))
	if err != nil {
		return string(member.NameRaw()) // an escape that only JSON has
	}
	return name
}

// contents reads the content list of a tool's output; ok is false if it is another kind of list.
func contents(list jsontree.Value) (text string, ok bool) {
	var parts []string
	for c := range list.Children() {
		block := c
		if c.Get("type").Is("content") {
			block = c.Get("content")
		}
		switch text, isText := block.Get("text").Text(); {
		case isText && block.Get("type").Is("text"):
			parts = append(parts, strings.TrimRight(text, "\n"))
		case c.Get("type").Is("diff"):
			parts = append(parts, diff(c))
		case block.Get("type").Kind() == jsontree.String:
			parts = append(parts, "["+KindOf(block)+" · "+BytesOf(len(block.Raw()))+"]")
		default:
			return "", false
		}
	}
	return strings.Join(parts, "\n"), len(parts) > 0
}

// diff tells what a change does to a file, and how the file reads after it; of several files, what is done
// with each, and the patch that does it.
func diff(c jsontree.Value) string {
	if c.Get("changes").Kind() == jsontree.Array {
		var lines []string
		for _, e := range changesIn(c) {
			lines = append(lines, OneLine(e.Path)+"  "+e.Words())
		}
		if patch, ok := c.Get("patch").Get("text").Text(); ok {
			lines = append(lines, strings.TrimRight(patch, "\n"))
		}
		return strings.Join(lines, "\n")
	}
	path, _ := c.Get("path").Text()
	after, _ := c.Get("newText").Text()
	what := "write " + path
	if before, ok := c.Get("oldText").Text(); ok {
		what = "change " + path + " from " + Count(len(linesOf(before)), "line")
	}
	return what + " to " + Count(len(linesOf(after)), "line") + "\n" + strings.TrimRight(after, "\n")
}

// largeWords begin what is said in the place of a value that an event only refers to.
const largeWords = "too large to show, frame "

// tooLarge says of a value that an event only refers to where it is; ok is false of others.
func tooLarge(v jsontree.Value) (words string, ok bool) {
	ref := v.Get("ref")
	if ref.Get("sha256").Kind() != jsontree.String || !ref.Get("frame").Present() || lengthOf(v) != 1 {
		return "", false
	}
	return largeWords + OneLine(Scalar(ref.Get("frame"))), true
}

func isTooLarge(words string) bool { return strings.HasPrefix(words, largeWords) }

// Unbase64 is the text of bytes that are no JSON; ok is false if the value is none of these.
func Unbase64(value schema.JSON) (text string, ok bool) {
	encoded, ok := Parse(value).Get("base64").Text()
	if !ok {
		return "", false
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	return string(data), err == nil
}

// Brief is what a record says, without the envelope that its source names already.
func Brief(value schema.JSON) string {
	if text, ok := Unbase64(value); ok {
		return text
	}
	v := Parse(value)
	if v.Get("jsonrpc").Present() {
		for _, member := range []string{"params", "result", "error"} {
			if inner := v.Get(member); inner.Present() {
				v = inner
				break
			}
		}
	}
	if v.Kind() == jsontree.Object {
		var words []string
		for m := range v.Children() {
			if name := NameOf(m); name != "sessionId" {
				words = append(words, name+" "+Scalar(m))
			}
		}
		return strings.Join(words, ", ")
	}
	if !v.Present() {
		return string(value)
	}
	return Scalar(v)
}

// KindOf names a part of a message by its type.
func KindOf(part jsontree.Value) string {
	if kind, ok := part.Get("type").Text(); ok && kind != "" {
		return strings.ReplaceAll(OneLine(kind), "_", " ")
	}
	return "part"
}
