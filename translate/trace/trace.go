// Package trace finds where in the bytes of its frames the words of an event stand.
//
// It looks for what the event says, and does not ask the fold: what it finds is there, byte for byte as JSON
// decodes it; where it finds nothing, the event is of the frame as a whole.
package trace

import (
	"bytes"
	"strings"

	"github.com/steno-io/steno/schema"
)

// Place is a stretch of a frame's bytes that says a stretch of an event's kind.
type Place struct {
	From  int    `json:"from"`  // offset in the frame's bytes
	To    int    `json:"to"`    // behind its last byte
	Path  string `json:"path"`  // where it stands in the frame's JSON, such as params.update.content.text
	Field string `json:"field"` // of the event's kind
	// At and End are the stretch of a text, in bytes of UTF-8; absent where the place is the whole value.
	At  int `json:"at,omitempty"`
	End int `json:"end,omitempty"`
}

// Finder finds the places of one event, in one frame after the other.
type Finder struct {
	field  string
	text   string // that is still to be found, of a kind that is one
	at     int    // how much of it was found
	values []wanted
}

// wanted is a value that is to be found whole.
type wanted struct {
	field string
	text  []byte // compact
}

// NewFinder makes a finder of an event's places.
func NewFinder(e *schema.Event) *Finder {
	f := &Finder{}
	switch k := e.Kind.(type) {
	case *schema.Message:
		f.field, f.text = "text", k.Text
	case *schema.Progress:
		if note, ok := k.Detail.(*schema.Note); ok {
			f.field, f.text = "detail.text", note.Text
		}
	case *schema.ToolCall:
		f.want("input", k.Input)
		f.wantText("tool", k.Tool)
	case *schema.ToolResult:
		f.want("output", k.Output)
	case *schema.Raw:
		f.want("value", k.Value)
	case *schema.Stop:
		f.wantText("reason", k.Detail)
	}
	return f
}

func (f *Finder) want(field string, value schema.JSON) {
	if len(value) > 0 && string(value) != "null" {
		f.values = append(f.values, wanted{field, schema.AppendCompact(nil, value)})
	}
}

func (f *Finder) wantText(field, text string) {
	if text != "" {
		f.values = append(f.values, wanted{field, schema.AppendString(nil, text)})
	}
}

// In gives the event's places in its next frame; none where it is made of the frame as a whole.
func (f *Finder) In(frame *schema.Frame) []Place {
	if frame.Type != schema.TypeData {
		return nil
	}
	values := read(frame.Data)
	var out []Place
	for _, w := range f.values {
		if p, ok := whole(values, w); ok {
			out = append(out, p)
		}
	}
	for {
		p, ok := f.next(values)
		if !ok {
			return out
		}
		out = append(out, p)
		f.at = p.End
		for i := range values { // what stands before it has had its turn
			if values[i].to <= p.To {
				values[i].spent = true
			}
		}
	}
}

// next finds what says the text from where it was found last: a string that begins it; or one that says all
// of it so far and more, as a snapshot does; the longest, and of two such one that is called text.
func (f *Finder) next(values []value) (best Place, found bool) {
	left := f.text[min(f.at, len(f.text)):]
	if left == "" {
		return best, false
	}
	skip := 0
	if f.at > 0 && left[0] == '\n' { // between joined texts
		skip = 1
	}
	for i := range values {
		v := &values[i]
		if v.spent || v.text == nil || *v.text == "" {
			continue
		}
		said := *v.text
		p := Place{Path: v.path, Field: f.field, From: v.from + 1, To: v.to - 1}
		switch {
		case strings.HasPrefix(left, said):
			p.At, p.End = f.at, f.at+len(said)
		case strings.HasPrefix(left[skip:], said):
			p.At, p.End = f.at+skip, f.at+skip+len(said)
		case f.at > 0 && len(said) > f.at && strings.HasPrefix(f.text, said):
			p.At, p.End = f.at, len(said)
			p.From += rawLength(v.raw[1:len(v.raw)-1], f.at)
		default:
			continue
		}
		better := p.End > best.End || p.End == best.End && strings.HasSuffix(p.Path, "text") && !strings.HasSuffix(best.Path, "text")
		if !found || better {
			best, found = p, true
		}
	}
	return best, found
}

// whole finds a value; of an object also one that has a sessionUpdate beside what is wanted.
func whole(values []value, w wanted) (Place, bool) {
	for i := range values {
		v := &values[i]
		if bytes.Equal(v.compact(), w.text) || v.text != nil && bytes.Equal(schema.AppendString(nil, *v.text), w.text) ||
			v.raw[0] == '{' && bytes.Equal(v.without("sessionUpdate"), w.text) {
			return Place{From: v.from, To: v.to, Path: v.path, Field: w.field}, true
		}
	}
	return Place{}, false
}
