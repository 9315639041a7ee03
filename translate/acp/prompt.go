package acp

import (
	"slices"
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// prompt folds a session/prompt: what the user said, at once.
func (x *fold) prompt(params jsontree.Value, s *session) {
	x.closeNameless(s, s.live, schema.BoundaryPrompt)
	text, content := x.promptText(params.Get("prompt"))
	if text != "" || content != nil {
		id := x.id.UUID(messageName(x.seq)).String()
		if named, ok := params.Get("messageId").Text(); ok && named != "" {
			id = named
		}
		x.emitHere(s, &schema.Message{
			Role: schema.User, Text: text, MessageID: id, Channel: schema.Answer,
			Boundary: schema.BoundaryPrompt, Content: content,
		}, 0)
	}
	if len(s.prompts) == 0 {
		s.echoes = nil
	}
	s.prompts = append(s.prompts, text)
	s.echoes = append(s.echoes, text)
	x.rawHere(s, sourcePromptRequest, x.value(params), 0)
}

// promptText joins a prompt's text blocks. The blocks themselves are kept where there is more to
// them than one text.
func (x *fold) promptText(prompt jsontree.Value) (string, schema.JSON) {
	var text strings.Builder
	dst := []byte{'['}
	blocks, plain := 0, true
	for block := range prompt.Children() {
		if blocks++; blocks > 1 {
			dst = append(dst, ',')
		}
		t, ok := block.Get("text").Text()
		if ok = ok && block.Get("type").Is(acp.ContentText); ok {
			text.WriteString(t)
		}
		members := 0
		for range block.Children() {
			members++
		}
		plain = plain && ok && members == 2
		dst = append(dst, x.part(block)...)
	}
	if blocks == 0 || prompt.Kind() != jsontree.Array || blocks == 1 && plain {
		return text.String(), nil
	}
	return text.String(), append(dst, ']')
}

// endTurn ends the turn of a session by the answer to its prompt: open messages, the answer as sent,
// the Stop.
func (x *fold) endTurn(s *session, v jsontree.Value, source string, flags translate.FlagSet) {
	x.closeStreams(s, s.live, schema.BoundaryTurnEnd, 0)
	stop, known := stopOf(v)
	if stop.Reason == schema.StopCancelled {
		x.interruptTools(s, s.live)
	}
	x.rawHere(s, source, x.value(v), 0)
	if !known {
		flags |= translate.Of(schema.FlagUnrecognised)
	}
	x.emitHere(s, &stop, flags)
	if len(s.prompts) > 0 {
		s.prompts = slices.Delete(s.prompts, 0, 1)
	}
	s.turns++
}

// stopOf reads how the turn stopped. It never guesses: an answer without a stop reason is Other with
// an empty word.
func stopOf(v jsontree.Value) (stop schema.Stop, known bool) {
	if e := v.Get("error"); e.Given() {
		message, ok := e.Get("message").Text()
		if !ok {
			message = string(whole(e))
		}
		return schema.Stop{Reason: schema.StopError, Detail: message}, true
	}
	word, ok := v.Get("result").Get("stopReason").Text()
	if !ok {
		return schema.Stop{Reason: schema.StopOther}, false
	}
	return acp.Stop(word)
}
