package acp

import (
	"strconv"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// stream is an open message, with its chunks' payloads as long as they may have to stand for
// themselves: while nothing has been said, and for the user's own words, which may be an echo.
type stream struct {
	translate.OpenText
	index    int
	variant  string // of the first payload
	payloads []schema.JSON
	size     int // of the payloads, in bytes
}

// newMessageID makes the id of a message whose first frame this is, where the peer gave it none. A
// frame of several objects may begin more than one.
func (x *fold) newMessageID() string {
	name := "message/" + strconv.FormatUint(x.seq, 10)
	if x.made++; x.made > 1 {
		name += "/" + strconv.Itoa(x.made)
	}
	return x.id.UUID(name).String()
}

// chunkVariant is the update that adds to the stream.
func chunkVariant(kind acp.Stream) string {
	switch {
	case kind.Role == schema.User:
		return acp.UserMessageChunk
	case kind.Channel == schema.Thought:
		return acp.AgentThoughtChunk
	}
	return acp.AgentMessageChunk
}

func streamIndex(s acp.Stream) int {
	switch {
	case s.Role == schema.User:
		return userStream
	case s.Channel == schema.Thought:
		return thoughtStream
	}
	return answerStream
}

// chunk adds a chunk to the message of its stream; ok is false if it is none.
func (x *fold) chunk(s *session, l *lane, kind acp.Stream, update jsontree.Value, flags translate.FlagSet) (ok bool) {
	content := update.Get("content")
	block := content.Get("type")
	isText := block.Is(acp.ContentText)
	text, hasText := content.Get("text").Text()
	if block.Kind() != jsontree.String || isText && !hasText {
		return false
	}
	o := x.openStream(s, l, kind, idText(update.Get("messageId")))
	o.Flags |= flags | x.flags
	o.AddFrame(x.seq)
	if o.Empty() || kind.Role == schema.User {
		x.keep(o, chunkVariant(kind), update)
	}
	if !isText {
		o.AddPart(x.part(content))
	} else if index := o.AddText(text); text != "" && kind.Role != schema.User {
		x.give(s, delta(kind, o, index, text), true, x.here, flags|x.flags|l.flags)
	}
	if !o.Empty() && kind.Role != schema.User {
		o.forget()
	}
	return true
}

// keep keeps an update's payload; by reference, where together they are more than a Raw holds itself. One
// of another variant than the first keeps its tag.
func (x *fold) keep(o *stream, variant string, update jsontree.Value) {
	if len(o.payloads) == 0 {
		o.variant = variant
	}
	payload := x.payload(update)
	if variant != o.variant {
		payload = x.value(update)
	}
	if o.size+len(payload) > translate.MaxInlineValue-2 {
		payload = translate.Reference(x.frame)
	}
	o.size += len(payload) + 1
	o.payloads = append(o.payloads, payload)
}

// forget drops the payloads: the message itself says what they did.
func (o *stream) forget() { o.payloads, o.size = nil, 0 }

func delta(kind acp.Stream, o *stream, index uint64, text string) schema.Kind {
	if kind.Channel == schema.Thought {
		return &schema.Progress{Detail: &schema.Thinking{MessageID: o.ID, Index: index, Text: text}}
	}
	return &schema.Delta{MessageID: o.ID, Index: index, TextFragment: text}
}

// idText is an id as the peer said it: a string, or any other token by its JSON text; empty if not
// given.
func idText(v jsontree.Value) []byte {
	if text, ok := v.Bytes(); ok || !v.Given() {
		return text
	}
	return v.Raw()
}

// openStream finds the message that a chunk continues, ending those whose boundary it is. A chunk
// without an id continues what is open in its stream.
func (x *fold) openStream(s *session, l *lane, kind acp.Stream, id []byte) *stream {
	i := streamIndex(kind)
	for j, other := range l.streams {
		if j != i && other != nil && other.PeerID == "" { // one at most: each new one ends the others
			x.closeStream(s, l, other, schema.BoundaryStream, 0)
		}
	}
	if o := l.streams[i]; o != nil {
		if len(id) == 0 || o.PeerID == string(id) {
			return o
		}
		if beside := l.find(i, string(id)); beside != nil {
			return beside
		}
		x.another(s, l, o, string(id))
	}
	o := &stream{index: i}
	o.Role, o.Channel, o.Flags, o.PeerID = kind.Role, kind.Channel, l.flags, string(id)
	o.ID = o.PeerID
	if o.PeerID == "" {
		o.ID = x.newMessageID()
	} else if n := s.uses(l, i, o.PeerID); n > 0 {
		o.ID = o.PeerID + "#" + strconv.Itoa(n+1)
		o.Flags |= translate.Of(schema.FlagIDReused)
	}
	l.streams[i] = o
	return o
}

// another makes room for a message of another id than the open one's, which ends. In version 2, where
// messages may be told at once, an id that comes back shows that they are: from then on the open one stays
// open beside it, so that pieces that take turns are no messages each. A new id ends them all.
func (x *fold) another(s *session, l *lane, o *stream, id string) {
	if x.upserts() && s.uses(l, o.index, id) > 0 {
		l.streams[o.index] = nil
		l.beside = append(l.beside, o)
		return
	}
	for _, open := range l.open() {
		if open.index == o.index {
			x.closeStream(s, l, open, schema.BoundaryMessageID, 0)
		}
	}
}

// uses counts the messages of a stream that have had the id: those stored, and one that is open in the
// session's other lane.
func (s *session) uses(l *lane, stream int, id string) int {
	n := s.stored[storedKey{stream, id}]
	for _, other := range s.lanes() {
		if other != l && other.find(stream, id) != nil {
			n++
		}
	}
	return n
}

// closeNameless ends the lane's messages that never had an id.
func (x *fold) closeNameless(s *session, l *lane, boundary schema.Boundary) {
	for _, o := range l.open() {
		if o.PeerID == "" {
			x.closeStream(s, l, o, boundary, 0)
		}
	}
}

// closeStreams ends all of the lane's messages, and what else is in pieces.
func (x *fold) closeStreams(s *session, l *lane, boundary schema.Boundary, flags translate.FlagSet) {
	for _, o := range l.open() {
		x.closeStream(s, l, o, boundary, flags)
	}
	x.endGathered(s, l, flags)
}

// closeStream gives the message; chunks that said nothing, or nothing new, give one Raw instead. What was
// typed and taken back is a message without text: it ends what is live.
func (x *fold) closeStream(s *session, l *lane, o *stream, boundary schema.Boundary, flags translate.FlagSet) {
	l.drop(o)
	flags |= o.Flags
	echo := o.Role == schema.User && l == s.live && s.echoed(o)
	switch {
	case o.Empty() && (o.Next() == 0 || o.Role == schema.User):
		x.emit(s, &schema.Raw{Source: updateSource(o.variant), Value: joinPayloads(o.payloads)}, o.Frames(), flags)
	case echo:
		flags |= translate.Of(schema.FlagEcho)
		x.emit(s, &schema.Raw{Source: updateSource(o.variant), Value: joinPayloads(o.payloads)}, o.Frames(), flags)
	default:
		if o.PeerID != "" {
			s.stored[storedKey{o.index, o.PeerID}]++
		}
		m := o.Message(boundary)
		if x.upserts() && l == s.live {
			s.remember(o.index, o.PeerID, m)
		}
		x.emit(s, m, o.Frames(), flags)
	}
}

// echoed reports whether the user's words are those of a prompt of the turn in progress, or of the last
// one. Words with more than text are, if the agent answered the prompt with their id.
func (s *session) echoed(o *stream) bool {
	text := o.Text()
	for _, p := range s.prompts {
		if p.text == text && (text != "" && !o.Mixed() || p.id != "" && p.id == o.PeerID) {
			return true
		}
	}
	return text != "" && !o.Mixed() && len(s.prompts) == 0 && s.answered == text
}

// joinPayloads is one payload, or several as an array.
func joinPayloads(payloads []schema.JSON) schema.JSON {
	if len(payloads) == 1 {
		return payloads[0]
	}
	dst := []byte{'['}
	for i, p := range payloads {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, p...)
	}
	return append(dst, ']')
}

// part is a content block as a message keeps it; a large one that is no text by reference, under its
// type.
func (x *fold) part(block jsontree.Value) schema.JSON {
	value := translate.Whole(block.Raw())
	if len(value) <= translate.MaxInlineValue || block.Get("type").Is(acp.ContentText) {
		if value == nil {
			return schema.JSON("null")
		}
		return value
	}
	kind, _ := block.Get("type").Text()
	dst := schema.AppendString([]byte(`{"type":`), kind)
	dst = append(dst, ',')
	return append(dst, translate.Reference(x.frame)[1:]...)
}
