package a2a

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
)

// notes is the progress of a task that is not durable yet.
type notes struct {
	open     *growing // for the frames that only it accounts for; its text is not used
	segments []segment
	flags    translate.FlagSet
}

// segment is the progress under one message id.
type segment struct {
	id   string
	text string
}

// note adds progress: the difference, where the message is known. It reports whether there was any.
func (x *fold) note(t *task, id, text string, flags translate.FlagSet) bool {
	n := &t.notes
	fresh := text
	if last := len(n.segments) - 1; id != "" && last >= 0 && n.segments[last].id == id {
		s := &n.segments[last]
		if strings.HasPrefix(text, s.text) {
			fresh = text[len(s.text):]
		}
		if fresh == "" {
			return false
		}
		s.text += fresh
	} else {
		n.segments = append(n.segments, segment{id, text})
	}
	if n.open == nil {
		n.open = &growing{}
		n.flags = t.flags
	}
	n.flags |= flags | x.ownFlags()
	x.live(t, &schema.Progress{Detail: &schema.Note{Text: fresh}})
	return true
}

// text joins the segments: by nothing where any inner edge has white space, else by line feeds.
func (n *notes) text() string {
	sep := "\n"
	texts := make([]string, len(n.segments))
	for i, s := range n.segments {
		texts[i] = s.text
		if i == 0 {
			continue
		}
		before, _ := utf8.DecodeLastRuneInString(n.segments[i-1].text)
		after, _ := utf8.DecodeRuneInString(s.text)
		if unicode.IsSpace(before) || unicode.IsSpace(after) {
			sep = ""
		}
	}
	return strings.Join(texts, sep)
}

// endNotes makes progress durable, unless an artifact says the same: one that was closed, or one of
// those that close now.
func (x *fold) endNotes(t *task, closing ...*artifact) {
	n := t.notes
	if n.open == nil {
		return
	}
	t.notes = notes{}
	x.settle(n.open)
	text := n.text()
	repeated := t.said[sum([]byte(text))]&(anyArtifact|byMessage) != 0
	for _, a := range closing {
		repeated = repeated || a.answer.open != nil && a.answer.current() == text
	}
	if repeated {
		x.drop(t, n.open)
		return
	}
	flags := n.flags
	if t.stopped {
		flags |= translate.Of(schema.FlagLate)
	}
	x.emitText(t, &schema.Progress{Detail: &schema.Note{Text: text}}, n.open, flags)
}

// promote makes progress the answer of a task that completed without one.
func (x *fold) promote(t *task) {
	n := t.notes
	t.notes = notes{}
	x.settle(n.open)
	text := n.text()
	t.say(sum([]byte(text)), byStatus)
	m := &schema.Message{
		Role: schema.Assistant, Text: text, MessageID: x.messageID(""), Channel: schema.Answer, Boundary: schema.BoundaryTurnEnd,
	}
	x.emitText(t, m, n.open, n.flags|translate.Of(schema.FlagPromoted))
}

// noteNow gives a Note that the fold itself makes.
func (x *fold) noteNow(t *task, text string, flags translate.FlagSet) {
	x.emitHere(t, &schema.Progress{Detail: &schema.Note{Text: text}}, flags)
}
