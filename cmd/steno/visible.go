package main

import (
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	words "github.com/steno-io/steno/console/reading"
)

// visible is an error with words of a peer's, as a terminal may show them: on one line, without a
// character that it would obey.
type visible struct{ error }

// Error implements error.
func (v visible) Error() string { return words.OneLine(v.error.Error()) }

func (v visible) Unwrap() error { return v.error }

// escaped escapes in JSON what a terminal would obey, or nobody would see: controls that JSON allows,
// direction marks, tags. It says the same.
func escaped(json []byte) []byte {
	var dst []byte
	for len(json) > 0 {
		r, size := utf8.DecodeRune(json)
		switch {
		case r == '\n' || unicode.IsGraphic(r) || r == '\u200c' || r == '\u200d':
			dst = append(dst, json[:size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			dst = fmt.Appendf(dst, `\u%04x\u%04x`, high, low)
		default:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
		json = json[size:]
	}
	return dst
}
