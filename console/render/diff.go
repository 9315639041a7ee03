package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// edit is what a tool does to one file.
type edit struct {
	path    string
	removed []string // lines, without those at either end that stay as they are
	added   []string
}

// edited reads the edits of a tool from the frame as sent, the one place that has them, and gives the
// tool's card; nil if the record is of no known tool or has no edits.
func (r *Renderer) edited(e *schema.Event, k *schema.Raw) (*card, []edit) {
	if k.Source != updatePrefix+acp.ToolCall && k.Source != updatePrefix+acp.ToolCallUpdate {
		return nil, nil
	}
	v := parse(k.Value)
	var edits []edit
	for part := range v.Get("content").Children() {
		if part.Get("type").Is("diff") {
			edits = append(edits, editOf(part))
		}
	}
	if edits == nil {
		return nil, nil
	}
	return r.asker(e, v.Get("toolCallId")), edits
}

func editOf(diff jsontree.Value) edit {
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
	return edit{path: path, removed: removed, added: added}
}

func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

func (a edit) equal(b edit) bool {
	return a.path == b.path && slices.Equal(a.removed, b.removed) && slices.Equal(a.added, b.added)
}

// cardEdits writes a card's edits: each file, and which lines go and come.
func (r *Renderer) cardEdits(edits []edit) {
	for _, e := range edits {
		r.page.put(dim, "  ± ")
		r.page.put(plain, fit(oneLine(e.path), r.page.room(16)))
		r.page.put(dim, "  −"+strconv.Itoa(len(e.removed))+" +"+count(len(e.added), "line"))
		r.page.newline()
		leave := r.page.inside(PartBody)
		if len(e.removed) > 0 {
			r.excerpt(rail, bad, marked("- ", e.removed))
		}
		if len(e.added) > 0 {
			r.excerpt(rail, good, marked("+ ", e.added))
		}
		leave()
	}
}

func marked(mark string, lines []string) string {
	return mark + strings.Join(lines, "\n"+mark)
}

// drawEdits writes edits as they come, if they are new to the card.
func (r *Renderer) drawEdits(e *schema.Event, c *card, edits []edit) {
	if slices.EqualFunc(c.edits, edits, edit.equal) {
		return
	}
	c.edits = edits
	if r.current != c.key {
		r.cardHead(c, e)
	}
	r.cardEdits(edits)
}

// onlyEdits reports whether a tool's output is nothing but edits, which stand on the card by themselves.
func onlyEdits(output schema.JSON) bool {
	edits := false
	for part := range parse(output).Children() {
		if edits = part.Get("type").Is("diff"); !edits {
			break
		}
	}
	return edits
}
