package render

import (
	"strings"

	"github.com/steno-io/steno/console/reading"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// speaker is who a message is from, as people read it.
func (r *Renderer) speaker(e *schema.Event, role schema.Role, channel schema.Channel) (style, string) {
	who := r.reader.Speaker(e, role, channel)
	switch {
	case role == schema.User:
		return user, who
	case channel == schema.Thought:
		return thought, who
	case role == schema.Assistant:
		return agent, who
	}
	return plain, who
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
	for part := range reading.Parse(m.Content).Children() {
		if text, ok := part.Get("text").Text(); ok && part.Get("type").Is("text") {
			r.page.block(indent, plain, s, strings.TrimSpace(text))
			continue
		}
		r.attachment(indent, part)
	}
}

// attachment names a part that is not text.
func (r *Renderer) attachment(indent string, part jsontree.Value) {
	r.page.put(plain, indent)
	r.page.put(dim, "["+fit(reading.AttachmentOf(part), r.page.room(2))+"]")
	r.page.newline()
}

func (r *Renderer) stop(e *schema.Event, k *schema.Stop) {
	r.pause()
	r.task(e)
	delete(r.typed, noteKey(e))
	r.current = textBlock
	r.says(e, reading.StopOf(k))
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
		r.line(dim, reading.MarkNote, reading.OneLine(d.Text), "", e)
	case *schema.UsageEstimate:
		r.says(e, reading.UsageOf(d))
	}
}
