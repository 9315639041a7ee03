package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/steno-io/steno/schema"
)

// cardEdits writes a card's edits: each file, and which lines go and come.
func (r *Renderer) cardEdits(edits []edit) {
	for _, e := range edits {
		r.page.put(dim, "  ± ")
		r.page.put(plain, fit(oneLine(e.Path), r.page.room(16)))
		r.page.put(dim, "  −"+strconv.Itoa(len(e.Removed))+" +"+count(len(e.Added), "line"))
		r.page.newline()
		leave := r.page.inside(PartBody)
		if len(e.Removed) > 0 {
			r.excerpt(rail, bad, marked("- ", e.Removed))
		}
		if len(e.Added) > 0 {
			r.excerpt(rail, good, marked("+ ", e.Added))
		}
		leave()
	}
}

func marked(mark string, lines []string) string {
	return mark + strings.Join(lines, "\n"+mark)
}

// drawEdits writes edits as they come, if they are new to the card.
func (r *Renderer) drawEdits(e *schema.Event, c *card, edits []edit) {
	if slices.EqualFunc(c.Edits, edits, edit.Equal) {
		return
	}
	c.Edits = edits
	if r.current != c.Key {
		r.cardHead(c, e)
	}
	r.cardEdits(edits)
}
