package schema

import (
	"encoding/base64"
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
	h := make(map[string][]string, 12)
	set := func(name, value string) {
		if value != "" {
			h[name] = []string{value}
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
	get := func(name string) string {
		if v := h[name]; len(v) > 0 {
			return v[0]
		}
		return ""
	}
	f := Frame{
		From: From(get(HeaderFrom)), Type: FrameType(get(HeaderType)), End: End(get(HeaderEnd)),
		Exchange: get(HeaderExchange), Chan: Chan(get(HeaderChan)),
		Salt: get(HeaderSalt), Blob: get(HeaderBlob), Chain: get(HeaderChain), Data: data,
	}
	var err error
	if f.Seq, err = parseNumber(get(HeaderSeq), 64); err != nil {
		return Frame{}, headerError(HeaderSeq, get(HeaderSeq), err)
	}
	if f.At, err = time.Parse(time.RFC3339Nano, get(HeaderAt)); err != nil {
		return Frame{}, headerError(HeaderAt, get(HeaderAt), err)
	}
	if no := get(HeaderNo); no != "" {
		if f.No, err = parseNumber(no, 64); err != nil {
			return Frame{}, headerError(HeaderNo, no, err)
		}
	}
	if w := get(HeaderWriter); w != "" {
		if f.Writer, err = ParseWriter(w); err != nil {
			return Frame{}, headerError(HeaderWriter, w, err)
		}
	}
	if v := get(HeaderHTTP); v != "" {
		if f.HTTP, err = base64.StdEncoding.DecodeString(v); err != nil {
			return Frame{}, headerError(HeaderHTTP, v, err)
		}
	}
	if err := f.Validate(); err != nil {
		return Frame{}, err
	}
	return f, nil
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

// Validate reports the first field that is outside its closed set.
func (f *Frame) Validate() error {
	switch f.From {
	case FromClient, FromAgent, FromStderr, FromControl:
	default:
		return fmt.Errorf("check frame %d: from %q: want client, agent, stderr or control", f.Seq, f.From)
	}
	switch f.Type {
	case TypeData, TypeOpen, TypeClose, TypeGap, TypeHTTP:
	default:
		return fmt.Errorf("check frame %d: type %q: want data, open, close, gap or http", f.Seq, f.Type)
	}
	if (f.From == FromControl) != (f.Type != TypeData) {
		return fmt.Errorf("check frame %d: type %q from %q: data frames come from a peer, the others from control", f.Seq, f.Type, f.From)
	}
	switch f.End {
	case EndLF, EndNone:
	default:
		return fmt.Errorf("check frame %d: end %q: want lf or none", f.Seq, f.End)
	}
	if len(f.Exchange) > MaxExchange || strings.ContainsFunc(f.Exchange, notVisible) {
		return fmt.Errorf("check frame %d: exchange %q: want at most %d characters of visible ASCII", f.Seq, f.Exchange, MaxExchange)
	}
	switch f.Chan {
	case "", ChanRequest, ChanResponse, ChanStream, ChanPush, ChanCard:
	default:
		return fmt.Errorf("check frame %d: chan %q: want request, response, stream, push or card", f.Seq, f.Chan)
	}
	return nil
}

// notVisible reports whether a header could not carry the character unchanged.
func notVisible(r rune) bool { return r <= ' ' || r > '~' }

func headerError(name, value string, err error) error {
	return fmt.Errorf("read header %s %q: %w", name, value, err)
}
