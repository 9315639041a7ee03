// Package typing tells when the pieces of each message came.
package typing

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
)

// Message is how one message of an agent was typed.
type Message struct {
	StoreSeq  uint64 // 0: it is open
	MessageID string
	Channel   schema.Channel
	Text      string // of one that is open, so far
	Pieces    []Piece
}

// Piece is when a message's text had become how long: the text up to there is what the message has.
type Piece struct {
	At    int64 // milliseconds since the transcript's first event; below 0 before it
	Units int   // of UTF-16
}

// AppendJSON appends {"store_seq":n|null,"message_id","channel","text"?,"pieces":[[at,units],…]}; text of
// an open message only.
func (m *Message) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"store_seq":`...)
	if m.StoreSeq == 0 {
		dst = append(dst, "null"...)
	} else {
		dst = strconv.AppendUint(dst, m.StoreSeq, 10)
	}
	dst = schema.AppendString(append(dst, `,"message_id":`...), m.MessageID)
	dst = schema.AppendString(append(dst, `,"channel":`...), string(m.Channel))
	if m.StoreSeq == 0 {
		dst = schema.AppendString(append(dst, `,"text":`...), m.Text)
	}
	dst = append(dst, `,"pieces":[`...)
	for i, p := range m.Pieces {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(append(dst, '['), p.At, 10)
		dst = strconv.AppendInt(append(dst, ','), int64(p.Units), 10)
		dst = append(dst, ']')
	}
	return append(dst, "]}"...)
}

// Typist follows the events of a session, ephemeral ones among them, from the first one on.
type Typist struct {
	session uint32
	start   time.Time // of the first durable event
	open    map[key]*typed
	order   []key // of open
}

type key struct {
	channel schema.Channel
	id      string
}

// typed is a message in the making.
type typed struct {
	text   strings.Builder
	units  int
	pieces []piece
}

type piece struct {
	at           time.Time
	bytes, units int // of the text up to there
}

// New follows a session.
func New(session uint32) *Typist { return &Typist{session: session, open: map[key]*typed{}} }

// Add takes the next event of the capture, and gives the message that it ends; nil where it ends none
// that was typed.
func (t *Typist) Add(e *schema.Event) *Message {
	if e.Session != t.session {
		return nil
	}
	if t.start.IsZero() && !e.Ephemeral {
		t.start = e.EmittedAt
	}
	switch k := e.Kind.(type) {
	case *schema.Delta:
		t.piece(key{schema.Answer, k.MessageID}, e.EmittedAt, k.TextFragment, k.Reset)
	case *schema.Progress:
		if d, ok := k.Detail.(*schema.Thinking); ok {
			t.piece(key{schema.Thought, d.MessageID}, e.EmittedAt, d.Text, d.Reset)
		}
	case *schema.Message:
		if k.Role == schema.User {
			return nil
		}
		of := key{k.Channel, k.MessageID}
		o := t.open[of]
		if o == nil {
			return nil
		}
		t.forget(of)
		if pieces := t.pieces(o, k.Text, k.Revision > 1); len(pieces) > 0 {
			return &Message{StoreSeq: e.StoreSeq, MessageID: k.MessageID, Channel: k.Channel, Pieces: pieces}
		}
	}
	return nil
}

func (t *Typist) piece(of key, at time.Time, text string, reset bool) {
	o := t.open[of]
	if o == nil || reset { // what was replaced was not the beginning of what is stored
		if o == nil {
			t.order = append(t.order, of)
		}
		o = &typed{}
		t.open[of] = o
	}
	o.text.WriteString(text)
	o.units += units(text)
	o.pieces = append(o.pieces, piece{at: at, bytes: o.text.Len(), units: o.units})
}

func (t *Typist) forget(of key) {
	delete(t.open, of)
	t.order = slices.DeleteFunc(t.order, func(k key) bool { return k == of })
}

// pieces gives those at which the text so far began the whole one. A revision may be typed behind a text
// that was stored before.
func (t *Typist) pieces(o *typed, whole string, mayGoOn bool) (out []Piece) {
	text := o.text.String()
	before, ok := "", mayGoOn && len(text) < len(whole)
	if ok {
		before, ok = strings.CutSuffix(whole, text)
	}
	if !ok {
		before = ""
	}
	same, base := common(text, whole[len(before):]), units(before)
	start := t.start
	if start.IsZero() {
		start = o.pieces[0].at
	}
	for _, p := range o.pieces {
		if p.bytes <= same {
			out = append(out, Piece{At: floor(p.at.Sub(start)), Units: base + p.units})
		}
	}
	return out
}

// Open gives the messages that are not finished as the capture's frames end.
func (t *Typist) Open(open translate.Open) (out []Message) {
	for _, of := range t.order {
		for _, m := range open.Messages {
			if m.Session != t.session || m.Role == schema.User || (key{m.Channel, m.MessageID}) != of {
				continue
			}
			out = append(out, Message{MessageID: of.id, Channel: of.channel, Text: m.Text, Pieces: t.pieces(t.open[of], m.Text, true)})
		}
	}
	return out
}

// common is how many bytes two texts begin with alike.
func common(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// units is a text's length in UTF-16.
func units(text string) (n int) {
	for _, r := range text {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// floor is a time in whole milliseconds, never later than it was.
func floor(d time.Duration) int64 {
	ms := d.Milliseconds()
	if d < 0 && d%time.Millisecond != 0 {
		ms--
	}
	return ms
}
