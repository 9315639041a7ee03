package headless

import (
	"strings"

	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// told collects what an agent says in messages that each have an id: pieces go on with one, and a whole
// one takes the place of all that it said before.
type told struct {
	order []*saying // by first sight
	by    map[string]*saying
}

type saying struct{ text []byte }

// of is the message of an update's id, a number by its text.
func (t *told) of(update jsontree.Value) *saying {
	id := callID(update.Get("messageId"))
	if s := t.by[id]; s != nil {
		return s
	}
	if t.by == nil {
		t.by = map[string]*saying{}
	}
	s := &saying{}
	t.by[id], t.order = s, append(t.order, s)
	return s
}

// chunk adds a piece.
func (t *told) chunk(update jsontree.Value) {
	content := update.Get("content")
	if text, ok := content.Get("text").Text(); ok && content.Get("type").Is(acp.ContentText) {
		s := t.of(update)
		s.text = append(s.text, text...)
	}
}

// whole takes a message as a whole: without content it says nothing new, null clears it. What is no
// content is passed over.
func (t *told) whole(update jsontree.Value) {
	content := update.Get("content")
	var text []byte
	for block := range content.Children() {
		piece, ok := block.Get("text").Text()
		kind := block.Get("type")
		if kind.Kind() != jsontree.String || kind.Is(acp.ContentText) && !ok {
			return
		}
		if kind.Is(acp.ContentText) {
			text = append(text, piece...)
		}
	}
	if content.Kind() == jsontree.Array || content.Present() && !content.Given() {
		t.of(update).text = text
	}
}

// said is all messages, and the last one that says something.
func (t *told) said() (all, final string) {
	var text strings.Builder
	for _, s := range t.order {
		text.Write(s.text)
		if len(s.text) > 0 {
			final = string(s.text)
		}
	}
	return text.String(), final
}
