package acp

import (
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// update folds a session/update by its variant. What the variant's own rule cannot read is kept whole
// as undecodable, a variant that is not known as unrecognised.
func (x *fold) update(v, params jsontree.Value) {
	update := params.Get("update")
	tag, tagged := update.Get("sessionUpdate").Bytes()
	s, named := x.named(params)
	if !named || !tagged {
		x.rawHere(s, sourceUndecodable, x.value(v), s.agentFlags())
		return
	}
	l, flags := s.lane(), s.agentFlags()
	if kind, isChunk := acp.ChunkStream(string(tag)); isChunk {
		if !x.chunk(s, l, kind, update, flags) {
			x.rawHere(s, sourceUndecodable, x.value(v), flags)
		}
		return
	}
	if !x.variant(s, l, string(tag), update, flags) {
		x.rawHere(s, sourceUndecodable, x.value(v), flags)
	}
}

func (x *fold) variant(s *session, l *lane, variant string, update jsontree.Value, flags translate.FlagSet) (ok bool) {
	switch {
	case variant == acp.ToolCall:
		return x.toolCall(s, l, update, flags)
	case variant == acp.ToolCallUpdate:
		return x.toolUpdate(s, l, update, flags)
	case !acp.KnownUpdate(1, variant):
		x.rawHere(s, sourceUnrecognised, x.value(update), flags|translate.Of(schema.FlagUnrecognised))
		return true
	case variant == acp.SessionInfoUpdate:
		x.titled(s, update.Get("title"))
	}
	x.rawHere(s, updateSource(variant), x.payload(update), flags)
	return true
}
