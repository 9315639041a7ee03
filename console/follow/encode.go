package follow

import (
	"strconv"

	"github.com/steno-io/steno/schema"
)

// AppendJSON appends the snapshot as an object on one line: frame, ordinal, and messages, tools and
// notes as an open reply has them, notes only where there are some.
func (s *Snapshot) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"frame":`...)
	dst = strconv.AppendUint(dst, s.Frame, 10)
	dst = append(dst, `,"ordinal":`...)
	dst = strconv.AppendUint(dst, s.Ordinal, 10)
	at := len(dst)
	dst = schema.AppendOpen(dst, s.Messages, s.Tools, s.Notes)
	dst[at] = ',' // its members go on in the same object
	return dst
}

// AppendJSON appends {"reason","events","detail"} on one line.
func (l *Lag) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"reason":`...)
	dst = schema.AppendString(dst, string(l.Reason))
	dst = append(dst, `,"events":`...)
	dst = strconv.AppendUint(dst, l.Events, 10)
	dst = append(dst, `,"detail":`...)
	dst = schema.AppendString(dst, l.Detail)
	return append(dst, '}')
}

// AppendJSON appends {"status","head"} on one line.
func (e *End) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"status":`...)
	dst = schema.AppendString(dst, string(e.Status))
	dst = append(dst, `,"head":`...)
	dst = strconv.AppendUint(dst, e.Head, 10)
	return append(dst, '}')
}
