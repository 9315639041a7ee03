package acp

import (
	"crypto/sha256"
	"strconv"
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// whole folds an upsert of a message: what it says is all that the message says, until chunks add to it.
// One that gives no content, or none to a message that is not open, only stands for itself. A message
// that was stored is not opened anew: its next revision comes whole, unless it says the same. ok is false
// if the upsert cannot be read.
func (x *fold) whole(s *session, l *lane, kind acp.Stream, update jsontree.Value, flags translate.FlagSet) (ok bool) {
	variant := wholeVariant(kind)
	id, content := string(idText(update.Get("messageId"))), update.Get("content")
	if id == "" || content.Given() && !readable(content) {
		return false
	}
	i, says := streamIndex(kind), false
	for range content.Children() {
		says = true
		break
	}
	open := l.find(i, id) != nil
	switch {
	case !content.Present() || !says && !open:
		x.rawHere(s, updateSource(variant), x.payload(update), flags)
		return true
	case !open && s.uses(l, i, id) > 0:
		x.revise(s, l, kind, id, content, flags)
		x.rawHere(s, updateSource(variant), x.payload(update), flags)
		return true
	}
	o := x.openStream(s, l, kind, []byte(id))
	o.Flags |= flags | x.flags
	o.AddFrame(x.seq)
	piece := x.restate(o, content)
	if piece != nil && kind.Role != schema.User {
		x.give(s, piece, true, x.here, flags|x.flags|l.flags)
	}
	switch {
	case o.Empty(), kind.Role == schema.User:
		x.keep(o, variant, update)
	default:
		o.forget()
	}
	return true
}

// wholeVariant is the upsert of the stream's messages.
func wholeVariant(kind acp.Stream) string {
	switch {
	case kind.Role == schema.User:
		return acp.UserMessage
	case kind.Channel == schema.Thought:
		return acp.AgentThought
	}
	return acp.AgentMessage
}

// readable reports whether an upsert's content is one: blocks, each with its type, of which texts have
// text.
func readable(content jsontree.Value) bool {
	for block := range content.Children() {
		kind := block.Get("type")
		if kind.Kind() != jsontree.String || kind.Is(acp.ContentText) && block.Get("text").Kind() != jsontree.String {
			return false
		}
	}
	return content.Kind() == jsontree.Array
}

// restate makes the content all that the message says, and gives the piece of text that is new about it;
// nil if there is none. Where the text goes on from what was said, that is the rest of it. Parts that are
// no text were never told live, so that to take them back alone takes no index.
func (x *fold) restate(o *stream, content jsontree.Value) schema.Kind {
	kind, was, mixed := acp.Stream{Role: o.Role, Channel: o.Channel}, o.Text(), o.Mixed()
	text, plain := blocksText(content)
	if rest, ok := strings.CutPrefix(text, was); ok && plain && !mixed {
		if index := o.AddText(rest); rest != "" {
			return delta(kind, o, index, rest)
		}
		return nil
	}
	reset := o.Next() > 0
	index := o.Next()
	if o.Continue(""); reset || text != "" {
		index = o.Clear()
	}
	for block := range content.Children() {
		if t, ok := block.Get("text").Text(); ok && block.Get("type").Is(acp.ContentText) {
			o.Append(t)
		} else {
			o.AddPart(x.part(block))
		}
	}
	if !reset && text == "" {
		return nil
	}
	if kind.Channel == schema.Thought {
		return &schema.Progress{Detail: &schema.Thinking{MessageID: o.ID, Index: index, Text: text, Reset: reset}}
	}
	return &schema.Delta{MessageID: o.ID, Index: index, TextFragment: text, Reset: reset}
}

// blocksText joins the texts of blocks; plain is false if there are others.
func blocksText(content jsontree.Value) (text string, plain bool) {
	plain = true
	var b strings.Builder
	for block := range content.Children() {
		if t, ok := block.Get("text").Text(); ok && block.Get("type").Is(acp.ContentText) {
			b.WriteString(t)
		} else {
			plain = false
		}
	}
	return b.String(), plain
}

// revise gives the next revision of a message that was stored.
func (x *fold) revise(s *session, l *lane, kind acp.Stream, id string, content jsontree.Value, flags translate.FlagSet) {
	i := streamIndex(kind)
	n := s.uses(l, i, id) + 1
	o := translate.OpenText{ID: id + "#" + strconv.Itoa(n), Role: kind.Role, Channel: kind.Channel}
	for block := range content.Children() {
		if t, ok := block.Get("text").Text(); ok && block.Get("type").Is(acp.ContentText) {
			o.Append(t)
		} else {
			o.AddPart(x.part(block))
		}
	}
	m := o.Message(schema.BoundaryWhole)
	if l == s.live { // history tells again what was said
		if !s.remember(i, id, m) {
			return
		}
		m.Revision = uint64(n)
	}
	s.stored[storedKey{i, id}]++
	x.emitHere(s, m, flags|translate.Of(schema.FlagIDReused))
}

// remember keeps what a message said last, and reports whether that is new.
func (s *session) remember(stream int, id string, m *schema.Message) bool {
	h := sha256.New()
	h.Write([]byte(m.Text))
	h.Write([]byte{0})
	h.Write(m.Content)
	key, digest := storedKey{stream, id}, string(h.Sum(nil)[:16])
	if s.said[key] == digest {
		return false
	}
	if s.said == nil {
		s.said = map[storedKey]string{}
	}
	s.said[key] = digest
	return true
}
