package a2a

import (
	wire "github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// thoughtMarks are the keys of a part's metadata that mark it as reasoning, where they are true.
var thoughtMarks = []string{"adk_thought", "thought"}

// isThought reports whether a part is marked as reasoning.
func isThought(part jsontree.Value) bool {
	meta := wire.Metadata(part)
	if meta.Kind() != jsontree.Object {
		return false
	}
	for _, mark := range thoughtMarks {
		if string(meta.Get(mark).Raw()) == "true" {
			return true
		}
	}
	return false
}

// marksThought reports whether the metadata of an update marks all of its message as reasoning, as
// gemini-cli does.
func marksThought(meta jsontree.Value) bool {
	return meta.Get("coderAgent").Get("kind").Is("thought")
}

// thoughtOf is the text of reasoning that stands in a data part.
func thoughtOf(data jsontree.Value) string {
	subject, _ := data.Get("subject").Text()
	description, _ := data.Get("description").Text()
	if subject != "" && description != "" {
		return subject + "\n" + description
	}
	return subject + description
}
