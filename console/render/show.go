package render

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/sink"
)

// Transcript writes the heading of a transcript.
func (r *Renderer) Transcript(s sink.Summary) error {
	r.about(s)
	title := oneLine(s.Title)
	if title == "" {
		title = "untitled"
	}
	r.page.put(heading, fit(title, r.page.room(0)))
	r.page.newline()
	r.page.put(dim, s.Key)
	r.page.newline()
	words := []string{strings.TrimSpace(string(s.Protocol) + " " + s.Dialect), oneLine(s.Agent), string(s.Status),
		count(int(s.Frames), "frame") + ", " + count(int(s.Events), "event")}
	if s.Unaccounted != 0 {
		words = append(words, count(int(s.Unaccounted), "frame")+" unaccounted")
	}
	r.dots(words...)
	words = words[:0]
	if !s.FirstAt.IsZero() {
		words = append(words, s.FirstAt.UTC().Format("2006-01-02 15:04:05 UTC"), span(s.LastAt.Sub(s.FirstAt)))
	}
	if s.Cwd != "" {
		words = append(words, "in "+oneLine(s.Cwd))
	}
	r.dots(words...)
	r.current, r.headed = textBlock, true
	return r.page.flush()
}

// about takes over what is said of a transcript beside its events.
func (r *Renderer) about(s sink.Summary) {
	r.first = s.FirstAt
	if s.Protocol == schema.A2A {
		r.peer = s.Agent
	}
}

// dots writes the words that there are on one line.
func (r *Renderer) dots(words ...string) {
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	r.page.block("", dim, dim, strings.Join(words, " · "))
}

// Show writes a whole transcript: its heading, then its events where their first frames stand, each
// tool's card complete. It closes the renderer.
func (r *Renderer) Show(s sink.Summary, events iter.Seq2[schema.Event, error]) error {
	var all []schema.Event
	for e, err := range events {
		if err != nil {
			return err
		}
		all = append(all, e)
	}
	if err := r.Transcript(s); err != nil {
		return err
	}
	r.whole = true
	for i := range all {
		r.gather(&all[i])
	}
	clear(r.uses) // told anew as it is drawn: an id may be used again
	r.places = placesOf(all)
	r.atFrames = timesOf(all)
	slices.SortStableFunc(all, func(a, b schema.Event) int {
		return cmp.Or(cmp.Compare(r.places[a.Origin()], r.places[b.Origin()]), cmp.Compare(a.WorkerSeq, b.WorkerSeq), cmp.Compare(a.Part, b.Part))
	})
	for i := range all {
		r.event(&all[i])
		if r.page.out.Buffered() > 1<<16 {
			if err := r.page.flush(); err != nil {
				return err
			}
		}
	}
	return r.Close()
}

// gather puts what an event says of a tool on its card.
func (r *Renderer) gather(e *schema.Event) {
	if id := e.Source.TaskID; e.Source.Protocol == schema.A2A && id != "" && e.Kind.Tag() != schema.TagRaw {
		r.several = r.several || r.firstTask != "" && r.firstTask != id
		r.firstTask = id
	}
	switch k := e.Kind.(type) {
	case *schema.ToolCall, *schema.ToolResult, *schema.ToolState:
		r.card(e, toolID(e)).update(e)
	case *schema.Raw:
		switch k.Source {
		case acp.MethodRequestPermission:
			v := parse(k.Value)
			if c := r.asker(e, v.Get("toolCall").Get("toolCallId")); c != nil {
				c.asks = append(c.asks, ask{offered: offered(v.Get("options"))})
			}
		case updatePrefix + acp.ToolCall, updatePrefix + acp.ToolCallUpdate:
			if c, edits := r.edited(e, k); c != nil {
				c.edits = edits
			}
		case acp.MethodRequestPermission + "/decision":
			v := parse(k.Value)
			if c := r.asker(e, v.Get("toolCallId")); c != nil && len(c.asks) > 0 {
				c.decide(decide(v))
			}
		}
	}
}

// decide answers the first question that has no answer yet.
func (c *card) decide(a ask) {
	for i := range c.asks {
		if c.asks[i].decided == "" {
			c.asks[i] = a
			return
		}
	}
}
