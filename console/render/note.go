package render

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/steno-io/steno/schema"
)

func noteKey(e *schema.Event) string { return "note\x00" + e.Source.TaskID }

// noteTyped writes a piece of progress as it comes. Pieces are joined as they will be when they are
// stored: on one line where white space stands between them, else each on its own.
func (r *Renderer) noteTyped(e *schema.Event, text string) {
	if r.first.IsZero() {
		r.first = e.EmittedAt
	}
	key := noteKey(e)
	t := r.typed[key]
	if t == nil {
		t = &typing{key: key}
		r.typed[key] = t
	}
	if t != r.typing {
		r.settle()
		r.task(e)
		r.lines()
		t.flow = r.page.flow(markNote+" ", dim, dim)
		r.typing = t
	} else if !touches(t.shown.String(), text) {
		t.flow.feed("\n")
	}
	t.feed(text)
}

// touches reports whether white space stands between two texts.
func touches(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	return unicode.IsSpace(last) || unicode.IsSpace(first)
}

// noteShown ends progress that was written as it came; false if it was not, or not like that.
func (r *Renderer) noteShown(e *schema.Event, text string) bool {
	key := noteKey(e)
	t := r.typed[key]
	if t == nil || words(t.shown.String()) != words(text) {
		return false
	}
	delete(r.typed, key)
	if t == r.typing {
		r.pause()
	}
	return true
}

// words is a text without white space.
func words(text string) string { return strings.Join(strings.Fields(text), "") }

// noteA2A writes progress, and what the fold itself notes about how a task stands.
func (r *Renderer) noteA2A(e *schema.Event, text string) {
	s, mark := dim, markNote
	for _, known := range []struct {
		prefix string
		style  style
		mark   string
	}{
		{"interrupted: ", warn, markWaiting}, {"resumed: ", plain, markRunning}, {"stream error", bad, markBad},
		{"stream ended without a terminal state", warn, markAlarm}, {"conflicting terminal state: ", warn, markAlarm},
	} {
		if strings.HasPrefix(text, known.prefix) {
			s, mark = known.style, known.mark
			break
		}
	}
	r.told = e.WorkerSeq
	if r.noteShown(e, text) {
		return
	}
	r.pause()
	r.task(e)
	if one := oneLine(text); !strings.Contains(strings.TrimSpace(text), "\n") && columns(one)+len(mark)+1 <= r.page.room(0) {
		r.line(s, mark, one, "", e)
		return
	}
	r.lines()
	r.excerpt(mark+" ", s, text)
	if len(e.Flags) > 0 || r.o.Times {
		r.page.put(plain, strings.TrimSuffix(body, " "))
		r.edge(e)
	}
}
