package schema

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Headers of a frame on STENO_RAW. All but Steno-Http together take at most MaxHeader bytes.
const (
	HeaderSeq      = "Steno-Seq"
	HeaderAt       = "Steno-At"
	HeaderFrom     = "Steno-From"
	HeaderType     = "Steno-Type"
	HeaderEnd      = "Steno-End"
	HeaderExchange = "Steno-Exchange"
	HeaderNo       = "Steno-No"
	HeaderChan     = "Steno-Chan"
	HeaderSalt     = "Steno-Salt"
	HeaderBlob     = "Steno-Blob"
	HeaderWriter   = "Steno-Writer"
	HeaderChain    = "Steno-Chain"
	HeaderHTTP     = "Steno-Http"
)

// Headers of a record on STENO_EVENTS, beside Steno-Chain and Steno-Blob.
const (
	HeaderOrigin     = "Steno-Origin"
	HeaderOrdinals   = "Steno-Ordinals"
	HeaderTranslator = "Steno-Translator"
	HeaderOpen       = "Steno-Open"
	HeaderAbout      = "Steno-About"
)

// Bounds, in bytes. What is above MaxInline goes to the blob bucket.
const (
	MaxHeader   = 4 << 10
	MaxHTTP     = 16 << 10
	MaxInline   = 512 << 10
	MaxExchange = 128
)

// Header writes the frame's headers. Empty fields have none.
func (f *Frame) Header() map[string][]string {
	h := make(map[string][]string, 13)
	values := make([]string, 0, 13) // of all headers, one each
	set := func(name, value string) {
		if value != "" {
			values = append(values, value)
			n := len(values)
			h[name] = values[n-1 : n : n]
		}
	}
	set(HeaderSeq, strconv.FormatUint(f.Seq, 10))
	set(HeaderAt, f.At.UTC().Format(time.RFC3339Nano))
	set(HeaderFrom, string(f.From))
	set(HeaderType, string(f.Type))
	set(HeaderEnd, string(f.End))
	set(HeaderExchange, f.Exchange)
	if f.No > 0 {
		set(HeaderNo, strconv.FormatUint(f.No, 10))
	}
	set(HeaderChan, string(f.Chan))
	set(HeaderSalt, f.Salt)
	set(HeaderBlob, f.Blob)
	if f.Writer.Journal != "" {
		set(HeaderWriter, f.Writer.String())
	}
	set(HeaderChain, f.Chain)
	if len(f.HTTP) > 0 {
		set(HeaderHTTP, base64.StdEncoding.EncodeToString(f.HTTP))
	}
	return h
}

// FrameFromHeader reads a stored frame. With a Blob header the data is not in the payload; the
// caller resolves it.
func FrameFromHeader(h map[string][]string, data []byte) (Frame, error) {
	get, err := headerReader(h, HeaderSeq, HeaderAt, HeaderFrom, HeaderType, HeaderEnd, HeaderExchange, HeaderNo,
		HeaderChan, HeaderSalt, HeaderBlob, HeaderWriter, HeaderChain, HeaderHTTP)
	if err != nil {
		return Frame{}, err
	}
	f := Frame{
		From: From(get(HeaderFrom)), Type: FrameType(get(HeaderType)), End: End(get(HeaderEnd)),
		Exchange: get(HeaderExchange), Chan: Chan(get(HeaderChan)),
		Salt: get(HeaderSalt), Blob: get(HeaderBlob), Chain: get(HeaderChain), Data: data,
	}
	if f.Seq, err = parseNumber(get(HeaderSeq), 64); err != nil {
		return Frame{}, headerError(HeaderSeq, get(HeaderSeq), err)
	}
	if f.At, err = parseAt(get(HeaderAt)); err != nil {
		return Frame{}, headerError(HeaderAt, get(HeaderAt), err)
	}
	if no := get(HeaderNo); no != "" {
		if f.No, err = parseNumber(no, 64); err == nil && f.No == 0 {
			err = errors.New("0 has no header")
		}
		if err != nil {
			return Frame{}, headerError(HeaderNo, no, err)
		}
	}
	if w := get(HeaderWriter); w != "" {
		if f.Writer, err = ParseWriter(w); err != nil {
			return Frame{}, headerError(HeaderWriter, w, err)
		}
	}
	if v := get(HeaderHTTP); v != "" {
		if f.HTTP, err = base64.StdEncoding.Strict().DecodeString(v); err != nil {
			return Frame{}, headerError(HeaderHTTP, v, err)
		}
	}
	if err := f.Validate(); err != nil {
		return Frame{}, err
	}
	return f, nil
}

// headerReader gives a header's value, empty if it is absent. None of the names may have two: a chain
// covers one.
func headerReader(h map[string][]string, names ...string) (func(name string) string, error) {
	for _, name := range names {
		if n := len(h[name]); n > 1 {
			return nil, fmt.Errorf("read header %s: want one value, got %d", name, n)
		}
	}
	return func(name string) string {
		if v := h[name]; len(v) > 0 {
			return v[0]
		}
		return ""
	}, nil
}

// parseAt reads a time in the one spelling that Header gives it.
func parseAt(s string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, err
	}
	var spelling [len(time.RFC3339Nano)]byte
	if at = at.UTC(); string(at.AppendFormat(spelling[:0], time.RFC3339Nano)) != s {
		return time.Time{}, errors.New("the time is not UTC in its shortest form")
	}
	return at, nil
}

// ParseWriter reads journal:offset.
func ParseWriter(s string) (Writer, error) {
	journal, offset, ok := strings.Cut(s, ":")
	if !ok || !IsToken(journal) {
		return Writer{}, fmt.Errorf("parse writer %q: want journal:offset", s)
	}
	n, err := parseNumber(offset, 64)
	if err != nil {
		return Writer{}, fmt.Errorf("parse writer %q: offset: %w", s, err)
	}
	return Writer{Journal: journal, Offset: n}, nil
}

func headerError(name, value string, err error) error {
	return fmt.Errorf("read header %s %q: %w", name, value, err)
}
