package headless

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// What version 1 of the protocol says in its own way stands in this file alone: how a client introduces
// itself, a session, a prompt, its cancelling, a decision, and how a turn says that it has ended.

// object is a JSON object whose members stand in the order of their names.
type object map[string]any

// hello offers the newest version that this client speaks, and what it serves.
func (c *client) hello() object {
	return object{
		"protocolVersion": acp.Version1,
		"clientCapabilities": object{
			"fs":       object{"readTextFile": c.options.FS, "writeTextFile": c.options.FS},
			"terminal": c.options.Terminal,
		},
		"clientInfo": object{"name": "steno", "title": "steno run", "version": c.options.Version},
	}
}

// gate refuses every version but the offered one.
func gate(hello jsontree.Value) error {
	version := hello.Get("protocolVersion")
	if string(version.Raw()) == strconv.Itoa(acp.Version1) {
		return nil
	}
	answered := "no version"
	if version.Present() {
		answered = "version " + cut(version.Raw())
	}
	return fmt.Errorf("%w: this client speaks version %d, the agent answered with %s", ErrVersion, acp.Version1, answered)
}

func (c *client) newSession() object {
	return object{"cwd": c.options.Cwd, "mcpServers": []any{}}
}

func sessionOf(made jsontree.Value) (id string, ok bool) { return made.Get("sessionId").Text() }

func (c *client) prompt(session string) object {
	return object{"sessionId": session, "prompt": []object{{"type": acp.ContentText, "text": c.options.Prompt}}}
}

func (c *client) cancelTurn() object {
	c.mu.Lock()
	defer c.mu.Unlock()
	return object{"sessionId": c.session.SessionID}
}

// stopOf reads how the turn stopped, from the answer to its prompt. What is no string is its JSON text.
func stopOf(ended jsontree.Value) (word string, known bool) {
	reason := ended.Get("stopReason")
	word, ok := reason.Text()
	if !ok {
		return cut(reason.Raw()), false
	}
	_, known = acp.Stop(word)
	return word, known
}

// outcome is the result of a permission request: an option, or cancelled.
func outcome(option string, selected bool) object {
	if !selected {
		return object{"outcome": object{"outcome": acp.OutcomeCancelled}}
	}
	return object{"outcome": object{"outcome": acp.OutcomeSelected, "optionId": option}}
}

// cut shortens what a peer said, for an error: to 200 bytes, between characters.
func cut(text []byte) string {
	const most = 200
	if len(text) <= most {
		return string(text)
	}
	end := most
	for end > most-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return string(text[:end]) + "…"
}
