package translate

import (
	"bytes"
	"encoding/base64"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/steno-io/steno/schema"
)

// Verbatim is a JSON text as sent, without insignificant white space; what is not valid UTF-8 goes in
// as base64, since an event is a JSON text.
func Verbatim(raw []byte) schema.JSON {
	return Compacted(schema.AppendCompact(make([]byte, 0, len(raw)), raw))
}

// Compacted is Verbatim of a text without insignificant white space, which it takes over.
func Compacted(compact []byte) schema.JSON {
	if utf8.Valid(compact) {
		return compact
	}
	return Base64(compact)
}

// Whole is a JSON text for the kinds that keep their values whole: as sent, with U+FFFD for invalid
// bytes, which can stand only inside its strings. Nil for nothing and for null.
func Whole(raw []byte) schema.JSON {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	compact := schema.AppendCompact(nil, raw)
	if utf8.Valid(compact) {
		return compact
	}
	valid := make([]byte, 0, len(compact)+8)
	for len(compact) > 0 {
		r, size := utf8.DecodeRune(compact)
		valid = utf8.AppendRune(valid, r)
		compact = compact[size:]
	}
	return valid
}

// Base64 is the value of a payload that is not JSON: {"base64":"…"}, standard alphabet, padded.
func Base64(data []byte) schema.JSON {
	dst := append([]byte(nil), `{"base64":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, data)
	return append(dst, `"}`...)
}

// Bounded is a value of f, or the reference to f where the value is larger than MaxInlineValue.
func Bounded(f *schema.Frame, value schema.JSON) schema.JSON {
	if len(value) > MaxInlineValue {
		return Reference(f)
	}
	return value
}

// OutputText is a tool's output as its state shows it: a string's text, else the JSON text, nil where
// there is none.
func OutputText(output schema.JSON) *string {
	if output == nil {
		return nil
	}
	text := string(output)
	if output[0] == '"' {
		unquoted, _ := jsontext.AppendUnquote(nil, output) // for what is no text U+FFFD stands already
		text = string(unquoted)
	}
	return &text
}

// Elapsed is the time between two frames in milliseconds; 0 where their clock went back.
func Elapsed(from, to time.Time) *uint64 {
	ms := uint64(max(0, to.Sub(from).Milliseconds()))
	return &ms
}

// Blank tells whether data is JSON's white space only, or nothing.
func Blank(data []byte) bool { return len(bytes.TrimLeft(data, " \t\r\n")) == 0 }

// CutAbout shortens a title, name or path to schema.MaxAbout bytes, between characters.
func CutAbout(text string) string {
	if len(text) <= schema.MaxAbout {
		return text
	}
	text = text[:schema.MaxAbout]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text
}
