package headless

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// speech is one version of the protocol: what it says in its own way, and what it has heard in the turn.
// Whoever listens calls its methods, but for session, stop and said.
type speech interface {
	// session is what session/new asks for.
	session(cwd string) object
	// about reads what a permission request is about: the id of a tool call, absent if it names none, and
	// what it is called.
	about(params jsontree.Value) (call jsontree.Value, title string)
	// withdrawn answers a permission request that the agent has taken back.
	withdrawn() (any, *failure)
	// hear takes an update of the session since the prompt was sent. Where the turn has ended, it gives the
	// JSON that says how; else nil.
	hear(update jsontree.Value) []byte
	// answered takes the result that answers the prompt, and gives what hear gives.
	answered(result jsontree.Value) []byte
	// stop reads how the turn stopped, from what hear or answered gave: the word as sent. The error says
	// why that is no end that the protocol knows.
	stop(end jsontree.Value) (word string, err error)
	// said is all that the agent has said in the turn, and the last message of it.
	said() (all, final string)
}

// offered is the newest version that a run offers. Files and terminals of the client are version 1's.
func (o Options) offered() int {
	switch {
	case o.ACP != 0:
		return o.ACP
	case o.FS || o.Terminal:
		return acp.Version1
	}
	return acp.Version2
}

// hello is how the client introduces itself, so that an agent of any version that it offers reads it.
func (c *client) hello() object {
	offered := c.options.offered()
	hello := object{"protocolVersion": offered}
	introduce1(hello, c.options)
	if offered >= acp.Version2 {
		introduce2(hello, c.options)
	}
	return hello
}

// negotiate takes the version that the agent has answered with: any up to the offered one.
func negotiate(offered int, hello jsontree.Value) (speech, error) {
	version := hello.Get("protocolVersion")
	for n := acp.Version1; n <= offered; n++ {
		if string(version.Raw()) == strconv.Itoa(n) {
			return speechOf(n), nil
		}
	}
	answered := "answered with no version"
	if version.Present() {
		answered = "answered with version " + cut(version.Raw())
	}
	return nil, mismatch(offered, answered)
}

func speechOf(version int) speech {
	if version == acp.Version2 {
		return &version2{}
	}
	return &version1{}
}

// mismatch is ErrVersion with the versions of both sides.
func mismatch(offered int, answered string) error {
	speaks := "version 1"
	if offered > acp.Version1 {
		speaks = "versions 1 and 2"
	}
	return fmt.Errorf("%w: this client speaks %s, the agent %s", ErrVersion, speaks, answered)
}

// refusedVersion is the error of an agent that has none of the offered versions; nil for any other.
func refusedVersion(offered int, e jsontree.Value) error {
	if string(e.Get("code").Raw()) != strconv.Itoa(acp.CodeUnsupportedVersion) {
		return nil
	}
	supported := e.Get("data").Get("supported")
	if !supported.Given() {
		return mismatch(offered, "refuses that: "+refusal(e).Error())
	}
	return mismatch(offered, "supports "+cut(supported.Raw()))
}

// object is a JSON object whose members stand in the order of their names.
type object map[string]any

func sessionOf(made jsontree.Value) (id string, ok bool) { return made.Get("sessionId").Text() }

func (c *client) prompt(session string) object {
	return object{"sessionId": session, "prompt": []object{{"type": acp.ContentText, "text": c.options.Prompt}}}
}

func (c *client) cancelTurn() object {
	c.mu.Lock()
	defer c.mu.Unlock()
	return object{"sessionId": c.session.SessionID}
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
