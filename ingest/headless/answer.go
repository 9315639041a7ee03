package headless

import (
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// answer collects what the agent says, by the boundaries that a transcript has: another message id; for
// a message without one, another stream or a tool call.
type answer struct {
	all   strings.Builder
	final strings.Builder // the last message that says something
	open  bool
	id    string // of the open message; empty: it has none
	fresh bool   // nothing was said in it yet
}

// hear takes an update of the session.
func (a *answer) hear(update jsontree.Value) {
	variant, _ := update.Get("sessionUpdate").Text()
	stream, chunk := acp.ChunkStream(variant)
	if chunk && stream == (acp.Stream{Role: schema.Assistant, Channel: schema.Answer}) {
		a.say(update)
		return
	}
	if (chunk || variant == acp.ToolCall) && a.id == "" {
		a.open = false
	}
}

func (a *answer) say(chunk jsontree.Value) {
	content := chunk.Get("content")
	text, ok := content.Get("text").Text()
	if block := content.Get("type"); block.Kind() != jsontree.String || block.Is(acp.ContentText) && !ok {
		return // it is no chunk
	}
	id := chunk.Get("messageId")
	name, ok := id.Text()
	if !ok && id.Given() {
		name = string(id.Raw())
	}
	if !a.open || name != "" && name != a.id {
		a.open, a.id, a.fresh = true, name, true
	}
	if text == "" || !content.Get("type").Is(acp.ContentText) {
		return
	}
	if a.fresh {
		a.final.Reset()
		a.fresh = false
	}
	a.final.WriteString(text)
	a.all.WriteString(text)
}
