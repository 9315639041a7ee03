package proxy

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"

	"github.com/steno-io/steno/schema/wire/a2a/compat"
)

// What evidence says of bytes that were made for the other end.
const (
	servedUp   = string(compat.V10)
	servedDown = string(compat.V03)
)

// requestUp rewrites the request of a client of version 0.3 for a peer of 1.0. What cannot be
// rewritten, as a batch or REST, is passed on as it is.
func (x *exchange) requestUp() {
	if x.card {
		if strings.HasSuffix(x.url.EscapedPath(), cardPathV02) {
			x.served, x.copied = servedUp, func(http.Header) {}
		}
		return
	}
	c := x.request.calls
	if !c.rpc || !c.single || compat.Detect(compat.Signals{
		Header: x.in.Header, Query: x.url.Query(), Method: c.method, Verb: x.in.Method, Path: x.url.Path,
	}) != compat.V03 {
		return
	}
	up, err := compat.RequestUp(x.request.plain)
	if err != nil {
		return
	}
	x.served, x.request.forward, x.copied = servedUp, up, headersUp
}

// headersUp are a request's in version 1.0.
func headersUp(h http.Header) {
	h.Set(compat.VersionHeader, servedUp)
	old := http.CanonicalHeaderKey(compat.ExtensionsHeader03)
	if values, ok := h[old]; ok {
		current := http.CanonicalHeaderKey(compat.HeaderUp(old))
		h[current] = append(h[current][:len(h[current]):len(h[current])], values...)
		delete(h, old)
	}
}

// extensionsDown are an answer's in version 0.3.
func extensionsDown(h http.Header) {
	current := http.CanonicalHeaderKey(compat.ExtensionsHeader10)
	if values, ok := h[current]; ok {
		h[http.CanonicalHeaderKey(compat.HeaderDown(current))] = values
		delete(h, current)
	}
}

// target is the request's URL as it is for the peer.
func (x *exchange) target() *url.URL {
	if x.served == "" || !x.serveUp {
		return x.url
	}
	u := *x.url
	if path, ok := strings.CutSuffix(u.Path, cardPathV02); ok && x.card {
		u.Path = path + cardPath
		if raw, ok := strings.CutSuffix(u.RawPath, cardPathV02); ok {
			u.RawPath = raw + cardPath
		}
		return &u
	}
	u.RawQuery = withoutVersion(u.RawQuery) // the header says it
	return &u
}

// withoutVersion is a raw query without the version; all else stays as sent.
func withoutVersion(raw string) string {
	var kept []string
	for pair := range strings.SplitSeq(raw, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err != nil || !strings.EqualFold(plain, compat.VersionHeader) {
			kept = append(kept, pair)
		}
	}
	return strings.Join(kept, "&")
}

// bodyDown rewrites an answer; ok is false where it cannot be, so that it is passed on as it is.
func (x *exchange) bodyDown(text []byte, card bool) (down []byte, ok bool) {
	var err error
	if card {
		down, err = compat.CardDown(text)
	} else {
		down, err = compat.ResponseDown(x.request.calls.method, text)
	}
	if err != nil {
		return text, false
	}
	return down, true
}

// blocks cuts a stream of server-sent events behind each blank line. Unlike a2a.EventReader it also
// cuts off what carries no data, such as a heartbeat, which must not wait for the next event.
type blocks struct {
	filled bool // the line being read is not empty
	began  bool // the block has a line that is not empty
	cr     bool // the last byte was a CR, so that an LF belongs to it
}

// next is how many bytes belong to the block; ended says that it ends there. An LF that comes after
// the end, behind its CR, is a block of its own: it need not wait either.
func (s *blocks) next(b []byte) (n int, ended bool) {
	for i, c := range b {
		switch {
		case c == '\n' && s.cr:
			s.cr = false
			if i == 0 && !s.began && !s.filled {
				return 1, true
			}
		case c == '\n' || c == '\r':
			s.cr = c == '\r'
			ended = !s.filled && s.began
			s.filled = false
			if !ended {
				continue
			}
			s.began = false
			if s.cr && i+1 < len(b) && b[i+1] == '\n' {
				s.cr = false
				return i + 2, true
			}
			return i + 1, true
		default:
			s.filled, s.began, s.cr = true, true, false
		}
	}
	return len(b), false
}

// editData rewrites the data of one block; its other lines, and how lines end, stay.
func editData(block []byte, change func([]byte) []byte) []byte {
	var data, out []byte
	var end []byte // of the first data line
	first, lines := -1, 0
	rest := block
	if bytes.HasPrefix(rest, []byte("\uFEFF")) {
		out, rest = append(out, "\uFEFF"...), rest[len("\uFEFF"):]
	}
	for len(rest) > 0 {
		n := bytes.IndexAny(rest, "\r\n")
		line, tail := rest, []byte(nil)
		if n >= 0 {
			line, tail = rest[:n], rest[n:n+1]
			if bytes.HasPrefix(rest[n:], []byte("\r\n")) {
				tail = rest[n : n+2]
			}
		}
		rest = rest[len(line)+len(tail):]
		name, value, _ := bytes.Cut(line, []byte{':'})
		if string(name) != "data" {
			out = append(append(out, line...), tail...)
			continue
		}
		if lines++; lines == 1 {
			first, end = len(out), tail
		} else {
			data = append(data, '\n')
		}
		data = append(data, bytes.TrimPrefix(value, []byte{' '})...)
	}
	if len(data) == 0 {
		return block
	}
	changed := change(data)
	if bytes.Equal(changed, data) {
		return block
	}
	lineEnd := end
	if len(end) == 0 {
		lineEnd = []byte{'\n'}
	}
	var text []byte
	for i, line := range bytes.Split(changed, []byte{'\n'}) {
		if i > 0 {
			text = append(text, lineEnd...)
		}
		text = append(append(text, "data: "...), line...)
	}
	text = append(text, end...)
	return append(append(append([]byte(nil), out[:first]...), text...), out[first:]...)
}
