package capturefile

import (
	"bytes"
	"encoding/base64"
	"slices"
	"unicode/utf8"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// written reads a line that is exactly as AppendArchiveLine writes it, member by member, into an empty frame. It
// refuses every other line, whatever may be wrong with it: decode reads that one, or says why it is none. The two give
// the same frame.
func (r *Reader) written(line []byte, f *schema.Frame) bool {
	l := cursor{rest: line}
	l.must(`{"seq":`)
	f.Seq = l.number()
	l.must(`,"at":"`)
	at := l.plain()
	l.must(`,"from":"`)
	f.From = oneOf(&l, schema.FromClient, schema.FromAgent, schema.FromStderr, schema.FromControl)
	l.must(`,"type":"`)
	f.Type = oneOf(&l, schema.TypeData, schema.TypeOpen, schema.TypeClose, schema.TypeGap, schema.TypeHTTP, schema.TypeDecision, schema.TypeIntervention)
	switch {
	case l.skip(`,"protocol":"`):
		f.Protocol = oneOf(&l, schema.ACP, schema.A2A)
	case r.frames > 0:
		f.Protocol = r.protocol // only the first line of a part says it
	default:
		l.bad = true
	}
	hasData := true
	switch {
	case l.skip(`,"text":"`):
		r.text = l.text(r.text)
		f.Data = r.own(r.text)
	case l.skip(`,"b64":"`):
		f.Data = l.binary()
	default:
		hasData = false
	}
	l.must(`,"end":"`)
	f.End = oneOf(&l, schema.EndLF, schema.EndNone)
	if l.skip(`,"exchange":"`) {
		f.Exchange = again(&r.exchange, l.plain())
	}
	if l.skip(`,"no":`) {
		f.No = l.number()
	}
	if l.skip(`,"chan":"`) {
		f.Chan = oneOf(&l, schema.ChanRequest, schema.ChanResponse, schema.ChanStream, schema.ChanPush, schema.ChanCard)
	}
	if l.skip(`,"http":`) {
		f.HTTP = r.own(l.object(&r.tree))
	}
	if l.skip(`,"blob":"`) {
		f.Blob = string(l.plain())
	}
	var salt, writer, chain []byte
	if l.skip(`,"salt":"`) {
		salt = l.plain()
	}
	if l.skip(`,"writer":"`) {
		writer = l.plain()
	}
	if l.skip(`,"chain":"`) {
		chain = l.plain()
	}
	l.must(`}`)
	if l.bad || len(l.rest) > 0 || !hasData && f.Blob == "" || f.Seq == 0 || r.frames > 0 && f.Seq != r.last+1 {
		return false
	}
	r.text = append(append(r.text[:0], salt...), chain...)
	both := string(r.text)
	f.Salt, f.Chain = both[:len(salt)], both[len(salt):]
	if f.At.UnmarshalText(at) != nil || !r.by(f, writer) {
		return false
	}
	f.At = f.At.UTC()
	return f.Validate() == nil
}

// by reads who stored the frame.
func (r *Reader) by(f *schema.Frame, writer []byte) bool {
	if len(writer) == 0 {
		return true
	}
	colon := bytes.IndexByte(writer, ':')
	if colon < 0 || string(writer[:colon]) != r.journal {
		w, err := schema.ParseWriter(string(writer))
		if err != nil {
			return false
		}
		f.Writer, r.journal = w, w.Journal
		return true
	}
	l := cursor{rest: writer[colon+1:]}
	f.Writer = schema.Writer{Journal: r.journal, Offset: l.number()}
	return !l.bad && len(l.rest) == 0
}

// again gives the text as a string, the one before if it is the same.
func again(before *string, text []byte) string {
	if *before != string(text) {
		*before = string(text)
	}
	return *before
}

// Room is made at a time for the bytes of many frames: little for the first of a file, which may be short. What is
// larger than a part of the most has its own.
const (
	leastRoom = 2 << 10
	mostRoom  = 32 << 10
)

// own copies bytes to where they stay as they are.
func (r *Reader) own(data []byte) []byte {
	if len(data) > mostRoom/8 {
		return append([]byte(nil), data...)
	}
	if len(data) >= len(r.room) { // so that no data is not nil
		r.made = min(max(2*r.made, leastRoom, 2*len(data)), mostRoom)
		r.room = make([]byte, r.made)
	}
	n := copy(r.room, data)
	out := r.room[:n:n]
	r.room = r.room[n:]
	return out
}

// cursor reads a line from its front. What is not as expected makes it bad for good.
type cursor struct {
	rest []byte
	bad  bool
}

// skip passes over text if it comes next.
func (l *cursor) skip(text string) bool {
	if len(l.rest) < len(text) || string(l.rest[:len(text)]) != text {
		return false
	}
	l.rest = l.rest[len(text):]
	return true
}

func (l *cursor) must(text string) {
	if !l.skip(text) {
		l.bad = true
	}
}

// number reads an integer of at most 19 digits, all of which fit.
func (l *cursor) number() (n uint64) {
	i := 0
	for ; i < len(l.rest) && '0' <= l.rest[i] && l.rest[i] <= '9'; i++ {
		n = 10*n + uint64(l.rest[i]-'0')
	}
	if i == 0 || i > 19 || i > 1 && l.rest[0] == '0' {
		l.bad = true
	}
	l.rest = l.rest[i:]
	return n
}

// plain reads a string of visible ASCII, not empty, of which nothing is escaped, up to behind its end.
func (l *cursor) plain() []byte {
	for i, c := range l.rest {
		if c == '"' && i > 0 {
			text := l.rest[:i]
			l.rest = l.rest[i+1:]
			return text
		}
		if c <= ' ' || c == '"' || c == '\\' || c > '~' {
			break
		}
	}
	l.bad = true
	return nil
}

func oneOf[T ~string](l *cursor, words ...T) T {
	text := l.plain()
	for _, w := range words {
		if string(text) == string(w) {
			return w
		}
	}
	l.bad = true
	return ""
}

// special are the bytes that do not stand for themselves in a string.
var special = func() (is [256]bool) {
	for c := range ' ' {
		is[c] = true
	}
	is['"'], is['\\'] = true, true
	return is
}()

// text reads a string up to behind its end. It knows the escapes that schema.AppendString writes.
func (l *cursor) text(dst []byte) []byte {
	s := l.rest
	dst = slices.Grow(dst[:0], len(s))[:len(s)] // what is read is not longer
	n := 0
	for i := 0; i < len(s); {
		c := s[i]
		if !special[c] {
			dst[n] = c
			n++
			i++
			continue
		}
		if c == '"' {
			if !utf8.Valid(s[:i]) {
				break
			}
			l.rest = s[i+1:]
			return dst[:n]
		}
		c, size := unescape(s[i:])
		if size == 0 {
			break
		}
		dst[n] = c
		n++
		i += size
	}
	l.bad = true
	return dst[:0]
}

// unescape reads the escape at the front of s; size is 0 if it is none that AppendString writes.
func unescape(s []byte) (c byte, size int) {
	if len(s) < 2 || s[0] != '\\' {
		return 0, 0
	}
	if c = escaped[s[1]]; c != 0 {
		return c, 2
	}
	if len(s) < 6 || s[1] != 'u' || s[2] != '0' || s[3] != '0' || s[4] != '0' && s[4] != '1' {
		return 0, 0
	}
	low := bytes.IndexByte([]byte("0123456789abcdef"), s[5])
	if low < 0 {
		return 0, 0
	}
	return (s[4]-'0')<<4 | byte(low), 6
}

// escaped are the bytes that stand behind a backslash as one letter, by that letter; 0 for any other.
var escaped = [256]byte{'"': '"', '\\': '\\', 'n': '\n', 'r': '\r', 't': '\t'}

func (l *cursor) binary() []byte {
	if l.skip(`"`) {
		return []byte{}
	}
	data, err := base64.StdEncoding.Strict().AppendDecode([]byte{}, l.plain())
	if err != nil {
		l.bad = true
	}
	return data
}

// object reads an object that every reader reads alike.
func (l *cursor) object(tree *jsontree.Reader) []byte {
	end, err := tree.Read(l.rest)
	if err != nil || l.rest[0] != '{' || tree.Lossy() || tree.DuplicateKey() {
		l.bad = true
		return nil
	}
	text := l.rest[:end]
	l.rest = l.rest[end:]
	return text
}
