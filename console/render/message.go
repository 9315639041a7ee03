package render

import (
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// speaker is who a message is from, as people read it.
func (r *Renderer) speaker(e *schema.Event, role schema.Role, channel schema.Channel) (style, string) {
	who := strings.ToLower(oneLine(string(role)))
	s := plain
	switch {
	case role == schema.User:
		return user, "user"
	case channel == schema.Thought:
		s, who = thought, "thought"
	case role == schema.Assistant:
		s, who = agent, "agent"
		if r.peer != "" {
			who += " · " + oneLine(r.peer)
		}
	}
	if e.AgentRole != "" && e.AgentRole != "agent" {
		who += " · " + oneLine(e.AgentRole)
	}
	return s, who
}

func textStyle(channel schema.Channel) (indent string, s style) {
	if channel == schema.Thought {
		return deep, thought
	}
	return body, plain
}

func partOf(channel schema.Channel) Part {
	if channel == schema.Thought {
		return PartThought
	}
	return PartText
}

func (r *Renderer) message(e *schema.Event, m *schema.Message) {
	if m.Role == schema.User {
		r.asked = e.Origin()
	}
	if r.finish(e, m) {
		return
	}
	s, who := r.speaker(e, m.Role, m.Channel)
	if m.Revision > 1 {
		who += " (revised)"
	}
	r.head(s, who, e)
	r.text(m)
	r.spoken = true
}

// text writes a message's text, with what is not text in its place.
func (r *Renderer) text(m *schema.Message) {
	defer r.page.inside(partOf(m.Channel))()
	indent, s := textStyle(m.Channel)
	if m.Content == nil {
		r.page.block(indent, plain, s, m.Text)
		return
	}
	for part := range parse(m.Content).Children() {
		if text, ok := part.Get("text").Text(); ok && part.Get("type").Is("text") {
			r.page.block(indent, plain, s, strings.TrimSpace(text))
			continue
		}
		r.attachment(indent, part)
	}
}

// attachment names a part that is not text.
func (r *Renderer) attachment(indent string, part jsontree.Value) {
	words := []string{kindOf(part)}
	resource := part.Get("resource")
	for _, v := range []jsontree.Value{part.Get("name"), part.Get("title"), part.Get("uri"), resource.Get("uri"), part.Get("mimeType"), resource.Get("mimeType")} {
		if text, ok := v.Text(); ok && text != "" {
			words = append(words, oneLine(text))
		}
	}
	words = append(words, bytesOf(len(part.Raw())))
	r.page.put(plain, indent)
	r.page.put(dim, "["+fit(strings.Join(words, " · "), r.page.room(2))+"]")
	r.page.newline()
}

func kindOf(part jsontree.Value) string {
	if kind, ok := part.Get("type").Text(); ok && kind != "" {
		return strings.ReplaceAll(oneLine(kind), "_", " ")
	}
	return "part"
}

// stopWords are the reasons in words.
var stopWords = map[schema.StopReason]string{
	schema.StopEndTurn:      "end of turn",
	schema.StopToolUse:      "stopped for a tool",
	schema.StopLimitReached: "stopped: limit reached",
	schema.StopCancelled:    "cancelled",
	schema.StopError:        "failed",
	schema.StopOther:        "stopped",
}

func (r *Renderer) stop(e *schema.Event, k *schema.Stop) {
	s := dim
	switch k.Reason {
	case schema.StopError:
		s = bad
	case schema.StopLimitReached, schema.StopCancelled, schema.StopOther:
		s = warn
	}
	words := stopWords[k.Reason]
	if words == "" {
		words = "stopped: " + oneLine(string(k.Reason))
	}
	if k.Detail != "" {
		words += ": " + oneLine(k.Detail)
	}
	r.pause()
	r.task(e)
	r.told = e.WorkerSeq
	delete(r.typed, noteKey(e))
	r.current = textBlock
	r.line(s, markStop, words, "", e)
}

func (r *Renderer) progress(e *schema.Event) {
	p, ok := e.Kind.(*schema.Progress)
	if !ok {
		return // a piece, which Delta writes
	}
	switch d := p.Detail.(type) {
	case *schema.Note:
		if e.Source.Protocol == schema.A2A {
			r.noteA2A(e, d.Text)
			return
		}
		r.line(dim, markNote, oneLine(d.Text), "", e)
	case *schema.UsageEstimate:
		var words []string
		if d.InputTokens != nil {
			words = append(words, count(int(*d.InputTokens), "token")+" in")
		}
		if d.OutputTokens != nil {
			words = append(words, count(int(*d.OutputTokens), "token")+" out")
		}
		r.line(dim, markNote, "usage", strings.Join(words, ", "), e)
	}
}
