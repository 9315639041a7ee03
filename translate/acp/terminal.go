package acp

import (
	"encoding/base64"
	"unicode/utf8"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// terminalBytes is how much of a terminal's output one Raw holds at most, in bytes.
const terminalBytes = 32 << 10

// terminal folds what is new about a terminal of the agent; ok is false if it has no id. Its output so far
// ends where the terminal does, or where the update says all of it anew.
func (x *fold) terminal(s *session, l *lane, update jsontree.Value, flags translate.FlagSet) (ok bool) {
	id := update.Get("terminalId")
	if len(idText(id)) == 0 {
		return false
	}
	if update.Get("output").Present() || update.Get("exitStatus").Given() {
		x.endPieces(s, l, acp.TerminalOutputChunk, id)
	}
	x.rawHere(s, updateSource(acp.TerminalUpdate), x.payload(update), flags)
	return true
}

// terminalChunk folds bytes that a terminal gave. They are joined before they are read as text, since a
// chunk may end inside a character. ok is false if there is no id, or no base64.
func (x *fold) terminalChunk(s *session, l *lane, update jsontree.Value, flags translate.FlagSet) (ok bool) {
	id := string(idText(update.Get("terminalId")))
	text, isText := update.Get("data").Text()
	data, err := base64.StdEncoding.DecodeString(text)
	if id == "" || !isText || err != nil {
		return false
	}
	g := l.gathering(acp.TerminalOutputChunk, id)
	if len(data) > terminalBytes {
		if g != nil {
			x.endGathering(s, l, g, 0)
		}
		x.rawHere(s, updateSource(acp.TerminalOutputChunk), append(terminalID(id), translate.Reference(x.frame)[1:]...), flags)
		return true
	}
	var rest []byte
	if g != nil && len(g.data)+len(data) > terminalBytes {
		whole := len(g.data) - cutOff(g.data)
		g.data, rest = g.data[:whole], g.data[whole:]
		x.endGathering(s, l, g, 0)
	}
	g = x.gather(l, acp.TerminalOutputChunk, id, flags)
	g.data = append(append(g.data, rest...), data...)
	return true
}

// cutOff is how many bytes at the end begin a character that goes on behind them: it stands whole in the
// Raw that has its last byte.
func cutOff(data []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(data); n++ {
		if tail := data[len(data)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// terminalID begins the value of a terminal's output.
func terminalID(id string) schema.JSON {
	return append(schema.AppendString([]byte(`{"terminalId":`), id), ',')
}

// terminalText is a terminal's output as a Raw holds it: its text, or its bytes where they are none, or
// are less than the text's escapes.
func terminalText(id string, data []byte) schema.JSON {
	dst := terminalID(id)
	if utf8.Valid(data) {
		if value := append(schema.AppendString(append(dst, `"text":`...), string(data)), '}'); len(value) <= translate.MaxInlineValue {
			return value
		}
	}
	return append(dst, translate.Base64(data)[1:]...)
}
