package translate

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/steno-io/steno/schema"
)

// MaxInlineValue is the largest payload that a Raw or a content part holds itself, in bytes; a larger
// one is given by reference to its frame.
const MaxInlineValue = 64 << 10

// OpenText is a message that still grows: its text, its parts and the frames that it was made of.
type OpenText struct {
	ID      string // message id of its events
	PeerID  string // as the peer said it; empty if it never did
	Role    schema.Role
	Channel schema.Channel
	Flags   FlagSet

	text   []byte
	next   uint64
	frames []schema.Range
	parts  []part
	mixed  bool // a part is not text
}

// part is a piece of a message: a stretch of its text, or JSON of its own.
type part struct {
	from, to int
	json     schema.JSON
}

// AddFrame names a frame that the message is made of.
func (o *OpenText) AddFrame(frame uint64) { o.frames = AddFrame(o.frames, frame) }

// AddText appends text and gives the index of its delta. Text that is empty has no delta and takes no
// index.
func (o *OpenText) AddText(text string) (index uint64) {
	if text == "" {
		return o.next
	}
	o.Append(text)
	o.next++
	return o.next - 1
}

// Append appends text that has no delta of its own and takes no index.
func (o *OpenText) Append(text string) {
	if text == "" {
		return
	}
	from := len(o.text)
	o.text = append(o.text, text...)
	if last := len(o.parts) - 1; last >= 0 && o.parts[last].json == nil {
		o.parts[last].to = len(o.text)
	} else {
		o.parts = append(o.parts, part{from: from, to: len(o.text)})
	}
}

// AddPart appends a part that is not text.
func (o *OpenText) AddPart(value schema.JSON) {
	o.parts = append(o.parts, part{json: value})
	o.mixed = true
}

// AddFrame adds a frame number, not below any in ranges, to closed ranges.
func AddFrame(ranges []schema.Range, frame uint64) []schema.Range {
	last := len(ranges) - 1
	switch {
	case last >= 0 && ranges[last][1] == frame:
		return ranges
	case last >= 0 && ranges[last][1]+1 == frame:
		ranges[last][1] = frame
		return ranges
	}
	return append(ranges, schema.Range{frame, frame})
}

// CountFrames is the number of frames in ranges.
func CountFrames(ranges []schema.Range) uint64 {
	var n uint64
	for _, r := range ranges {
		n += r[1] - r[0] + 1
	}
	return n
}

// Empty reports whether neither text nor other parts have come.
func (o *OpenText) Empty() bool { return len(o.text) == 0 && !o.mixed }

// Mixed reports whether a part is not text.
func (o *OpenText) Mixed() bool { return o.mixed }

// Text is the text so far.
func (o *OpenText) Text() string { return string(o.text) }

// Next is the index of the next delta.
func (o *OpenText) Next() uint64 { return o.next }

// Frames are the frames so far; the caller must not change them.
func (o *OpenText) Frames() []schema.Range { return o.frames }

// First is the number of the first frame.
func (o *OpenText) First() uint64 { return o.frames[0][0] }

// Message ends the message.
func (o *OpenText) Message(boundary schema.Boundary) *schema.Message {
	m := &schema.Message{Role: o.Role, Text: string(o.text), MessageID: o.ID, Channel: o.Channel, Boundary: boundary}
	if o.mixed {
		m.Content = o.content()
	}
	return m
}

// content writes the parts in order; neighbouring text is one part.
func (o *OpenText) content() schema.JSON {
	dst := []byte{'['}
	for i, p := range o.parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		if p.json != nil {
			dst = append(dst, p.json...)
			continue
		}
		dst = append(dst, `{"type":"text","text":`...)
		dst = schema.AppendString(dst, string(o.text[p.from:p.to]))
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// Reference stands for a payload that is too large: the frame that holds it, with the frame's
// SHA-256 and its size in bytes.
func Reference(f *schema.Frame) schema.JSON {
	sum := sha256.Sum256(f.Data)
	dst := append([]byte(`{"ref":{"frame":`), strconv.FormatUint(f.Seq, 10)...)
	dst = append(dst, `,"sha256":"`...)
	dst = append(dst, hex.EncodeToString(sum[:])...)
	dst = append(dst, `","bytes":`...)
	dst = strconv.AppendInt(dst, int64(len(f.Data)), 10)
	return append(dst, `}}`...)
}
