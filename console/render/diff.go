package render

import (
	"bytes"
	"slices"
	"strings"

	"github.com/steno-io/steno/console/reading"
	"github.com/steno-io/steno/schema"
)

// cardEdits writes a card's edits: each file, and which lines go and come.
func (r *Renderer) cardEdits(edits []reading.Edit) {
	for _, e := range edits {
		r.page.put(dim, "  ± ")
		r.page.put(plain, fit(reading.OneLine(e.Path), r.page.room(16+columns(e.Did))))
		r.page.put(dim, "  "+e.Words())
		r.page.newline()
		leave := r.page.inside(PartBody)
		if len(e.Removed) > 0 {
			r.excerpt(rail, bad, reading.Marked("- ", e.Removed))
		}
		if len(e.Added) > 0 {
			r.excerpt(rail, good, reading.Marked("+ ", e.Added))
		}
		leave()
	}
}

// toolTold writes edits as they come, if they are new to the card, and what a tool that has ended told beside
// its output. What one that runs tells stands where it ends.
func (r *Renderer) toolTold(e *schema.Event, k *schema.Raw) {
	of, edits, content := r.tools.Told(e, k)
	if of == nil {
		return
	}
	c := r.drawing(of)
	if edits != nil && !slices.EqualFunc(c.Edits, edits, reading.Edit.Equal) {
		c.Edits = edits
		if r.current != c.Key {
			r.cardHead(c, e)
		}
		r.cardEdits(edits)
	}
	if content == nil || bytes.Equal(c.Content, content) {
		return
	}
	before := c.Result()
	c.Content = content
	rest, more := strings.CutPrefix(c.Result(), before)
	if !more || rest == "" || !c.Phase.Phase.Ended() {
		return
	}
	if r.current != c.Key {
		r.cardHead(c, e)
	}
	defer r.page.inside(PartBody)()
	r.excerpt(rail, plain, strings.TrimPrefix(rest, "\n"))
}
