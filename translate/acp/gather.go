package acp

import (
	"slices"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// gathered are the pieces of one thing that is no message: a tool's content, a terminal's output, a
// summary, a message between sessions. They have one Raw together: when the thing ends or is told anew,
// when the turn ends, or when there is as much as a Raw holds.
type gathered struct {
	variant  string
	id       string // of the thing, as the peer says it
	frames   []schema.Range
	flags    translate.FlagSet
	payloads []schema.JSON
	size     int    // of the payloads, in bytes
	data     []byte // of a terminal: its bytes
}

// pieceIDs are the members that say of what thing a variant is a piece.
var pieceIDs = map[string]string{
	acp.ToolCallContentChunk:   "toolCallId",
	acp.TerminalOutputChunk:    "terminalId",
	acp.CompactionSummaryChunk: "compactionId",
	acp.SessionMessageChunk:    "messageId",
}

// gathering finds the pieces of a thing; nil if there are none.
func (l *lane) gathering(variant, id string) *gathered {
	for _, g := range l.gathered {
		if g.variant == variant && g.id == id {
			return g
		}
	}
	return nil
}

// gather finds the pieces of a thing, or begins them, and adds the frame to theirs.
func (x *fold) gather(l *lane, variant, id string, flags translate.FlagSet) *gathered {
	g := l.gathering(variant, id)
	if g == nil {
		g = &gathered{variant: variant, id: id}
		l.gathered = append(l.gathered, g)
	}
	g.frames = translate.AddFrame(g.frames, x.seq)
	g.flags |= flags | x.flags | l.flags
	return g
}

// piece folds a piece whose variant says no more than that it is one; ok is false if it does not say of
// what, or what.
func (x *fold) piece(s *session, l *lane, variant string, update jsontree.Value, flags translate.FlagSet) (ok bool) {
	id := string(idText(update.Get(pieceIDs[variant])))
	if id == "" || update.Get("content").Kind() != jsontree.Object {
		return false
	}
	payload := x.payload(update)
	if len(payload) > translate.MaxInlineValue-2 {
		payload = translate.Reference(x.frame)
	}
	if g := l.gathering(variant, id); g != nil && g.size+len(payload) > translate.MaxInlineValue-2 {
		x.endGathering(s, l, g, 0)
	}
	g := x.gather(l, variant, id, flags)
	g.payloads = append(g.payloads, payload)
	g.size += len(payload) + 1
	return true
}

// endPieces gives the pieces of a thing that ends, or is told anew, if there are any.
func (x *fold) endPieces(s *session, l *lane, variant string, id jsontree.Value) {
	if g := l.gathering(variant, string(idText(id))); g != nil {
		x.endGathering(s, l, g, 0)
	}
}

// endGathered gives all that the lane has gathered.
func (x *fold) endGathered(s *session, l *lane, flags translate.FlagSet) {
	for len(l.gathered) > 0 {
		x.endGathering(s, l, l.gathered[0], flags)
	}
}

func (x *fold) endGathering(s *session, l *lane, g *gathered, flags translate.FlagSet) {
	l.gathered = slices.DeleteFunc(l.gathered, func(other *gathered) bool { return other == g })
	var value schema.JSON
	if g.variant == acp.TerminalOutputChunk {
		value = terminalText(g.id, g.data)
	} else {
		value = joinPayloads(g.payloads)
	}
	x.emit(s, &schema.Raw{Source: updateSource(g.variant), Value: value}, g.frames, g.flags|flags)
}
