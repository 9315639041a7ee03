package render

import (
	"strconv"
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// parse reads a value; what does not parse is absent, and is shown as the text that it is.
func parse(value schema.JSON) jsontree.Value {
	var reader jsontree.Reader
	if _, err := reader.Read(value); err != nil {
		return jsontree.Value{}
	}
	return reader.Root()
}

// scalar is a value on one line: a string as it reads, anything else as its JSON.
func scalar(v jsontree.Value) string {
	if text, ok := v.Text(); ok {
		return text
	}
	return string(schema.AppendCompact(nil, v.Raw()))
}

// readable is a value as lines of text: strings as they read, the members of an object by name, the
// contents of a tool's output, and all else as JSON.
func readable(value schema.JSON) string {
	v := parse(value)
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
	return scalar(v)
}

// members writes one member a line; text of several lines goes below its name.
func members(v jsontree.Value) string {
	var b strings.Builder
	for m := range v.Children() {
		name, text := nameOf(m), scalar(m)
		b.WriteString(name)
		if strings.Contains(strings.TrimRight(text, "\n"), "\n") {
			b.WriteString(":\n" + strings.TrimRight(text, "\n") + "\n")
			continue
		}
		b.WriteString(": " + strings.TrimRight(text, "\n") + "\n")
	}
	return b.String()
}

func nameOf(member jsontree.Value) string {
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
			parts = append(parts, "["+kindOf(block)+" · "+bytesOf(len(block.Raw()))+"]")
		default:
			return "", false
		}
	}
	return strings.Join(parts, "\n"), len(parts) > 0
}

// diff tells what a change does to a file, and how the file reads after it.
func diff(c jsontree.Value) string {
	path, _ := c.Get("path").Text()
	after, _ := c.Get("newText").Text()
	what := "write " + path
	if before, ok := c.Get("oldText").Text(); ok {
		what = "change " + path + " from " + count(lines(before), "line")
	}
	return what + " to " + count(lines(after), "line") + "\n" + strings.TrimRight(after, "\n")
}

func lines(text string) int {
	if text == "" {
		return 0
	}
	return strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
}

// bytesOf is a size as people read it.
func bytesOf(n int) string {
	switch {
	case n < 1000:
		return count(n, "byte")
	case n < 1000*1000:
		return strconv.FormatFloat(float64(n)/1000, 'f', 1, 64) + " kB"
	}
	return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + " MB"
}
