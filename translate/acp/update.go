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

// variant folds an update that is no chunk of a message; ok is false if its rule cannot read it. It keeps
// nothing of the name, which would be copied for every frame.
func (x *fold) variant(s *session, l *lane, variant string, update jsontree.Value, flags translate.FlagSet) (ok bool) {
	if !acp.KnownUpdate(x.protocolVersion(), variant) {
		x.rawHere(s, sourceUnrecognised, x.value(update), flags|translate.Of(schema.FlagUnrecognised))
		return true
	}
	if kind, isWhole := acp.WholeStream(variant); isWhole {
		return x.whole(s, l, kind, update, flags)
	}
	switch variant {
	case acp.ToolCall:
		return x.toolCall(s, l, update, flags)
	case acp.ToolCallUpdate:
		if x.upserts() {
			return x.toolUpsert(s, l, update, flags)
		}
		return x.toolUpdate(s, l, update, flags)
	case acp.ToolCallContentChunk:
		return x.toolContent(s, l, update, flags)
	case acp.StateUpdate:
		x.stateUpdate(s, l, update)
		return true
	case acp.TerminalUpdate:
		return x.terminal(s, l, update, flags)
	case acp.TerminalOutputChunk:
		return x.terminalChunk(s, l, update, flags)
	case acp.SessionInfoUpdate:
		x.titled(s, update.Get("title"))
	}
	if !x.first {
		switch variant {
		case acp.CompactionSummaryChunk:
			return x.piece(s, l, acp.CompactionSummaryChunk, update, flags)
		case acp.SessionMessageChunk:
			return x.piece(s, l, acp.SessionMessageChunk, update, flags)
		case acp.CompactionUpdate:
			x.endPieces(s, l, acp.CompactionSummaryChunk, update.Get(pieceIDs[acp.CompactionSummaryChunk]))
		case acp.SessionMessage:
			x.endPieces(s, l, acp.SessionMessageChunk, update.Get(pieceIDs[acp.SessionMessageChunk]))
		case acp.SubagentUpdate:
			return x.subagent(s, update, flags)
		}
	}
	x.rawHere(s, updateSource(variant), x.payload(update), flags)
	return true
}
