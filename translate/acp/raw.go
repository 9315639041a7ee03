package acp

import (
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// Source labels of Raw events that are not a method's own.
const (
	sourceNoise         = "acp/noise"
	sourceNotRPC        = "acp/not_jsonrpc"
	sourceUnmatched     = "acp/unmatched"
	sourceStderr        = "stderr"
	sourcePromptRequest = acp.MethodSessionPrompt + "/request"
	sourcePromptAnswer  = acp.MethodSessionPrompt
	sourceDecision      = acp.MethodRequestPermission + "/decision"
	sourceUnrecognised  = acp.MethodSessionUpdate + "/unrecognised"
	sourceUndecodable   = acp.MethodSessionUpdate + "/undecodable"
	sourceRefused       = "refused/"
	sourceAnswer        = "/response"
)

func updateSource(variant string) string { return acp.MethodSessionUpdate + "/" + variant }

// rawHere gives the verbatim Raw of the frame being folded.
func (x *fold) rawHere(s *session, source string, value schema.JSON, flags translate.FlagSet) {
	x.emitHere(s, &schema.Raw{Source: source, Value: translate.Bounded(x.frame, value)}, flags)
}

// value is a value as sent, for a Raw; null where there is none.
func (x *fold) value(v jsontree.Value) schema.JSON {
	if !v.Present() {
		return schema.JSON("null")
	}
	return translate.Verbatim(v.Raw())
}

// payload is an update without the tag that its source label says.
func (x *fold) payload(update jsontree.Value) schema.JSON {
	dst := []byte{'{'}
	for member := range update.Children() {
		if string(member.Name()) != "sessionUpdate" {
			if len(dst) > 1 {
				dst = append(dst, ',')
			}
			dst = append(dst, member.NameRaw()...)
			dst = append(dst, ':')
			dst = schema.AppendCompact(dst, member.Raw())
		}
	}
	return translate.Compacted(append(dst, '}'))
}
