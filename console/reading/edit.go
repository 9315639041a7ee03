package reading

import (
	"slices"
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// Edit is what a tool does to one file.
type Edit struct {
	Path    string
	Removed []string // lines, without those at either end that stay as they are
	Added   []string
}

// Equal reports whether both do the same.
func (a Edit) Equal(b Edit) bool {
	return a.Path == b.Path && slices.Equal(a.Removed, b.Removed) && slices.Equal(a.Added, b.Added)
}

// editsOf reads the edits of a tool from the frame as sent, the one place that has them; nil if there are
// none.
func editsOf(k *schema.Raw) (tool string, edits []Edit) {
	if k.Source != updatePrefix+acp.ToolCall && k.Source != updatePrefix+acp.ToolCallUpdate {
		return "", nil
	}
	v := Parse(k.Value)
	for part := range v.Get("content").Children() {
		if part.Get("type").Is("diff") {
			edits = append(edits, editOf(part))
		}
	}
	tool, _ = v.Get("toolCallId").Text()
	return tool, edits
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
