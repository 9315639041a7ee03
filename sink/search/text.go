package search

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
)

// Texts are what an event says that can be found, each apart: a phrase never spans two of them.
type Texts []string

// kindName begins an event's kind, its last member. No string holds it: its quotation marks would have
// backslashes before them.
var kindName = []byte(`,"kind":{"kind":"`)

// rawName begins the kind of a Raw.
var rawName = []byte(schema.TagRaw + `","source":"`)

// updates are the sources of the Raws that hold the diffs of tools, which no other event does.
var updates = [][]byte{[]byte(sourceCall + `"`), []byte(sourceUpdate + `"`)}

const (
	sourceCall   = "session/update/" + acp.ToolCall
	sourceUpdate = "session/update/" + acp.ToolCallUpdate
)

// Silent reports whether an event's encoding shows at first sight that nothing of it can be found.
func Silent(event []byte) bool {
	_, kind, _ := bytes.Cut(event, kindName)
	source, raw := bytes.CutPrefix(kind, rawName)
	return raw && !slices.ContainsFunc(updates, func(u []byte) bool { return bytes.HasPrefix(source, u) })
}

// Of gives what an event says.
func Of(e *schema.Event) Texts {
	var t Texts
	switch k := e.Kind.(type) {
	case *schema.Message:
		t.add(k.Text)
		t.parts(k.Content)
	case *schema.ToolCall:
		t.add(k.Tool)
		t.values(k.Input)
	case *schema.ToolResult:
		t.values(k.Output)
	case *schema.ToolState:
		t.state(k)
	case *schema.Progress:
		if note, ok := k.Detail.(*schema.Note); ok {
			t.add(note.Text)
		}
	case *schema.Stop:
		t.add(k.Detail)
	case *schema.Raw:
		if k.Source == sourceCall || k.Source == sourceUpdate {
			t.diffs(k.Value)
		}
	}
	return t
}

// Tool is the id of the tool that an event tells of, and its name where the event has it; empty for other
// events.
func Tool(e *schema.Event) (id, name string) {
	switch k := e.Kind.(type) {
	case *schema.ToolCall:
		return k.CallID, k.Tool
	case *schema.ToolResult:
		return k.CallID, ""
	case *schema.ToolState:
		return k.ToolID, k.Name
	case *schema.Raw:
		id := ""
		_ = members(k.Value, func(name string, value jsontext.Value) {
			if name == "toolCallId" {
				id = text(value)
			}
		})
		return id, ""
	}
	return "", ""
}

func (t *Texts) add(s string) {
	if s != "" && !isBase64(s) {
		*t = append(*t, s)
	}
}

// state takes all that a tool's state says; one that says nothing more than an earlier event of the tool
// Memory passes over.
func (t *Texts) state(k *schema.ToolState) {
	t.add(k.Name)
	t.add(k.Title)
	t.values(k.Input)
	t.values(k.State.PartialInput)
	t.values(k.State.Input)
	t.add(k.State.Description)
	t.add(k.State.Progress)
	if k.State.Output != nil {
		if output := schema.JSON(*k.State.Output); jsontext.Value(output).IsValid(tolerant...) {
			t.values(output)
		} else {
			t.add(*k.State.Output)
		}
	}
	t.add(k.State.Message)
}

// parts takes what the parts of a message say beside its text.
func (t *Texts) parts(content schema.JSON) {
	_ = elements(content, func(part jsontext.Value) {
		isText := false
		_ = members(part, func(name string, value jsontext.Value) {
			isText = isText || (name == "type" || name == "kind") && text(value) == "text"
			isText = isText || name == "text" && value.Kind() == '"'
		})
		if !isText {
			t.values(schema.JSON(part))
		}
	})
}

// diffs takes the files and texts of the diffs in an update's content; in version 2 of ACP they are changes
// to files and a patch.
func (t *Texts) diffs(update schema.JSON) {
	_ = members(update, func(name string, value jsontext.Value) {
		if name != "content" {
			return
		}
		_ = elements(schema.JSON(value), func(part jsontext.Value) {
			isDiff := false
			var said Texts
			_ = members(part, func(name string, value jsontext.Value) {
				switch name {
				case "type":
					isDiff = text(value) == "diff"
				case "path", "oldText", "newText":
					said.add(text(value))
				case "changes":
					_ = elements(value, func(change jsontext.Value) { said.take(change, "path", "oldPath") })
				case "patch":
					said.take(value, "text")
				}
			})
			if isDiff {
				*t = append(*t, said...)
			}
		})
	})
}

// take takes the texts of some of an object's members.
func (t *Texts) take(object jsontext.Value, names ...string) {
	_ = members(object, func(name string, value jsontext.Value) {
		if slices.Contains(names, name) {
			t.add(text(value))
		}
	})
}

// tolerant: a value is as the peer sent it.
var tolerant = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// values takes the strings and numbers of a JSON value. What stands behind something that cannot be read
// is not taken; the sink stores no such value.
func (t *Texts) values(value schema.JSON) {
	if len(value) == 0 {
		return
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(value), tolerant...)
	for {
		token, err := dec.ReadToken()
		if err != nil {
			return
		}
		switch token.Kind() {
		case '0':
			t.add(token.String())
		case '"':
			if kind, n := dec.StackIndex(dec.StackDepth()); kind != '{' || n%2 == 0 { // else a name
				t.add(token.String())
			}
		}
	}
}

// members gives each member of an object; of another value none.
func members(value []byte, each func(name string, value jsontext.Value)) error {
	if jsontext.Value(value).Kind() != '{' {
		return nil
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(value), tolerant...)
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		key := name.String()
		v, err := dec.ReadValue()
		if err != nil {
			return err
		}
		each(key, v)
	}
	return nil
}

// elements gives each element of an array; of another value none.
func elements(value []byte, each func(jsontext.Value)) error {
	if jsontext.Value(value).Kind() != '[' {
		return nil
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(value), tolerant...)
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != ']' {
		v, err := dec.ReadValue()
		if err != nil {
			return err
		}
		each(v)
	}
	return nil
}

// text is what a JSON string says; empty for another value.
func text(value jsontext.Value) string {
	if value.Kind() != '"' {
		return ""
	}
	plain, err := jsontext.AppendUnquote(nil, value)
	if err != nil && len(plain) == 0 {
		return ""
	}
	return string(plain)
}

// leastBase64 is from how many bytes on text without a space may be base64.
const leastBase64 = 512

// isBase64 reports whether a string is the bytes of a picture, a file or a sound: on one line, or on lines
// of 64 or 76 characters of which the last may be shorter, and looking as if drawn by lot. A list of names
// has other lines, or keeps to few characters.
func isBase64(s string) bool {
	if len(s) < leastBase64 {
		return false
	}
	var seen [256]int
	total, width, ended := 0, 0, false
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case ended:
			return false
		case width == 0 && len(line) != len(strings.TrimRight(s, "\r\n")) && len(line) != 64 && len(line) != 76:
			return false
		case width == 0:
			width = len(line)
		case len(line) > width:
			return false
		}
		ended = len(line) < width || strings.HasSuffix(line, "=")
		total += len(line)
		for i := range len(line) {
			seen[line[i]]++
		}
	}
	data := total - seen['=']
	if data%4 == 1 || seen['='] > 0 && (total%4 != 0 || seen['='] > 2 || !strings.HasSuffix(strings.TrimRight(s, "\r\n"), strings.Repeat("=", seen['=']))) {
		return false
	}
	// Two characters drawn by lot are the same once in 64 times, two of a text's letters once in 20.
	same := 0
	for c, n := range seen {
		switch {
		case 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '+', c == '/', c == '-', c == '_':
			same += n * n
		case c != '=' && n > 0:
			return false
		}
	}
	return same < data*data/40
}
