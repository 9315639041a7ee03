package a2a

import "bytes"

// Event is one server-sent event that carries data. Data are its data lines' values, joined by line
// feeds. Raw are all its bytes: its lines, the blank line that ends it, and what stood before it since
// the last event (comments, heartbeats, events without data).
type Event struct {
	Data  []byte
	Name  []byte // the event field
	ID    []byte
	Raw   []byte
	Ended bool // a blank line ended it; false at the end of a stream that broke off
}

// EventReader cuts a stream of server-sent events, however its bytes are split. Lines end with LF, CR
// or CRLF; a byte order mark at the start is passed over; nothing is too long. The zero value is
// ready. It is not safe for concurrent use.
type EventReader struct {
	buf  []byte
	scan scanner
}

// Feed takes the next bytes and appends the events that they complete. The events' bytes are their
// own. An event that a CR ends is complete with the byte behind it, which may belong to it.
func (r *EventReader) Feed(dst []Event, chunk []byte) []Event {
	r.buf = append(r.buf, chunk...)
	start := 0
	for {
		end, ok := r.scan.next(r.buf)
		if !ok {
			break
		}
		dst = append(dst, readEvent(bytes.Clone(r.buf[start:end]), r.scan.opening(), true))
		r.scan.begin(end)
		start = end
	}
	if start > 0 {
		r.buf = append(r.buf[:0], r.buf[start:]...)
		r.scan.shift(start)
	}
	return dst
}

// Flush is the end of the stream: an event without its blank line counts all the same. rest are the
// bytes behind the last event; the reader is as new afterwards.
func (r *EventReader) Flush(dst []Event) (events []Event, rest []byte) {
	event, rest, ok := r.scan.flush(r.buf)
	if ok {
		event.Raw = bytes.Clone(event.Raw)
		dst = append(dst, readEvent(event.Raw, r.scan.opening(), event.Ended))
	}
	rest = bytes.Clone(rest)
	*r = EventReader{}
	return dst, rest
}

// AppendEvents appends the events of a text that is at hand whole, and gives the bytes behind the last
// one. The events' bytes are the text's.
func AppendEvents(dst []Event, text []byte) (events []Event, rest []byte) {
	var s scanner
	start := 0
	for {
		end, ok := s.next(text)
		if !ok {
			break
		}
		dst = append(dst, readEvent(text[start:end], s.opening(), true))
		s.begin(end)
		start = end
	}
	event, rest, ok := s.flush(text[start:])
	if ok {
		dst = append(dst, readEvent(event.Raw, s.opening(), event.Ended))
	}
	return dst, rest
}

// scanner finds where events end.
type scanner struct {
	line  int  // where the line being read starts
	at    int  // how far the bytes were looked at
	data  bool // a data line with something in it was seen
	begun bool // the first event, or the first bytes, are behind
}

// next goes on to the end of the next event in buf.
func (s *scanner) next(buf []byte) (end int, ok bool) {
	for {
		i := lineEnd(buf[s.at:])
		if i < 0 {
			s.at = len(buf)
			return 0, false
		}
		i += s.at
		end := i + 1
		if buf[i] == '\r' {
			if end == len(buf) { // an LF may follow
				s.at = i
				return 0, false
			}
			if buf[end] == '\n' {
				end++
			}
		}
		line := buf[s.line:i]
		if len(line) == 0 && s.data {
			return end, true
		}
		s.data = s.data || s.carries(line)
		s.line, s.at = end, end
	}
}

// carries reports whether a line brings data.
func (s *scanner) carries(line []byte) bool {
	if s.line == 0 && s.opening() {
		line = bytes.TrimPrefix(line, bom)
	}
	name, value := field(line)
	return string(name) == "data" && len(value) > 0
}

func (s *scanner) opening() bool { return !s.begun }

// begin starts the next event behind end.
func (s *scanner) begin(end int) { *s = scanner{line: end, at: end, begun: true} }

func (s *scanner) shift(n int) { s.line, s.at = s.line-n, s.at-n }

// flush takes what is left, from the start of an event, at the end of the bytes.
func (s *scanner) flush(buf []byte) (event Event, rest []byte, ok bool) {
	whole := scanner{begun: s.begun}
	if end, ended := whole.next(append(buf[:len(buf):len(buf)], '\n')); ended {
		return Event{Raw: buf, Ended: end <= len(buf) || buf[len(buf)-1] == '\r'}, nil, true
	}
	if whole.data {
		return Event{Raw: buf}, nil, true
	}
	return Event{}, buf, false
}

func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

var bom = []byte("\uFEFF")

// field takes a line apart; a comment has no name.
func field(line []byte) (name, value []byte) {
	name, value, _ = bytes.Cut(line, []byte{':'})
	return name, bytes.TrimPrefix(value, []byte{' '})
}

// readEvent reads the fields of an event's bytes.
func readEvent(raw []byte, first, ended bool) Event {
	e := Event{Raw: raw, Ended: ended}
	lines := 0
	rest := raw
	if first {
		rest = bytes.TrimPrefix(rest, bom)
	}
	for len(rest) > 0 {
		line := rest
		if i := lineEnd(rest); i >= 0 {
			line = rest[:i]
			if rest[i] == '\r' && i+1 < len(rest) && rest[i+1] == '\n' {
				i++
			}
			rest = rest[i+1:]
		} else {
			rest = nil
		}
		if len(line) == 0 { // what came before had no data, and its fields are not this event's
			if len(e.Data) == 0 {
				e.Name, e.ID, e.Data, lines = nil, nil, nil, 0
			}
			continue
		}
		switch name, value := field(line); string(name) {
		case "data":
			lines++
			switch lines {
			case 1:
				e.Data = value[:len(value):len(value)]
			default:
				e.Data = append(append(e.Data, '\n'), value...)
			}
		case "event":
			e.Name = value
		case "id":
			e.ID = value
		}
	}
	return e
}
