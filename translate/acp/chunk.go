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
	payloads []schema.JSON
}

// messageName names the message whose first frame this is, where the peer gave it no id.
func messageName(frame uint64) string { return "message/" + strconv.FormatUint(frame, 10) }

// chunkVariants are the updates that feed each stream.
var chunkVariants = [3]string{
	userStream: acp.UserMessageChunk, answerStream: acp.AgentMessageChunk, thoughtStream: acp.AgentThoughtChunk,
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
	o.AddFrame(x.seq, x.shared != alone)
	if o.Empty() || kind.Role == schema.User {
		o.payloads = append(o.payloads, x.bounded(x.payload(update)))
	}
	if !isText {
		o.AddPart(x.part(content))
	} else if index := o.AddText(text); text != "" && kind.Role != schema.User {
		x.stamp.Emit(s.ordinal, x.source(s), delta(kind, o, index, text), true, x.here, (flags | x.flags).List())
	}
	if !o.Empty() && kind.Role != schema.User {
		o.payloads = nil
	}
	if x.shared == together {
		x.rawHere(s, updateSource(chunkVariants[o.index]), x.payload(update), flags)
	}
	return true
}

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
		x.closeStream(s, l, o, schema.BoundaryMessageID, 0)
	}
	peerID := string(id)
	o := &stream{index: i}
	o.Role, o.Channel, o.Flags, o.PeerID = kind.Role, kind.Channel, l.flags, peerID
	switch n := l.stored[storedKey{i, peerID}]; {
	case peerID == "":
		o.ID = x.id.UUID(messageName(x.seq)).String()
	case n > 0:
		o.ID = peerID + "#" + strconv.Itoa(n+1)
		o.Flags |= translate.Of(schema.FlagIDReused)
	default:
		o.ID = peerID
	}
	l.streams[i] = o
	return o
}

// closeNameless ends the lane's messages that never had an id.
func (x *fold) closeNameless(s *session, l *lane, boundary schema.Boundary) {
	for _, o := range l.open() {
		if o.PeerID == "" {
			x.closeStream(s, l, o, boundary, 0)
		}
	}
}

// closeStreams ends all of the lane's messages.
func (x *fold) closeStreams(s *session, l *lane, boundary schema.Boundary, flags translate.FlagSet) {
	for _, o := range l.open() {
		x.closeStream(s, l, o, boundary, flags)
	}
}

// closeStream gives the message; chunks that said nothing, or nothing new, give one Raw instead.
func (x *fold) closeStream(s *session, l *lane, o *stream, boundary schema.Boundary, flags translate.FlagSet) {
	l.streams[o.index] = nil
	if !o.Empty() && o.PeerID != "" {
		l.stored[storedKey{o.index, o.PeerID}]++
	}
	flags |= o.Flags
	frames := o.Frames()
	echo := o.Role == schema.User && l == s.live && s.echoed(o.Text())
	if echo {
		flags |= translate.Of(schema.FlagEcho)
	}
	switch {
	case (o.Empty() || echo) && len(frames) == 0: // the frames have their Raw already
	case o.Empty() || echo:
		x.emit(s, &schema.Raw{Source: updateSource(chunkVariants[o.index]), Value: joinPayloads(o.payloads)}, frames, flags)
	case len(frames) == 0:
		x.emit(s, o.Message(boundary), x.here, flags)
	default:
		x.emit(s, o.Message(boundary), frames, flags)
	}
}

// echoed reports whether the text is that of a prompt of this turn.
func (s *session) echoed(text string) bool {
	for _, prompt := range s.echoes {
		if prompt == text {
			return true
		}
	}
	return false
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

// part is a content block as a message keeps it; a large one by reference, under its type.
func (x *fold) part(block jsontree.Value) schema.JSON {
	value := whole(block)
	if len(value) <= translate.MaxInlineValue {
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
