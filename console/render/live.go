package render

import (
	"slices"
	"strings"

	"github.com/steno-io/steno/console/reading"
	"github.com/steno-io/steno/schema"
)

// typing is a message as it is typed.
type typing struct {
	key   string
	flow  *flow
	shown strings.Builder // all of the message's text that was written
	role  schema.Role
	ch    schema.Channel
	flags []schema.Flag // as its head has them
}

func typingKey(role schema.Role, channel schema.Channel, id string) string {
	return string(role) + "\x00" + string(channel) + "\x00" + id
}

// Delta writes the next piece of a message, an ephemeral event, as it is typed. Other events are not
// written.
func (r *Renderer) Delta(e schema.Event) error {
	switch k := e.Kind.(type) {
	case *schema.Delta:
		r.piece(&e, schema.Answer, k.MessageID, k.TextFragment, k.Reset)
	case *schema.Progress:
		switch d := k.Detail.(type) {
		case *schema.Thinking:
			r.piece(&e, schema.Thought, d.MessageID, d.Text, d.Reset)
		case *schema.Note:
			r.noteTyped(&e, d.Text)
		}
	}
	return r.page.flush()
}

func (r *Renderer) piece(e *schema.Event, channel schema.Channel, id, text string, anew bool) {
	if r.first.IsZero() {
		r.first = e.EmittedAt
	}
	t := r.typist(e, schema.Assistant, channel, id)
	if anew && t.shown.Len() > 0 {
		r.anew(t, "the text starts anew")
	}
	t.feed(text)
}

// Snapshot writes what is open and was not written yet. Nothing of it is written twice: text that was
// typed goes on where it stands.
func (r *Renderer) Snapshot(messages []schema.OpenMessage, tools []schema.OpenTool, notes ...schema.OpenNote) error {
	for _, n := range notes { // progress comes before the answer that it leads to
		r.noteSoFar(&n)
	}
	for i := range tools {
		e := schema.Event{Kind: &tools[i].State, EmittedAt: r.first}
		c := r.card(&e, tools[i].State.ToolID)
		r.drawState(c, &e, c.Update(&e))
	}
	for _, m := range messages {
		if m.Text == "" {
			continue
		}
		e := schema.Event{EmittedAt: r.first}
		if m.TaskID != "" {
			e.Source = schema.Source{Protocol: schema.A2A, TaskID: m.TaskID}
		}
		t := r.typist(&e, m.Role, m.Channel, m.MessageID)
		rest, ok := strings.CutPrefix(m.Text, t.shown.String())
		if !ok {
			r.anew(t, "what was shown is not the text so far, which is")
			rest = m.Text
		}
		t.feed(rest)
	}
	return r.page.flush()
}

// typist makes a message the one that is being typed.
func (r *Renderer) typist(e *schema.Event, role schema.Role, channel schema.Channel, id string) *typing {
	key := typingKey(role, channel, id)
	t := r.typed[key]
	if t != nil && t == r.typing {
		return t
	}
	r.settle()
	s, who := r.speaker(e, role, channel)
	goesOn := t != nil
	if !goesOn {
		t = &typing{key: key, role: role, ch: channel, flags: e.Flags}
		r.typed[key] = t
	} else {
		who += " (goes on)"
	}
	r.head(s, who, e)
	indent, style := textStyle(channel)
	t.flow = r.page.flow(indent, plain, style)
	t.flow.goesOn, t.flow.part = goesOn, partOf(channel)
	r.typing = t
	return t
}

func (t *typing) feed(text string) {
	t.shown.WriteString(text)
	t.flow.feed(text)
}

// anew says why a text is written from its beginning.
func (r *Renderer) anew(t *typing, why string) {
	t.flow.end()
	r.page.put(warn, body+"("+why+")")
	r.page.newline()
	t.shown.Reset()
}

// pause ends the line of what is being typed, since something else is written.
func (r *Renderer) pause() {
	if r.typing == nil {
		return
	}
	r.typing.flow.end()
	r.typing = nil
	later := r.later
	r.later = nil
	for _, e := range later {
		r.event(e)
	}
}

// finish writes what is missing of a message that was typed; false if it was not typed.
func (r *Renderer) finish(e *schema.Event, m *schema.Message) bool {
	key := typingKey(m.Role, m.Channel, m.MessageID)
	t := r.typed[key]
	if t == nil {
		return false
	}
	rest, prefix := strings.CutPrefix(m.Text, t.shown.String())
	if m.Revision > 1 && strings.HasSuffix(m.Text, t.shown.String()) {
		rest, prefix = "", true // what was typed is what the revision adds
	}
	news := slices.DeleteFunc(slices.Clone(e.Flags), func(f schema.Flag) bool { return slices.Contains(t.flags, f) })
	if t != r.typing && (!prefix || rest != "" || len(news) > 0 || m.Content != nil) {
		again := *e
		again.Flags = nil // those that are new stand below
		t = r.typist(&again, m.Role, m.Channel, m.MessageID)
	}
	delete(r.typed, key)
	if !prefix {
		r.anew(t, "the stored text is not what was typed; it is")
		rest = m.Text
	}
	if t == r.typing {
		t.feed(rest)
		t.flow.end()
		r.remarks(m, news)
		r.spoken = true
		r.pause()
	}
	return true
}

// remarks writes what a typed message could not show yet: flags, and parts that are not text.
func (r *Renderer) remarks(m *schema.Message, flags []schema.Flag) {
	indent, _ := textStyle(m.Channel)
	if m.Content != nil {
		for part := range reading.Parse(m.Content).Children() {
			if !part.Get("type").Is("text") {
				r.attachment(indent, part)
			}
		}
	}
	if len(flags) > 0 {
		r.page.put(plain, strings.TrimSuffix(indent, " "))
		for _, f := range flags {
			r.page.put(warn, " ["+reading.OneLine(string(f))+"]")
		}
		r.page.newline()
	}
}
