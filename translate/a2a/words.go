package a2a

import (
	"github.com/steno-io/steno/schema"
	wire "github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// words are what the parts of a message or an artifact say.
type words struct {
	text    string
	thought string
	pieces  []piece // parts that are neither text nor a tool's
	pure    bool    // there are only text parts, or none
}

// piece is a part that has a Raw of its own.
type piece struct {
	label string
	value schema.JSON
	same  digest // equal for what two dialects write differently
	flags translate.FlagSet
}

// words reads the parts of v, tools' parts at once; text parts are joined by sep. meta is the metadata
// of the object around v.
func (x *fold) words(t *task, v jsontree.Value, sep string, meta jsontree.Value) words {
	w := words{pure: true}
	texts, thoughts := 0, 0
	allThought := marksThought(meta)
	for _, part := range x.parts(v) {
		kind, value := wire.ReadPart(part)
		if kind == wire.TextPart {
			text, _ := value.Text()
			if allThought || isThought(part) {
				w.thought = join(w.thought, text, sep, &thoughts)
			} else {
				w.text = join(w.text, text, sep, &texts)
			}
			continue
		}
		if kind == wire.DataPart && allThought {
			if text := thoughtOf(value); text != "" {
				w.thought = join(w.thought, text, sep, &thoughts)
				w.pure = false
				continue
			}
		}
		w.pure = false
		if kind == wire.DataPart && t != nil && x.tool(t, part, value) {
			continue
		}
		w.pieces = append(w.pieces, piece{
			label: x.partLabel(kind), value: translate.Bounded(x.frame, translate.Verbatim(part.Raw())), flags: x.ownFlags(),
			same: sum(append([]byte(kind+" "), translate.Verbatim(wire.PartContent(kind, value).Raw())...)),
		})
	}
	return w
}

// parts are the parts of v, until the next call.
func (x *fold) parts(v jsontree.Value) []jsontree.Value {
	x.room = wire.AppendParts(x.room[:0], v)
	return x.room
}

func join(text, next, sep string, count *int) string {
	*count++
	if *count == 1 {
		return next
	}
	return text + sep + next
}

// pieces gives one Raw a part.
func (x *fold) pieces(t *task, pieces []piece, flags translate.FlagSet) {
	for _, p := range pieces {
		x.emitHere(t, &schema.Raw{Source: p.label, Value: p.value}, flags|p.flags)
	}
}
