package render

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/steno-io/steno/console/reading"
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
		t.flow = r.page.flow(reading.MarkNote+" ", dim, dim)
		r.typing = t
	} else if !touches(t.shown.String(), text) {
		t.flow.feed("\n")
	}
	t.feed(text)
}

// noteSoFar writes what of progress was not written yet. Text that is not what was written comes with the
// stored note.
func (r *Renderer) noteSoFar(n *schema.OpenNote) {
	e := schema.Event{EmittedAt: r.first, Source: schema.Source{Protocol: schema.A2A, TaskID: n.TaskID}}
	rest := n.Text
	if t := r.typed[noteKey(&e)]; t != nil {
		rest = beyond(t.shown.String(), n.Text)
	}
	if strings.TrimSpace(rest) != "" {
		r.noteTyped(&e, rest)
	}
}

// beyond is what of a text comes behind the part that was shown, however white space is spread in that;
// nothing where the text does not begin with it.
func beyond(shown, text string) string {
	for _, word := range strings.Fields(shown) {
		for _, c := range word {
			text = strings.TrimLeftFunc(text, unicode.IsSpace)
			next, size := utf8.DecodeRuneInString(text)
			if next != c || size == 0 {
				return ""
			}
			text = text[size:]
		}
	}
	return text
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
	tone, mark := reading.NoteTone(text)
	s := styleOf(tone)
	if r.noteShown(e, text) {
		return
	}
	r.pause()
	r.task(e)
	if one := reading.OneLine(text); !strings.Contains(strings.TrimSpace(text), "\n") && columns(one)+len(mark)+1 <= r.page.room(0) {
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
