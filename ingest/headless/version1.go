package headless

import (
	"bytes"
	"fmt"

	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// version1 is version 1 of the protocol: the answer to the prompt is the end of the turn.
type version1 struct{ answer answer }

// introduce1 says who the client is, and what it serves.
func introduce1(hello object, o Options) {
	hello["clientInfo"] = object{"name": "steno", "title": "steno run", "version": o.Version}
	hello["clientCapabilities"] = object{
		"fs":       object{"readTextFile": o.FS, "writeTextFile": o.FS},
		"terminal": o.Terminal,
	}
}

func (*version1) session(cwd string) object { return object{"cwd": cwd, "mcpServers": []any{}} }

func (*version1) about(params jsontree.Value) (call jsontree.Value, title string) {
	tool := params.Get("toolCall")
	title, _ = tool.Get("title").Text()
	return tool.Get("toolCallId"), title
}

func (*version1) withdrawn() (any, *failure) { return nil, cancelledOnRequest() }

func (v *version1) hear(update jsontree.Value) []byte {
	v.answer.hear(update)
	return nil
}

func (*version1) answered(result jsontree.Value) []byte { return whole(result) }

// stop takes what is no string by its JSON text.
func (*version1) stop(end jsontree.Value) (word string, err error) {
	reason := end.Get("stopReason")
	word, ok := reason.Text()
	if !ok {
		word = cut(reason.Raw())
	}
	if _, known := acp.Stop(word); !ok || !known {
		return word, fmt.Errorf("%w %q", ErrStopReason, cut([]byte(word)))
	}
	return word, nil
}

func (v *version1) said() (all, final string) { return v.answer.all.String(), v.answer.final.String() }

// whole is a value's text to be kept; null for one that is absent.
func whole(v jsontree.Value) []byte {
	if !v.Present() {
		return []byte("null")
	}
	return bytes.Clone(v.Raw())
}
