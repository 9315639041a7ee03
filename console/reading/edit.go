package reading

import (
	"slices"
	"strconv"
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// Edit is what a tool does to one file.
type Edit struct {
	Path    string
	Did     string   // with the file as a whole, where the agent says so
	Removed []string // lines, without those at either end that stay as they are
	Added   []string
}

// Equal reports whether both do the same.
func (a Edit) Equal(b Edit) bool {
	return a.Path == b.Path && a.Did == b.Did && slices.Equal(a.Removed, b.Removed) && slices.Equal(a.Added, b.Added)
}

// Words say what is done to the file, and how many lines go and come.
func (e Edit) Words() string {
	lines := "−" + strconv.Itoa(len(e.Removed)) + " +" + Count(len(e.Added), "line")
	switch {
	case e.Did == "":
		return lines
	case len(e.Removed)+len(e.Added) == 0:
		return e.Did
	}
	return e.Did + " · " + lines
}

// Marked is lines of text, each behind a mark.
func Marked(mark string, lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(mark + l + "\n")
	}
	return b.String()
}

// isTool reports whether a record is of a tool, as its agent told of it.
func isTool(k *schema.Raw) bool {
	return k.Source == updatePrefix+acp.ToolCall || k.Source == updatePrefix+acp.ToolCallUpdate
}

// editsIn reads the edits in a tool's contents; nil if there are none.
func editsIn(contents jsontree.Value) (edits []Edit) {
	for part := range contents.Children() {
		switch {
		case !part.Get("type").Is("diff"):
		case part.Get("changes").Kind() == jsontree.Array:
			edits = append(edits, changesIn(part)...)
		default:
			edits = append(edits, editOf(part))
		}
	}
	return edits
}

func editOf(diff jsontree.Value) Edit {
	path, _ := diff.Get("path").Text()
	before, _ := diff.Get("oldText").Text()
	after, _ := diff.Get("newText").Text()
	removed, added := linesOf(before), linesOf(after)
	for len(removed) > 0 && len(added) > 0 && removed[0] == added[0] {
		removed, added = removed[1:], added[1:]
	}
	for len(removed) > 0 && len(added) > 0 && removed[len(removed)-1] == added[len(added)-1] {
		removed, added = removed[:len(removed)-1], added[:len(added)-1]
	}
	return Edit{Path: path, Removed: removed, Added: added}
}

func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// toldBeside is what a tool's contents are beside edits, as a list; nil if they are nothing else.
func toldBeside(contents jsontree.Value) schema.JSON {
	list := schema.JSON("[")
	for part := range contents.Children() {
		if part.Get("type").Is("diff") {
			continue
		}
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(list, part.Raw()...)
	}
	if len(list) == 1 {
		return nil
	}
	return append(list, ']')
}

// told reads what a tool told, or says where it is.
func told(content schema.JSON) string {
	if large, ok := tooLarge(Parse(content)); ok {
		return large
	}
	return Readable(content)
}

// OnlyEdits reports whether a tool's output is nothing but edits, which stand on the card by themselves.
func OnlyEdits(output schema.JSON) bool {
	edits := false
	for part := range Parse(output).Children() {
		if edits = part.Get("type").Is("diff"); !edits {
			break
		}
	}
	return edits
}
