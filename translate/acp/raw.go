package acp

import (
	"unicode/utf8"

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
	x.emitHere(s, &schema.Raw{Source: source, Value: x.bounded(value)}, flags)
}

// bounded puts the frame's reference in the place of a value that is too large.
func (x *fold) bounded(value schema.JSON) schema.JSON {
	if len(value) > translate.MaxInlineValue {
		return translate.Reference(x.frame)
	}
	return value
}

// value is a value as sent, for a Raw; null where there is none.
func (x *fold) value(v jsontree.Value) schema.JSON {
	if !v.Present() {
		return schema.JSON("null")
	}
	return verbatim(v.Raw())
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
	return verbatimCompact(append(dst, '}'))
}

// verbatim is JSON as sent, without insignificant white space; what is not valid UTF-8 goes in as
// base64, since an event is a JSON text.
func verbatim(raw []byte) schema.JSON {
	return verbatimCompact(schema.AppendCompact(make([]byte, 0, len(raw)), raw))
}

func verbatimCompact(compact []byte) schema.JSON {
	if utf8.Valid(compact) {
		return compact
	}
	return quoteBytes(compact)
}

// whole is JSON for the kinds that keep their values whole: as sent, with U+FFFD for invalid bytes,
// which can stand only inside its strings. Empty where v is absent or null.
func whole(v jsontree.Value) schema.JSON {
	if !v.Given() {
		return nil
	}
	compact := schema.AppendCompact(nil, v.Raw())
	if utf8.Valid(compact) {
		return compact
	}
	valid := make([]byte, 0, len(compact)+8)
	for len(compact) > 0 {
		r, size := utf8.DecodeRune(compact)
		valid = utf8.AppendRune(valid, r)
		compact = compact[size:]
	}
	return valid
}
