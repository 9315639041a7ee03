package acp

import (
	"slices"
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// prompt folds a session/prompt: what the user said, at once. key is that of its answer; nil if there
// will be none.
func (x *fold) prompt(params jsontree.Value, s *session, key *requestKey) {
	x.closeNameless(s, s.live, schema.BoundaryPrompt)
	text, content := x.promptText(params.Get("prompt"))
	if text != "" || content != nil {
		id, ok := params.Get("messageId").Text()
		if !ok || id == "" {
			id = x.newMessageID()
		}
		x.emitHere(s, &schema.Message{
			Role: schema.User, Text: text, MessageID: id, Channel: schema.Answer,
			Boundary: schema.BoundaryPrompt, Content: content,
		}, 0)
	}
	if key != nil {
		s.prompts = append(s.prompts, prompt{key: *key, text: text})
	}
	x.rawHere(s, sourcePromptRequest, x.value(params), 0)
}

// promptText joins a prompt's text blocks. The blocks themselves are kept where there is more to
// them than one text.
func (x *fold) promptText(prompt jsontree.Value) (string, schema.JSON) {
	var text strings.Builder
	dst := []byte{'['}
	blocks, plain, empty := 0, true, true
	for block := range prompt.Children() {
		if blocks++; blocks > 1 {
			dst = append(dst, ',')
		}
		t, ok := block.Get("text").Text()
		if ok = ok && block.Get("type").Is(acp.ContentText); ok {
			text.WriteString(t)
		}
		empty = empty && ok && t == ""
		members := 0
		for range block.Children() {
			members++
		}
		plain = plain && ok && members == 2
		dst = append(dst, x.part(block)...)
	}
	if empty || prompt.Kind() != jsontree.Array || blocks == 1 && plain {
		return text.String(), nil
	}
	return text.String(), append(dst, ']')
}

// endTurn ends a turn by the answer to its prompt: open messages, the answer as sent, the Stop. The
// answer to a prompt that waits behind another ends only its own turn: what is open belongs to the
// one before.
func (x *fold) endTurn(s *session, v jsontree.Value, key requestKey, source string, flags translate.FlagSet) {
	stop, known := stopOf(v)
	i := max(0, slices.IndexFunc(s.prompts, func(p prompt) bool { return p.key == key }))
	if i == 0 {
		s.working = false // an idle state behind it ends nothing more
		x.closeStreams(s, s.live, schema.BoundaryTurnEnd, 0)
		if stop.Reason == schema.StopCancelled {
			x.interruptTools(s, s.live, nil)
		}
	}
	x.usage(s, v.Get("result").Get("usage"))
	x.rawHere(s, source, x.value(v), 0)
	if !known {
		flags |= translate.Of(schema.FlagUnrecognised)
	}
	x.emitHere(s, &stop, flags)
	if i < len(s.prompts) {
		s.answered = s.prompts[i].text
		s.prompts = slices.Delete(s.prompts, i, i+1)
	}
	s.turns++
}

// stopOf reads how the turn stopped. It never guesses: what is no stop reason is Other with its
// text, empty if there is none.
func stopOf(v jsontree.Value) (stop schema.Stop, known bool) {
	if e := v.Get("error"); e.Given() {
		return schema.Stop{Reason: schema.StopError, Detail: errorText(e)}, true
	}
	word := v.Get("result").Get("stopReason")
	if text, ok := word.Text(); ok {
		return acp.Stop(text)
	}
	return schema.Stop{Reason: schema.StopOther, Detail: string(translate.Whole(word.Raw()))}, false
}

// errorText is an error's message; its own text where it has none.
func errorText(e jsontree.Value) string {
	message, ok := e.Get("message").Text()
	if !ok {
		if message, ok = e.Text(); !ok {
			message = string(translate.Whole(e.Raw()))
		}
	}
	return message
}
